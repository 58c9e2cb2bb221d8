"""Commands ``map``, ``animate`` and ``playground``."""

from __future__ import annotations

import contextlib
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli.options import CELL, FILE, SCENARIO, SET, Whole, pairs
from optcp.cli.options import settings as axes_of
from optcp.errors import InputError
from optcp.scenarios.shipped import find

if TYPE_CHECKING:
    from optcp.scenarios.scenario import Scenario


@click.command(name="map")
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--out", type=FILE, help="SVG file to write. [default: SCENARIO.svg]")
def draw_map(scenario: Path, settings: tuple[str, ...], out: Path | None) -> None:
    """Draw the network of a scenario as SVG: load, failures, paths and backup paths."""
    from optcp import _core
    from optcp.common.files import write_text
    from optcp.plots import network

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    picture = network.of_core(world, str(scenario), alone=True)
    if not picture:
        raise InputError(f"{scenario}: cannot draw this network; a map has 1 to {network.MAX_NODES} nodes")
    target = out or Path(f"{scenario.stem}.svg")
    write_text(target, picture + "\n")
    click.echo(f"{target}")


@click.command()
@click.argument("target", metavar="SCENARIO|DIR", shell_complete=SCENARIO.shell_complete)
@SET
@CELL
@click.option("--seed", type=Whole(min=0), help="Seed of the run. [default: 1, or the only one of the study]")
@click.option(
    "--from", "start", metavar="TIME", help="Start of the part with single packets, such as 4.9, 4.9s or 4900ms."
)
@click.option(
    "--to", "end", metavar="TIME", help="End of this part. [default: around the first failure, as many packets as fit]"
)
@click.option("--out", type=FILE, help="HTML file to write. [default: SCENARIO.html]")
def animate(
    target: str,
    settings: tuple[str, ...],
    cells: tuple[str, ...],
    seed: int | None,
    start: str | None,
    end: str | None,
    out: Path | None,
) -> None:
    """Write an HTML animation of one run: packets, queues, failures and switchovers.

    SCENARIO is a file or a shipped scenario, run with the parameter values of the file. DIR is a study, of which
    --cell and --seed select a run to repeat. Scenarios of `optcp constellation` are drawn on a globe.
    """
    from optcp import _core
    from optcp.common.files import write_text
    from optcp.constellation.beside import beside
    from optcp.plots.trace.request import seconds
    from optcp.scenarios.scenario import Scenario
    from optcp.scenarios.topologies import places, use_files
    from optcp.web.animation import animate as page

    files: dict[str, bytes] | None = None
    if Path(target).is_dir():
        if settings:
            raise InputError("--set: the runs of a study are fixed; name a scenario to change a value")
        world, seed, name, files = _stored(Path(target), cells, seed)
        source, folder = str(Path(target) / "scenario.toml"), Path(target)
    else:
        if cells:
            raise InputError("--cell selects runs of a study; use --set with a scenario")
        path = find(target)
        world = Scenario(_core.Scenario.load(str(path), list(pairs(settings).items())))
        name, source, folder = path.stem, str(path), path.parent
        seed = 1 if seed is None else seed
    window = seconds(start, "--from"), seconds(end, "--to")
    given = [("--set", one) for one in settings] + [("--cell", one) for one in cells]
    given += [("--seed", str(seed))] + [
        (option, text) for option, text in (("--from", start), ("--to", end)) if text is not None
    ]
    command = shlex.join(["optcp", "animate", target, *(part for pair in given for part in pair)])
    with contextlib.nullcontext() if files is None else use_files(files):
        known = places(dict(world.core.settings()), source)
    made = page(world, seed, start_s=window[0], end_s=window[1], known=known, beside=beside(folder), command=command)
    where = out or Path(f"{name}.html")
    write_text(where, made)
    click.echo(f"{where}")


@click.command()
@click.argument("scenarios", nargs=-1, type=SCENARIO, metavar="[SCENARIO]...")
@SET
@click.option("--out", type=FILE, default=Path("playground.html"), show_default=True, help="HTML file to write.")
def playground(scenarios: tuple[Path, ...], settings: tuple[str, ...], out: Path) -> None:
    """Write an HTML page that runs the simulator in the browser.

    The reader can cut links and edit the scenario. SCENARIO is a file or a shipped scenario; the page offers all that
    you name, or a default selection. The page contains the files that the scenarios name and works offline.
    """
    from optcp import _core
    from optcp.common.files import write_text
    from optcp.web.playground import page, read, starts
    from optcp.web.playground.world import MOST_HOPS, packet_hops

    if settings and not scenarios:
        raise click.UsageError("--set needs a SCENARIO")
    given = pairs(settings)
    worlds = [read(scenario, given) for scenario in scenarios] or starts()
    write_text(out, page(worlds))
    for scenario in scenarios:
        hops = packet_hops(_core.Scenario.load(str(scenario), list(given.items())))
        if MOST_HOPS < hops < math.inf:
            click.echo(
                f"{scenario.name}: a run has up to {hops / 1e6:,.0f} million packet-hops; a browser simulates about "
                f"{MOST_HOPS / 1e6:g} million per second",
                err=True,
            )
    click.echo(f"{out}")


def _stored(directory: Path, cells: tuple[str, ...], seed: int | None) -> tuple[Scenario, int, str, dict[str, bytes]]:
    """Return the scenario, seed and name of a run of a study, and the files that it may read."""
    from optcp.scenarios.scenario import Scenario
    from optcp.scenarios.topologies import use_files
    from optcp.study import StudyResult, choose

    done = StudyResult.open(directory)
    run = choose.one(done, axes_of("--cell", cells), seed)
    toml = done.store.cell(run.cell_id).get("toml")
    if toml is None:
        raise InputError(f"{directory}: this older study does not contain its scenario; name the scenario instead")
    # A study from elsewhere must not read other files of this machine.
    files = done.store.beside()
    with use_files(files):
        return Scenario.parse(toml, str(directory / "scenario.toml")), run.seed, run.id, files


COMMANDS = (draw_map, animate, playground)
