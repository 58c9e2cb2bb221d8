"""The verb that makes worlds of satellites."""

from __future__ import annotations

import math
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli import completion
from optcp.cli.options import DIRECTORY, FILE, Whole, console, pairs
from optcp.common.plurals import count_noun
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.constellation import Paths, Shell, Stretch, Tles, World


@click.command()
@click.argument("name", metavar="SHELL|FILE|DIR", shell_complete=completion.among(completion.shells))
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
@click.option("--pairs", "count", type=Whole(), metavar="N", help="N flows: each of N cities sends to one of them.")
@click.option("--seed", type=Whole(0), metavar="N", help="Draws who sends to whom. [default: 1]")
@click.option("--out", type=DIRECTORY, help="Write a scenario, the files that it reads and the round trips there.")
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
    count: int | None,
    seed: int | None,
    out: Path | None,
    force: bool,
) -> None:
    """Say how a path over moving satellites changes, and make a scenario of it.

    SHELL is kuiper-630, starlink-550, telesat-1015 or iridium; --set changes its planes, satellites (in a plane),
    inclination_deg, altitude_km or revs_a_day, spread_deg, phasing, seam, elevation_deg or gsl_km. With --out a
    scenario is written, and `optcp run DIR/world.toml` runs a TCP flow over it, or with --pairs N of them. FILE holds
    satellites as two-line elements (TLEs), of which --set changes elevation_deg or gsl_km. A file
    networkx_rtt_A_to_B.txt of Hypatia says itself what the path was, and networkx_path_A_to_B.txt beside it. DIR is a
    network of Hypatia with its forwarding states, dynamic_state_*: a path follows next hops, and a PLACE may also be
    the name or number of a ground station.
    """
    from optcp.common.files import check_directory
    from optcp.constellation import network
    from optcp.constellation.stations import permutation

    if out is not None:
        check_directory(out)
    asked = _Asked(Path(name), start, end, (length, step, at), isls, settings)
    if count is None and seed is None:
        found, make = asked.one(rate)
        _one(found, None if out is None else (out, make()), force)
        return
    if count is None or start is not None or end is not None or out is None or not asked.free:
        raise click.UsageError("--pairs N goes with a shell or TLEs, and with --out; --seed goes with --pairs")
    chosen = asked.satellites()
    made = network(chosen, permutation(count, 1 if seed is None else seed), *asked.times(), rate, _tracked)
    files = _files(out, made, force)
    console().print(f"{chosen.name}: {chosen.summary}", soft_wrap=True)
    console().print(
        f"{count_noun(count, 'flow')}, each from one of {count_noun(count, 'city', 'cities')} to another",
        soft_wrap=True,
    )
    _write(files, out)


@dataclass(frozen=True)
class _Asked:
    """Whose satellites, between which places, and when."""

    file: Path
    start: str | None
    end: str | None
    when: tuple[str | None, str | None, str | None]
    isls: Path | None
    settings: tuple[str, ...]

    @property
    def free(self) -> bool:
        """Whether it is a shell or a file of TLEs, between whose satellites any places have paths."""
        return not self.file.name.startswith("networkx_") and not self.file.is_dir()

    def one(self, rate: float) -> tuple[Paths, Callable[[], World]]:
        """The paths between both places, and what makes a scenario of them."""
        from optcp.constellation import hypatia_network, network_of, network_of_states, recorded, series, station, world

        given = [one for one in (*self.when, self.isls, *self.settings) if one is not None]
        if self.file.name.startswith("networkx_"):
            if given := [one for one in (self.start, self.end, *given) if one is not None]:
                said = "the file says all of places and times; --rate and --out go with one"
                raise click.UsageError(f"{given[0]}: {said}")
            read = recorded(self.file)
            return read, lambda: world(read, rate)
        start, end = self.start, self.end
        if start is None or end is None:
            raise click.UsageError("--from and --to are needed: two places; or --pairs N")
        if self.file.is_dir():
            if given:
                raise click.UsageError(f"{given[0]}: the directory says all of satellites and times")
            of_hypatia = hypatia_network(self.file)
            return of_hypatia.series(start, end), lambda: network_of_states(of_hypatia, start, end, rate)
        found = series(self.satellites(), station(start), station(end), *self.times())
        return found, lambda: network_of(found, rate)

    def satellites(self) -> Shell | Tles:
        """A shell by its name, or those of a file."""
        from optcp.constellation import shell, tles

        if "." in self.file.name or self.file.exists():
            return tles(self.file, self.isls).changed(pairs(self.settings))
        if self.isls is not None:
            raise click.UsageError("--isls goes with a file of TLEs; a shell has links of its own")
        return shell(str(self.file)).changed(pairs(self.settings))

    def times(self) -> tuple[float, float, float]:
        """For how long, how often paths are found anew, and from when on, in s."""
        from optcp.plots.trace.request import seconds

        options = zip(("--length", "--step", "--at"), self.when, ("200s", "100ms", "0s"), strict=True)
        length_s, step_s, first_s = (seconds(text or default, option) or 0.0 for option, text, default in options)
        return length_s, step_s, first_s


def _tracked(seconds: NDArray[np.float64]) -> Iterable[float]:
    """The instants, with a bar of how far they are on a terminal."""
    from rich.console import Console
    from rich.progress import track

    return track(seconds, "finding paths", console=Console(stderr=True), disable=not sys.stderr.isatty())


def _one(found: Paths, made: tuple[Path, World] | None, force: bool) -> None:
    """Show how one path changes, and write what was made of it."""
    from optcp.constellation import Series, beside
    from optcp.constellation.recorded import written

    files = {}
    if made is not None:
        out, world = made
        files = _files(out, world, force, {beside.ROUND_TRIPS: written(found)})
    if isinstance(found, Series):
        console().print(f"{found.shell.name}: {found.shell.summary}", soft_wrap=True)
    _show(found)
    if made is not None:
        _write(files, made[0], lambda: _draw(found, made[0] / "rtt.svg"))


def _files(out: Path, made: World, force: bool, more: Mapping[str, str] | None = None) -> dict[Path, str]:
    """What is written, which overwrites nothing else without ``force``."""
    files = {out / name: text for name, text in {**made.files, **(more or {}), "world.toml": made.toml}.items()}
    for file, text in files.items():
        if file.exists() and not force and not _same(file, text):
            raise InputError(f"{file}: there is another file already; --force overwrites it")
    return files


def _write(files: Mapping[Path, str], out: Path, draw: Callable[[], list[Path]] = list) -> None:
    from optcp.common.files import write_text

    for file, text in files.items():
        write_text(file, text)
    click.echo("\n" + "\n".join(map(str, [*files, *draw()])))
    click.echo(f"Next:\n  optcp run {shlex.quote(str(out / 'world.toml'))}")


def _same(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode()


def _show(found: Paths) -> None:
    import numpy as np
    from rich.table import Table

    from optcp.common.terminal import show_table

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
    from optcp.common.files import replacing
    from optcp.data.labelled import missing

    if bare := missing("matplotlib"):
        click.echo(f"no figure is drawn: {bare}", err=True)
        return []
    from optcp.plots import constellation as plot

    with replacing(file) as opened:
        plot.draw(found, opened)
    return [file]


VERBS = (constellation,)
