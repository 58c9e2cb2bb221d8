"""Forwarding tables between the study's pairs in windows of 200 s: the published one and random ones of a day.

The tables of a window take 2 s to compute, so they are stored in ``tables.csv``. This command writes it::

    python -m optcp_papers.leo.windows > papers/optcp_papers/leo/tables.csv
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from optcp.constellation import Series, Station, forwarding, shell, station
from optcp.constellation.forwarding import State

SHELL = shell("kuiper-630")
PAIRS = {
    "rio": ("Rio de Janeiro", "St. Petersburg"),
    "manila": ("Manila", "Dalian"),
    "istanbul": ("Istanbul", "Nairobi"),
    "paris": ("Paris", "Moscow"),
}
"""Pairs of Hypatia's experiment, by name in the results."""
STEP_S, STEPS = 0.1, 2000
LENGTH_S = STEP_S * STEPS
DAY_S = 86_400
PUBLISHED_S = 0
"""Start of Hypatia's window, in s from 2000-01-01 00:00 UT."""
DRAWN = 20
WINDOWS_S = tuple(int(at) for at in np.random.default_rng(1).integers(0, DAY_S, DRAWN))
"""Start times of the other windows: drawn once, uniformly from the first day, in drawing order."""


@dataclass(frozen=True)
class Window:
    """Part of a window: forwarding of packets between two stations, by step.

    Attributes
    ----------
    pair
        One of :data:`PAIRS`.
    at_s
        Start of the window.
    first, last
        First step of the part, and the step after its end.
    kept
        Step whose tables stay in force from then on, as if their satellites stayed in reach.
    """

    pair: str
    at_s: int
    first: int = 0
    last: int = STEPS
    kept: int = STEPS

    @property
    def stations(self) -> tuple[Station, Station]:
        """Stations of the sender and of the receiver."""
        start, end = PAIRS[self.pair]
        return station(start), station(end)

    @property
    def begin_s(self) -> float:
        """Start of the part."""
        return self._instant(self.first)

    @property
    def end_s(self) -> float:
        """End of the part."""
        return self._instant(self.last)

    def part(self, first_s: float, last_s: float) -> Window:
        """Return the part of the window between two times."""
        first, last = (round((at - self.at_s) / STEP_S) for at in (first_s, last_s))
        return replace(self, first=first, last=last)

    def states(self) -> Iterator[State]:
        """Yield the tables of each step in the form of :mod:`optcp.constellation.forwarding`."""
        stored = _stored(self.pair, self.at_s)
        for step in range(self.first, self.last):
            yield self._instant(step), stored[min(step, self.kept)]

    def _instant(self, step: int) -> float:
        return round(self.at_s + STEP_S * step, 9)

    @functools.cached_property
    def series(self) -> Series:
        """Return the path of each step."""
        seconds, paths = [], []
        for at, nexts in self.states():
            seconds.append(at)
            paths.append(_path(nexts))
        return Series(SHELL, *self.stations, np.array(seconds), STEP_S, paths)


@functools.cache
def window(pair: str, at_s: int) -> Window:
    """Return the whole window of a pair that starts at ``at_s``."""
    return Window(pair, at_s)


def _path(nexts: NDArray[np.integer]) -> tuple[int, ...]:
    """Return the satellites from the first station to the second; empty without a route."""
    path = [SHELL.size]
    while path[-1] != SHELL.size + 1:
        path.append(int(nexts[1][path[-1]]))
        if path[-1] == forwarding.NOWHERE:
            return ()
    return tuple(path[1:-1])


@functools.cache
def _stored(pair: str, at_s: int) -> list[NDArray[np.int64]]:
    """Return the next hops of every step, without nodes that no packet reaches."""
    result: list[NDArray[np.int64]] = []
    now = np.full((2, SHELL.size + 2), forwarding.NOWHERE)
    for step, node, to, following in _rows()[pair, at_s]:
        result += [now] * (step - len(result))
        if len(result) == step:
            now = now.copy()
        now[to - SHELL.size, node] = following
    return result + [now] * (STEPS - len(result))


@functools.cache
def _rows() -> dict[tuple[str, int], list[tuple[int, ...]]]:
    """Return step, node, destination and next hop of each entry, by pair and window."""
    text = (resources.files("optcp_papers.leo") / "tables.csv").read_text(encoding="utf-8")
    result: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    for line in text.splitlines()[1:]:
        pair, at, *numbers = line.split(",")
        result.setdefault((pair, int(at)), []).append(tuple(int(number) for number in numbers))
    return result


def rows(pair: str, at_s: int) -> list[str]:
    """Compute the stored entries of a window."""
    stations = [station(name) for name in PAIRS[pair]]
    seconds = np.round(at_s + STEP_S * np.arange(STEPS), 9)
    result = forwarding.tables(forwarding.states(SHELL, stations, seconds), [(0, 1)], SHELL.size)
    return [
        f"{pair},{at_s},{round((entry.at_s - at_s) / STEP_S)},{entry.node},{entry.to},{entry.next}"
        for entry in result.entries
    ]


def main() -> None:
    """Write all stored entries."""
    lines = ["pair,window (s),step (100 ms),node,to,next"]
    for pair in PAIRS:
        for at_s in (PUBLISHED_S, *WINDOWS_S):
            lines += rows(pair, at_s)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
