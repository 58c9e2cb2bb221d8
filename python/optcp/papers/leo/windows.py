"""The paths of the study's pairs in windows of 200 s, the published one and some drawn from a day.

They are stored in ``paths.csv``, since it takes a second to find those of one window. Written by::

    python -m optcp.papers.leo.windows > python/optcp/papers/leo/paths.csv
"""

from __future__ import annotations

import functools
import sys
from dataclasses import replace
from importlib import resources

import numpy as np

from optcp.constellation import Series, series, shell, station

SHELL = "kuiper-630"
PAIRS = {
    "rio": ("Rio de Janeiro", "St. Petersburg"),
    "manila": ("Manila", "Dalian"),
    "istanbul": ("Istanbul", "Nairobi"),
    "paris": ("Paris", "Moscow"),
}
"""Those of Hypatia's experiment, by the name that the results have."""
LENGTH_S, STEP_S = 200.0, 0.1
DAY_S = 86_400
PUBLISHED_S = 0
"""When Hypatia's window begins, in s from 2000-01-01 00:00 UT."""
DRAWN = 20
WINDOWS_S = tuple(int(at) for at in np.random.default_rng(1).integers(0, DAY_S, DRAWN))
"""When the others begin: drawn once, evenly from the first day, in the order in which they were drawn."""


@functools.cache
def window(pair: str, at_s: int) -> Series:
    """The paths of a pair in the window that begins at an instant.

    Raises
    ------
    LookupError
        If they are not stored.
    """
    start, end = (station(name) for name in PAIRS[pair])
    seconds = np.round(at_s + STEP_S * np.arange(round(LENGTH_S / STEP_S)), 9)
    paths: list[tuple[int, ...]] = []
    rows = _stored()[pair, at_s]
    for (step, path), (until, _) in zip(rows, [*rows[1:], (len(seconds), ())], strict=True):
        paths += [path] * (until - step)
    return Series(shell(SHELL), start, end, seconds, STEP_S, paths)


def part(found: Series, first_s: float, last_s: float) -> Series:
    """The part of a series between two instants."""
    first, last = (round((at - float(found.seconds[0])) / STEP_S) for at in (first_s, last_s))
    return replace(found, seconds=found.seconds[first:last], paths=found.paths[first:last])


@functools.cache
def _stored() -> dict[tuple[str, int], list[tuple[int, tuple[int, ...]]]]:
    """By pair and window: the step at which each path begins, and its satellites."""
    text = (resources.files("optcp.papers.leo") / "paths.csv").read_text(encoding="utf-8")
    found: dict[tuple[str, int], list[tuple[int, tuple[int, ...]]]] = {}
    for line in text.splitlines()[1:]:
        pair, at, step, satellites = line.split(",")
        found.setdefault((pair, int(at)), []).append((int(step), tuple(int(one) for one in satellites.split())))
    return found


def rows(pair: str, at_s: int) -> list[str]:
    """What is stored of a window, found anew."""
    start, end = (station(name) for name in PAIRS[pair])
    paths = series(shell(SHELL), start, end, LENGTH_S, STEP_S, float(at_s)).paths
    return [
        f"{pair},{at_s},{step},{' '.join(map(str, path))}"
        for step, path in enumerate(paths)
        if step == 0 or path != paths[step - 1]
    ]


def main() -> None:
    """Write everything that is stored."""
    lines = ["pair,window (s),step (100 ms),satellites"]
    for pair in PAIRS:
        for at_s in (PUBLISHED_S, *WINDOWS_S):
            lines += rows(pair, at_s)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
