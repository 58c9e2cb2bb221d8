"""Choice of the part of a run that an animation draws packet by packet."""

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
"""Maximum number of packet-hops that a page draws."""

MOST_READ = 1_500_000
"""Maximum number of packet-hops that a run records."""

SETTLES_PS = 2_000_000_000_000
"""Maximum time after a failure in which reactions extend the shown part, in ps."""

ROUND_TRIPS_BEFORE, ROUND_TRIPS_BEHIND = 1, 4
"""RTTs shown before a failure and after the last reaction."""

MOST_STORIES = 6
"""Maximum length of a part, in multiples of the time needed for a failure."""

LEAST_ROUND_TRIP_PS = 1_000_000
"""Minimum RTT in ps, for scenarios without delays."""


@dataclass(frozen=True)
class Window:
    """Part of a run.

    Attributes
    ----------
    start_ps, end_ps
        Start and end.
    every
        Number of packets per drawn packet.
    """

    start_ps: int
    end_ps: int
    every: int


@dataclass(frozen=True)
class Hops:
    """Number of packet-hops of a run, per interval of ``step_ps``."""

    step_ps: int
    counts: NDArray[np.float64]

    def between(self, start_ps: int, end_ps: int) -> float:
        """Return the number in a part of the run, assuming an even distribution in each interval."""
        edges = np.arange(len(self.counts) + 1) * float(self.step_ps)
        so_far = np.concatenate([[0.0], np.cumsum(self.counts)])
        low, high = np.interp([start_ps, end_ps], edges, so_far)
        return float(high - low)


def choose(run: FreshRun, hops: Hops, asked: tuple[int | None, int | None], change_ps: int | None = None) -> Window:
    """Return the requested part, or by default the time around the first failure or path change, or the first packets.

    A default end is as late as the page allows. If the shortest useful time has too many packets, only a fraction of
    them is drawn.

    Raises
    ------
    InputError
        If the part is empty or has more packet-hops than a run records.
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
                f"--from, --to: {hops.between(start, end):.3g} packet-hops in this time; the maximum is {MOST_READ:g}"
            )
    else:
        first = min(start + least, stop)
        while hops.between(start, first) > MOST_READ and first - start > LEAST_ROUND_TRIP_PS:
            first = start + (first - start) // 2
        end = _longest(hops, start, first, min(start + MOST_STORIES * least, stop))
    return Window(start, end, max(1, -(-int(hops.between(start, end)) // MOST_HOPS)))


def _longest(hops: Hops, start: int, least: int, stop: int) -> int:
    """Return the latest end for which all packet-hops fit, but not before ``least``."""
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
    """Return the start and the minimum length of the part around the first failure or path change."""
    round_trip = max(_round_trip(run.scenario), LEAST_ROUND_TRIP_PS)
    failed = [one["at_ps"] for one in run.failed if one["at_ps"] < stop]
    failed = [change_ps] if change_ps is not None and not failed else failed
    if not failed:
        least = max(10 * round_trip, stop // 50)
        # Without failures, show the start of transfers, or traffic in the middle of the run.
        starts = [_begins(group) for group in run.scenario["flows"]] or [stop // 2]
        return min([start for start in starts if start < stop], default=0), least
    first = min(failed)
    reactions = [one["at_ps"] for one in run.switches]
    reactions += [one["at_ps"] for one in (run.routing or {}).get("steps", ())]
    last_reaction = max([at for at in reactions if first <= at <= first + SETTLES_PS], default=first)
    begins = max(first - ROUND_TRIPS_BEFORE * round_trip - (last_reaction - first) // 4, 0)
    return begins, last_reaction - begins + ROUND_TRIPS_BEHIND * round_trip


def _begins(group: Mapping[str, Any]) -> int:
    """Return the earliest start of the flows of a group."""
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
    """Return the largest propagation RTT of a working path; of a link if routers find the paths."""
    delays = {}
    for link in scenario["links"]:
        a, b = link["ends"]
        delays[(a, b)] = delays[(b, a)] = int(link["forward"]["delay_ps"]) if _plain(link) else 0
    path_delays = [
        sum(delays.get(hop, 0) for hop in zip(route["path"], route["path"][1:], strict=False))
        for group in [*scenario["flows"], *scenario.get("traffic", ())]
        for route in group["routes"]
        if "path" in route
    ]
    return 2 * max(path_delays, default=max(delays.values(), default=0))


def _plain(link: Mapping[str, Any]) -> bool:
    """Whether the delay is a constant."""
    return isinstance(link["forward"]["delay_ps"], int)
