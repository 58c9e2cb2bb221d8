"""The verbs that draw a world: its network, a run of it, and a page that makes runs itself."""

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
@click.option("--out", type=FILE, help="Where the picture goes. [default: <name of the scenario file>.svg]")
def draw_map(scenario: Path, settings: tuple[str, ...], out: Path | None) -> None:
    """Draw the network of a scenario as SVG: load, what fails, paths and backups."""
    from optcp import _core
    from optcp.common.files import write_text
    from optcp.plots import network

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    picture = network.of_core(world, str(scenario), alone=True)
    if not picture:
        raise InputError(f"{scenario}: a map has from 1 to {network.MOST_NODES} nodes")
    target = out or Path(f"{scenario.stem}.svg")
    write_text(target, picture + "\n")
    click.echo(f"{target}")


@click.command()
@click.argument("target", metavar="SCENARIO|DIRECTORY", shell_complete=SCENARIO.shell_complete)
@SET
@CELL
@click.option("--seed", type=Whole(min=0), metavar="N", help="Which run. [default: 1, or the only one]")
@click.option("--from", "start", metavar="T", help="Draw packets one by one from here on: 4.9, 4.9s, 4900ms.")
@click.option("--to", "end", metavar="T", help="And up to here. [default: around the first failure, as many as fit]")
@click.option("--out", type=FILE, help="Where the page goes. [default: <name>.html]")
def animate(
    target: str,
    settings: tuple[str, ...],
    cells: tuple[str, ...],
    seed: int | None,
    start: str | None,
    end: str | None,
    out: Path | None,
) -> None:
    """Show a run in one HTML file: packets, queues, failures and switches over time.

    SCENARIO is a file or a shipped name, which is run; of its sweep the values stand that are in the file. DIRECTORY
    is what `optcp run` made: --cell and --seed choose one of its runs, which is made again. A world of satellites that
    `optcp constellation` made is drawn on the globe.
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
            raise InputError("--set: a run of a study is as it was run; name a scenario to change a value")
        world, seed, name, files = _stored(Path(target), cells, seed)
        source, folder = str(Path(target) / "scenario.toml"), Path(target)
    else:
        if cells:
            raise InputError("--cell: a scenario has no cells; name the directory of a study, or use --set")
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
@click.option("--out", type=FILE, default=Path("playground.html"), show_default=True, help="Where the page goes.")
def playground(scenarios: tuple[Path, ...], settings: tuple[str, ...], out: Path) -> None:
    """Write one HTML file that simulates in the browser: click a link to cut it, and change the scenario.

    SCENARIO is a file or a shipped name; of several the reader chooses. Without any the page has worlds of its own.
    Networks and files that a scenario names go into the page, which needs no network.
    """
    from optcp import _core
    from optcp.common.files import write_text
    from optcp.web.playground import page, read, starts
    from optcp.web.playground.world import MOST_HOPS, packet_hops

    if settings and not scenarios:
        raise click.UsageError("--set changes a scenario; name one")
    given = pairs(settings)
    worlds = [read(scenario, given) for scenario in scenarios] or starts()
    write_text(out, page(worlds))
    for scenario in scenarios:
        hops = packet_hops(_core.Scenario.load(str(scenario), list(given.items())))
        if MOST_HOPS < hops < math.inf:
            click.echo(
                f"{scenario.name}: a run has up to {hops / 1e6:,.0f} million packet-hops; a browser takes a second for "
                f"{MOST_HOPS / 1e6:g} million",
                err=True,
            )
    click.echo(f"{out}")


def _stored(directory: Path, cells: tuple[str, ...], seed: int | None) -> tuple[Scenario, int, str, dict[str, bytes]]:
    """The world and the seed of a run of a study, what it is called, and the files that it may read."""
    from optcp.scenarios.scenario import Scenario
    from optcp.scenarios.topologies import use_files
    from optcp.study import StudyResult, choose

    done = StudyResult.open(directory)
    run = choose.one(done, axes_of("--cell", cells), seed)
    toml = done.store.cell(run.cell_id).get("toml")
    if toml is None:
        raise InputError(f"{directory}: the study is of before worlds were kept in it; name its scenario")
    # A study that was handed over reads what lies in its directory, and nothing else of this machine.
    files = done.store.beside()
    with use_files(files):
        return Scenario.parse(toml, str(directory / "scenario.toml")), run.seed, run.id, files


VERBS = (draw_map, animate, playground)
