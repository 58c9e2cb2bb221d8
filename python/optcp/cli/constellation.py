"""Command ``constellation``: paths and scenarios over moving satellites."""

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
    help="Sender: a city or latitude,longitude.",
)
@click.option(
    "--to",
    "end",
    metavar="PLACE",
    shell_complete=completion.among(completion.cities),
    help="Receiver.",
)
@click.option("--length", metavar="TIME", help="Duration. [default: 200s]")
@click.option("--step", metavar="TIME", help="Interval between path computations. [default: 100ms]")
@click.option(
    "--at", metavar="TIME", help="Start, counted from 2000-01-01 00:00 UT or from the first TLE. [default: 0s]"
)
@click.option("--isls", type=FILE, help="Inter-satellite links of TLEs: two zero-based numbers per line.")
@click.option(
    "settings", "--set", multiple=True, metavar="NAME=VALUE", help="Override a value of the shell. Repeatable."
)
@click.option(
    "--rate", type=float, default=10.0, show_default=True, metavar="MBPS", help="Rate of every link, in Mb/s."
)
@click.option("--pairs", "count", type=Whole(), help="Simulate N flows: each of N cities sends to another one.")
@click.option("--seed", type=Whole(0), help="Seed of the random pairs. [default: 1]")
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Write a scenario, its input files and the RTTs into DIR.")
@click.option("--force", is_flag=True, help="Overwrite an existing scenario.")
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
    """Describe a path over moving satellites and create a scenario of it.

    The first argument names the satellites:

    \b
      SHELL  kuiper-630, starlink-550, telesat-1015 or iridium. --set overrides
             planes, satellites (per plane), inclination_deg, altitude_km,
             revs_a_day, spread_deg, phasing, seam, elevation_deg or gsl_km.
      FILE   two-line elements (TLEs) or OMMs. --set overrides elevation_deg or gsl_km.
      FILE   networkx_rtt_A_to_B.txt of Hypatia, which contains the path, with
             networkx_path_A_to_B.txt next to it.
      DIR    network of Hypatia with forwarding states (dynamic_state_*). The
             path follows their next hops; a PLACE can be a ground station.

    With --out, `optcp run DIR/world.toml` runs one TCP flow over the path, or N flows with --pairs N.
    """  # noqa: D301 - click needs the control character
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
        raise click.UsageError("--pairs N needs a shell or TLEs, and --out; --seed needs --pairs")
    chosen = asked.satellites()
    made = network(chosen, permutation(count, 1 if seed is None else seed), *asked.times(), rate, _tracked)
    files = _files(out, made, force)
    console().print(f"{chosen.name}: {chosen.summary}", soft_wrap=True)
    console().print(
        f"{count_noun(count, 'flow')} between {count_noun(count, 'city', 'cities')}",
        soft_wrap=True,
    )
    _write(files, out)


@dataclass(frozen=True)
class _Asked:
    """Satellites, end points and times of the command line."""

    file: Path
    start: str | None
    end: str | None
    when: tuple[str | None, str | None, str | None]
    isls: Path | None
    settings: tuple[str, ...]

    @property
    def free(self) -> bool:
        """Whether the end points can be chosen freely, as for a shell or a file of TLEs."""
        return not self.file.name.startswith("networkx_") and not self.file.is_dir()

    def one(self, rate: float) -> tuple[Paths, Callable[[], World]]:
        """Return the paths between both places, and a function that creates their scenario."""
        from optcp.constellation import hypatia_network, network_of, network_of_states, recorded, series, station, world

        given = [one for one in (*self.when, self.isls, *self.settings) if one is not None]
        if self.file.name.startswith("networkx_"):
            if given := [one for one in (self.start, self.end, *given) if one is not None]:
                said = "the file determines places and times; only --rate and --out can be combined with it"
                raise click.UsageError(f"{given[0]}: {said}")
            read = recorded(self.file)
            return read, lambda: world(read, rate)
        start, end = self.start, self.end
        if start is None or end is None:
            raise click.UsageError("give --from and --to, or --pairs N")
        if self.file.is_dir():
            if given:
                raise click.UsageError(f"{given[0]}: the directory determines satellites and times")
            of_hypatia = hypatia_network(self.file)
            return of_hypatia.series(start, end), lambda: network_of_states(of_hypatia, start, end, rate)
        found = series(self.satellites(), station(start), station(end), *self.times())
        return found, lambda: network_of(found, rate)

    def satellites(self) -> Shell | Tles:
        """Return the named shell, or the satellites of a file."""
        from optcp.constellation import shell, tles

        if "." in self.file.name or self.file.exists():
            return tles(self.file, self.isls).changed(pairs(self.settings))
        if self.isls is not None:
            raise click.UsageError("--isls needs a file of TLEs; a shell has its own links")
        return shell(str(self.file)).changed(pairs(self.settings))

    def times(self) -> tuple[float, float, float]:
        """Return the duration, the step and the start, in s."""
        from optcp.plots.trace.request import seconds

        options = zip(("--length", "--step", "--at"), self.when, ("200s", "100ms", "0s"), strict=True)
        length_s, step_s, first_s = (seconds(text or default, option) or 0.0 for option, text, default in options)
        return length_s, step_s, first_s


def _tracked(seconds: NDArray[np.float64]) -> Iterable[float]:
    """Yield the times, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import track

    return track(seconds, "finding paths", console=Console(stderr=True), disable=not sys.stderr.isatty())


def _one(found: Paths, made: tuple[Path, World] | None, force: bool) -> None:
    """Print how one path changes, and write the scenario if there is one."""
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
    """Return the files to write; without ``force``, refuse to overwrite other content."""
    files = {out / name: text for name, text in {**made.files, **(more or {}), "world.toml": made.toml}.items()}
    for file, text in files.items():
        if file.exists() and not force and not _same(file, text):
            raise InputError(f"{file}: the file exists with other content; use --force to overwrite it")
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
        screen.print(f"RTT from {rtt.min():.3f} to {rtt.max():.3f} ms; {without:.9g} s without a path", soft_wrap=True)


def _row(one: Stretch, begin_s: float) -> tuple[str, ...]:
    rtt, before = ("" if math.isnan(ms) else f"{ms:.3f} ms" for ms in (one.rtt_ms, one.before_ms))
    return (f"{one.start_s - begin_s:.6g} s", one.change, rtt, before, " ".join(map(str, one.satellites)))


def _draw(found: Paths, file: Path) -> list[Path]:
    """Draw the RTT over time if matplotlib is installed."""
    from optcp.common.files import replacing
    from optcp.data.labelled import missing

    if bare := missing("matplotlib"):
        click.echo(f"no figure is drawn: {bare}", err=True)
        return []
    from optcp.plots import constellation as plot

    with replacing(file) as opened:
        plot.draw(found, opened)
    return [file]


COMMANDS = (constellation,)
