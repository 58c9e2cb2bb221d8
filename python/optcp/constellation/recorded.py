"""Series of paths out of files: those that Hypatia has computed, and ``rtt.csv`` beside a scenario.

# References

``networkx_rtt_A_to_B.txt`` has lines ``time,round trip``, both in ns and 0 for no path. ``networkx_path_A_to_B.txt``,
in the same directory, has a line ``time,A-184-183-B`` or ``time,Unreachable`` for each change. Both are as of
snkas/hypatia at 0ac531c, satgenpy/satgen/post_analysis.

# Limitations

Round trips hold from one line to the next; both directions take half of one.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.files import read_lines, read_rows
from optcp.constellation.series import Stretch
from optcp.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.constellation.series import Paths

NAME = re.compile(r"networkx_rtt_([0-9A-Za-z.-]+)_to_([0-9A-Za-z.-]+)\.txt")
HEADER = "at (s),rtt (ms),satellites"
ROW = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?),([0-9]{1,9}\.[0-9]{1,9}|),((?:[0-9]{1,9}-)*[0-9]{1,9}|)")
"""Head of ``rtt.csv``: time, RTT and satellites; the last two are empty in an outage."""
MOST_LINES = 200_001
MOST_NS = 10**15
"""Maximum time and RTT: 11 days."""


@dataclass(frozen=True)
class Recorded:
    """A series of paths out of files, with the attributes of :class:`optcp.constellation.Series`.

    Attributes
    ----------
    names
        Nodes at both ends.
    over
        Where the series is from.
    seconds
        When each round trip begins, shape (steps,).
    rtt_ms
        Round trips, shape (steps,); NaN in an outage.
    paths
        Satellites of each path; none in an outage.
    """

    names: tuple[str, str]
    over: str
    seconds: NDArray[np.float64]
    rtt_ms: NDArray[np.float64]
    paths: list[tuple[int, ...]]

    @property
    def end_s(self) -> float:
        """When the last step ends, which is as long as the one before it."""
        return round(float(self.seconds[-1] + np.diff(self.seconds[-2:]).sum()), 9)

    def delay_s(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Propagation delay from one end to the other at some times of the series, NaN in an outage."""
        return self.rtt_ms[np.searchsorted(self.seconds, seconds, side="right") - 1] / 2e3

    def stretches(self) -> list[Stretch]:
        """Times for which the path does not change, in order."""
        count = len(self.paths)
        begins = [at for at in range(count) if not at or self.paths[at] != self.paths[at - 1]]
        found: list[Stretch] = []
        for at, until in zip(begins, [*begins[1:], count], strict=True):
            end_s = float(self.seconds[until]) if until < count else self.end_s
            before = float(self.rtt_ms[at - 1]) if at else math.nan
            found.append(
                Stretch.of(float(self.seconds[at]), end_s, self.paths[at], float(self.rtt_ms[at]), before, bool(found))
            )
        return found


def recorded(file: Path) -> Recorded:
    """Read a series that Hypatia has computed.

    Parameters
    ----------
    file
        ``networkx_rtt_A_to_B.txt``, beside which ``networkx_path_A_to_B.txt`` lies.

    Raises
    ------
    InputError
        If a file is missing, or holds something else; the message names file and line.
    """
    name = NAME.fullmatch(file.name)
    if name is None:
        raise InputError(f"{file}: expected a shell, or a file networkx_rtt_A_to_B.txt of Hypatia")
    beside = file.with_name(f"networkx_path_{name[1]}_to_{name[2]}.txt")
    times, rtt_ns = [], []
    for number, at, text in _lines(file):
        try:
            rtt = float(text)
        except ValueError:
            rtt = math.nan
        if not 0 <= rtt <= MOST_NS:
            raise InputError(f"{file}, line {number}: expected a round trip in ns")
        times.append(at)
        rtt_ns.append(rtt)
    if len(times) < 2:
        raise InputError(f"{file}: expected two lines `time,round trip` or more")
    changes: list[tuple[int, tuple[int, ...]]] = []
    for number, at, text in _lines(beside):
        nodes = text.split("-")
        if text != "Unreachable" and not (len(nodes) >= 3 and all(re.fullmatch("[0-9]{1,9}", one) for one in nodes)):
            raise InputError(f"{beside}, line {number}: expected Unreachable, or nodes such as 1173-184-183-1241")
        changes.append((at, () if text == "Unreachable" else tuple(map(int, nodes[1:-1]))))
    places = np.searchsorted([at for at, _ in changes], times, side="right") - 1
    if not changes or places[0] < 0:
        raise InputError(f"{beside}: expected the path at the first time of {file.name}")
    paths = [changes[place][1] for place in places]
    for number, (path, rtt) in enumerate(zip(paths, rtt_ns, strict=True), 1):
        if bool(path) != bool(rtt):
            raise InputError(f"{file}: round trip {number} is {rtt:g} ns, and the path in {beside.name} says otherwise")
    rtt_ms = np.array([rtt / 1e6 if rtt else math.nan for rtt in rtt_ns])
    return Recorded((name[1], name[2]), "Hypatia's satellites", np.array(times) / 1e9, rtt_ms, paths)


def written(found: Paths) -> str:
    """Return the file ``rtt.csv`` of a series, a line a step; time zero is its beginning."""
    lines = [HEADER]
    for at, rtt_ms, path in zip(found.seconds - found.seconds[0], found.rtt_ms, found.paths, strict=True):
        lines.append(f"{at:.12g},{'' if math.isnan(rtt_ms) else f'{rtt_ms:.6f}'},{'-'.join(map(str, path))}")
    return "\n".join([*lines, ""])


def round_trips(file: Path, names: tuple[str, str] = ("", "")) -> Recorded:
    """Read a file ``rtt.csv``.

    Parameters
    ----------
    names
        Nodes at both ends, which are not in it.

    Raises
    ------
    InputError
        If it holds something else; the message names file and line.
    """
    rows = read_rows(file)
    number, heading = next(rows, (1, []))
    if ",".join(heading) != HEADER:
        raise InputError(f"{file}, line {number}: expected `{HEADER}`")
    seconds: list[float] = []
    rtt_ms: list[float] = []
    paths: list[tuple[int, ...]] = []
    for number, fields in rows:
        row = ROW.fullmatch(",".join(fields))
        at = float(row[1]) if row else math.nan
        if row is None or bool(row[2]) != bool(row[3]) or (seconds and at <= seconds[-1]):
            raise InputError(
                f"{file}, line {number}: expected `{HEADER}`, such as 0.1,29.484,184-183-217, times in order"
            )
        seconds.append(at)
        rtt_ms.append(float(row[2]) if row[2] else math.nan)
        paths.append(tuple(map(int, row[3].split("-"))) if row[3] else ())
    if not seconds:
        raise InputError(f"{file}: expected a row at least")
    return Recorded(names, "", np.array(seconds), np.array(rtt_ms), paths)


def _lines(file: Path) -> list[tuple[int, int, str]]:
    """Return number, time in ns and remaining text of each line."""
    found: list[tuple[int, int, str]] = []
    for number, line in enumerate(read_lines(file), 1):
        at, comma, said = line.partition(",")
        if not line.strip():
            continue
        if not comma or not re.fullmatch("[0-9]{1,15}", at):
            raise InputError(f"{file}, line {number}: expected a time in ns, a comma, and what holds from then on")
        if found and int(at) <= found[-1][1]:
            raise InputError(f"{file}, line {number}: expected a later time than that of the line before")
        found.append((number, int(at), said.strip()))
    return found
