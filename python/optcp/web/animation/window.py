"""Which part of a run is shown packet by packet, and how many of them: as much as a page holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.scenarios.run import FreshRun

MOST_HOPS = 60_000
"""A page draws no more packet-hops one by one."""

MOST_READ = 1_500_000
"""A run lists no more packet-hops to choose from."""

SETTLES_PS = 2_000_000_000_000
"""What is done about a failure later than that is looked at by whoever asks for it."""

ROUND_TRIPS_BEFORE, ROUND_TRIPS_BEHIND = 1, 4
"""Around a failure and what is done about it."""

MOST_STORIES = 6
"""As long as so many of them a part is at most: in what is longer, nothing is slow."""

LEAST_ROUND_TRIP_PS = 1_000_000
"""Without delays something must be left to look at."""


@dataclass(frozen=True)
class Window:
    """A part of a run.

    Attributes
    ----------
    start_ps, end_ps
        From when on, and up to when.
    every
        One packet of so many is drawn.
    """

    start_ps: int
    end_ps: int
    every: int


@dataclass(frozen=True)
class Hops:
    """How many packet-hops a run made, by interval of ``step_ps``."""

    step_ps: int
    counts: NDArray[np.float64]

    def between(self, start_ps: int, end_ps: int) -> float:
        """How many in a part of the run, evenly distributed over each interval."""
        edges = np.arange(len(self.counts) + 1) * float(self.step_ps)
        so_far = np.concatenate([[0.0], np.cumsum(self.counts)])
        low, high = np.interp([start_ps, end_ps], edges, so_far)
        return float(high - low)


def choose(run: FreshRun, hops: Hops, asked: tuple[int | None, int | None], change_ps: int | None = None) -> Window:
    """Take what was asked for, or the time around the first failure or a change of a path, or else the first packets.

    What is not asked for ends where the page is full; if packets are too many for the shortest time that makes sense,
    one of several is drawn.

    Raises
    ------
    InputError
        If nothing is between the two instants, or more than can be read.
    """
    stop = int(run.scenario["stop_ps"])
    begins, least = _story(run, stop, change_ps)
    start = asked[0] if asked[0] is not None else (begins if asked[1] is None else min(begins, asked[1] // 2))
    if not 0 <= start < stop:
        raise InputError(f"--from: {start / 1e12:g} s is not within the run, which ends at {stop / 1e12:g} s")
    if asked[1] is not None:
        end = min(asked[1], stop)
        if end <= start:
            raise InputError(f"--to: {asked[1] / 1e12:g} s is not after {start / 1e12:g} s")
        if hops.between(start, end) > MOST_READ:
            raise InputError(
                f"--from, --to: packets make {hops.between(start, end):.3g} hops in this time; at most {MOST_READ:g}"
            )
    else:
        first = min(start + least, stop)
        while hops.between(start, first) > MOST_READ and first - start > LEAST_ROUND_TRIP_PS:
            first = start + (first - start) // 2
        end = _longest(hops, start, first, min(start + MOST_STORIES * least, stop))
    return Window(start, end, max(1, -(-int(hops.between(start, end)) // MOST_HOPS)))


def _longest(hops: Hops, start: int, least: int, stop: int) -> int:
    """The latest end with which all hops fit, ``least`` at the earliest."""
    low, high = least, stop
    if hops.between(start, least) >= MOST_HOPS:
        return least
    if hops.between(start, stop) <= MOST_HOPS:
        return stop
    for _ in range(60):
        middle = (low + high) // 2
        low, high = (middle, high) if hops.between(start, middle) <= MOST_HOPS else (low, middle)
    return low


def _story(run: FreshRun, stop: int, change_ps: int | None) -> tuple[int, int]:
    """Where a failure, or a change of a path, and what is done about it begin, and how long that takes at least."""
    round_trip = max(_round_trip(run.scenario), LEAST_ROUND_TRIP_PS)
    failed = [one["at_ps"] for one in run.failed if one["at_ps"] < stop]
    failed = [change_ps] if change_ps is not None and not failed else failed
    if not failed:
        least = max(10 * round_trip, stop // 50)
        # Transfers are looked at as they start, traffic as it is.
        starts = [_begins(group) for group in run.scenario["flows"]] or [stop // 2]
        return min([start for start in starts if start < stop], default=0), least
    first = min(failed)
    acts = [one["at_ps"] for one in run.switches]
    acts += [one["at_ps"] for one in (run.routing or {}).get("steps", ())]
    settled = max([at for at in acts if first <= at <= first + SETTLES_PS], default=first)
    begins = max(first - ROUND_TRIPS_BEFORE * round_trip - (settled - first) // 4, 0)
    return begins, settled - begins + ROUND_TRIPS_BEHIND * round_trip


def _begins(group: Mapping[str, Any]) -> int:
    """The earliest start of a group's flows."""
    start = group.get("start_ps", 0)
    if isinstance(start, int):
        return start
    return min((int(value) for value in _numbers(start)), default=0)


def _numbers(value: object) -> Sequence[float]:
    if isinstance(value, (int, float)):
        return [value]
    if isinstance(value, dict):
        return [number for one in value.values() for number in _numbers(one)]
    return [number for one in value for number in _numbers(one)] if isinstance(value, list) else []


def _round_trip(scenario: Mapping[str, Any]) -> int:
    """The longest propagation there and back along a working path; along all links where paths are found by routers."""
    delays = {}
    for link in scenario["links"]:
        a, b = link["ends"]
        delays[(a, b)] = delays[(b, a)] = int(link["forward"]["delay_ps"]) if _plain(link) else 0
    ways = [
        sum(delays.get(hop, 0) for hop in zip(route["path"], route["path"][1:], strict=False))
        for group in [*scenario["flows"], *scenario.get("traffic", ())]
        for route in group["routes"]
        if "path" in route
    ]
    return 2 * max(ways, default=max(delays.values(), default=0))


def _plain(link: Mapping[str, Any]) -> bool:
    """Whether its delay is a number, and not drawn by runs."""
    return isinstance(link["forward"]["delay_ps"], int)
