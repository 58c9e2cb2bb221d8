"""The verb that makes worlds of satellites."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp import completion
from optcp.errors import InputError
from optcp.options import DIRECTORY, FILE, console, pairs

if TYPE_CHECKING:
    from optcp.constellation import Paths, Shell, Stretch, Tles


@click.command()
@click.argument("name", metavar="SHELL|FILE", shell_complete=completion.among(completion.shells))
@click.option(
    "--from",
    "start",
    metavar="PLACE",
    shell_complete=completion.among(completion.cities),
    help="The sender: a city, or latitude,longitude.",
)
@click.option(
    "--to",
    "end",
    metavar="PLACE",
    shell_complete=completion.among(completion.cities),
    help="The receiver.",
)
@click.option("--length", metavar="T", help="For how long. [default: 200s]")
@click.option("--step", metavar="T", help="How often the path is found anew. [default: 100ms]")
@click.option("--at", metavar="T", help="When it begins, from 2000-01-01 00:00 UT, or the first TLE on. [default: 0s]")
@click.option("--isls", type=FILE, metavar="FILE", help="Links between satellites of TLEs: two numbers a line, from 0.")
@click.option("settings", "--set", multiple=True, metavar="NAME=VALUE", help="Change the shell; may be repeated.")
@click.option("--rate", type=float, default=10.0, show_default=True, metavar="MBPS", help="Of every link, in Mb/s.")
@click.option("--out", type=DIRECTORY, help="Write a scenario, its trace and the round trips there.")
@click.option("--force", is_flag=True, help="Overwrite a scenario that is there and was changed.")
def constellation(
    name: str,
    start: str | None,
    end: str | None,
    length: str | None,
    step: str | None,
    at: str | None,
    isls: Path | None,
    settings: tuple[str, ...],
    rate: float,
    out: Path | None,
    force: bool,
) -> None:
    """Say how a path over moving satellites changes, and make a scenario of it.

    SHELL is kuiper-630, starlink-550, telesat-1015 or iridium; --set changes its planes, satellites (in a plane),
    inclination_deg, altitude_km or revs_a_day, spread_deg, phasing, seam, elevation_deg or gsl_km. With --out a
    scenario is written, and `optcp run DIR/world.toml` runs a TCP flow over the path. FILE holds satellites as two-line
    elements (TLEs), of which --set changes elevation_deg or gsl_km. A file networkx_rtt_A_to_B.txt of Hypatia says
    itself what the path was, and networkx_path_A_to_B.txt beside it.
    """
    from optcp.constellation import Series, recorded, series, station, world
    from optcp.files import check_directory, write_text
    from optcp.plots.trace.request import seconds

    if out is not None:
        check_directory(out)
    found: Paths
    if Path(name).name.startswith("networkx_"):
        if given := [one for one in (start, end, length, step, at, isls, *settings) if one is not None]:
            raise click.UsageError(f"{given[0]}: the file says all of places and times; --rate and --out go with one")
        found = recorded(Path(name))
    else:
        if start is None or end is None:
            raise click.UsageError("--from and --to are needed: two places")
        times = [("--length", length or "200s"), ("--step", step or "100ms"), ("--at", at or "0s")]
        length_s, step_s, first_s = (seconds(text, option) or 0.0 for option, text in times)
        chosen = _satellites(name, isls).changed(pairs(settings))
        found = series(chosen, station(start), station(end), length_s, step_s, first_s)
    files = {}
    if out is not None:
        made = world(found, rate)
        files = {out / name: text for name, text in made.files.items()}
        files |= {out / "rtt.csv": _round_trips(found), out / "world.toml": made.toml}
        for file, text in files.items():
            if file.exists() and not force and not _same(file, text):
                raise InputError(f"{file}: there is another file already; --force overwrites it")
    if isinstance(found, Series):
        console().print(f"{found.shell.name}: {found.shell.summary}", soft_wrap=True)
    _show(found)
    for file, text in files.items():
        write_text(file, text)
    if out is not None:
        drawn = _draw(found, out / "rtt.svg")
        click.echo("\n" + "\n".join(map(str, [*files, *drawn])))
        click.echo(f"Next:\n  optcp run {shlex.quote(str(out / 'world.toml'))}")


def _satellites(name: str, isls: Path | None) -> Shell | Tles:
    """A shell by its name, or those of a file."""
    from optcp.constellation import shell, tles

    file = Path(name)
    if "." in name or file.exists():
        return tles(file, isls)
    if isls is not None:
        raise click.UsageError("--isls goes with a file of TLEs; a shell has links of its own")
    return shell(name)


def _same(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()


def _round_trips(found: Paths) -> str:
    """A line a step."""
    lines = ["at (s),rtt (ms),satellites"]
    for at, rtt_ms, path in zip(found.seconds - found.seconds[0], found.rtt_ms, found.paths, strict=True):
        lines.append(f"{at:.9g},{'' if math.isnan(rtt_ms) else f'{rtt_ms:.6f}'},{'-'.join(map(str, path))}")
    return "\n".join([*lines, ""])


def _show(found: Paths) -> None:
    import numpy as np
    from rich.table import Table

    from optcp.tables import show_table

    screen = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head, side in (("from", "right"), ("change", "left"), ("rtt", "right"), ("before", "right")):
        table.add_column(head, justify="right" if side == "right" else "left", no_wrap=True)
    table.add_column("satellites", no_wrap=True)
    stretches = found.stretches()
    for one in stretches:
        table.add_row(*_row(one, float(found.seconds[0])))
    show_table(screen, table)
    rtt = found.rtt_ms[np.isfinite(found.rtt_ms)]
    without = sum(one.end_s - one.start_s for one in stretches if not one.satellites)
    if len(rtt):
        screen.print(f"rtt from {rtt.min():.3f} to {rtt.max():.3f} ms; {without:.9g} s without a path", soft_wrap=True)


def _row(one: Stretch, begin_s: float) -> tuple[str, ...]:
    rtt, before = ("" if math.isnan(ms) else f"{ms:.3f} ms" for ms in (one.rtt_ms, one.before_ms))
    return (f"{one.start_s - begin_s:.6g} s", one.change, rtt, before, " ".join(map(str, one.satellites)))


def _draw(found: Paths, file: Path) -> list[Path]:
    """Draw round trips over time, where there is what draws."""
    from optcp.files import replacing
    from optcp.labelled import missing

    if bare := missing("matplotlib"):
        click.echo(f"no figure is drawn: {bare}", err=True)
        return []
    from optcp.plots import constellation as plot

    with replacing(file) as opened:
        plot.draw(found, opened)
    return [file]


VERBS = (constellation,)
