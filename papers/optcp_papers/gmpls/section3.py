"""The set-up of section 3: one flow that loses a burst, by fast recovery or by a restart in slow start.

All runs are of `scenarios/gmpls-fig4.toml`. The first W segments leave at once and the first B of them are lost, so
that nothing has changed the window before. Three continuations:

``recovery``
    The timer outlives everything: the third duplicate ACK starts NewReno's fast recovery.
``restart``
    The timer fires 1 ms before the duplicate ACKs come back (99 ms against a round trip of 100 ms, clock granularity
    33 ms so that it fires only that once), so the sender goes back to slow start at, within a hundredth of a round
    trip, the same instant, having sent and lost the same. The duplicate ACKs that then come change nothing.
``timer``
    The profile's own timer, measured: W = 20 from the third round trip on loses everything, no ACK comes back, the
    timer fires. How long that took after the last ACK is the wait that a real restart would cost.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from optcp.papers.assume import Assumed, built_in, overrides, positive_int
from optcp.papers.kit import Chosen, Found, Grid, Options, Run, RunFailed, Setup, Size, StudyResult
from optcp.scenarios.scenario import Scenario, load
from optcp.study import Branch
from optcp_papers.gmpls.paper import PAPER

PROFILES = {
    "rfc": {"parameters.profile": "rfc"},
    "ns2-2001": {"parameters.profile": "ns2-2001"},
    "ns2-2001 keep": {"parameters.profile": "ns2-2001", "tcp.single.partial_ack": "keep"},
}
"""The interpretations: the profiles, and ns-2's with the window's inflation retained at a partial ACK (RFC 2582)."""
LAWFUL = "rfc"
"""The profile that the law is about; under the others fewer windows are run."""
LAW_WINDOWS = (10, 20, 40)
QUICK_WINDOWS = (10, 20, 30, 40, 50, 60)
OTHER_WINDOWS = tuple(tuple(range(ten + 1, ten + 10)) for ten in QUICK_WINDOWS[:-1])
FEWEST_DUPLICATES = 3
ROUND_TRIP_S = 0.1
TIMER = "timer"
RESTART_TIMER = {"parameters.rto": "99 ms", "tcp.single.min_rto": "99 ms", "tcp.single.tick": "33 ms"}
TIMER_LOSES = range(60, 200)
"""Of W = 20, what a flow has not sent in its first two round trips; more than it can have in flight."""
SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-fig4.toml"

ASSUMED = (
    Assumed("packet_bytes", 1000, positive_int, "tcp.single.mss"),
    Assumed("rate_bps", 1_000_000_000, positive_int, "parameters.rate"),
    built_in("round_trip_ms", "100"),
    built_in("ssthresh", "floor(W / 2)"),
    built_in("limited_transmit", "no"),
    built_in("lost", "the first B of W segments sent at once"),
    built_in("restart", "a timer of 99 ms, just before the duplicate ACKs"),
    built_in("wait", "the profile's own timer after the last ACK, measured; the restart's curve that much later"),
)


def bursts(window: int) -> range:
    """The burst lengths that leave enough duplicate ACKs."""
    return range(1, window - FEWEST_DUPLICATES + 1)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """The timers, W = 10, 20, ..., 60 under every interpretation, and all other W under the one of the law."""
    base = load(SCENARIO).set(overrides(ASSUMED, chosen))

    def grid(title: str, branches: Iterator[Branch]) -> Grid:
        return Grid(f"gmpls section 3, {title}", tuple(branches), options.digest, fork=False)

    found = {TIMER: grid("timers", timers(base))}
    for profile, settings in PROFILES.items():
        found[f"{profile}, W = 10, 20, ..., 60"] = grid(profile, pairs(base.set(settings), QUICK_WINDOWS))
    for windows in OTHER_WINDOWS:
        branches = pairs(base.set(PROFILES[LAWFUL]), windows)
        found[f"{LAWFUL}, W = {windows[0]} to {windows[-1]}"] = grid(LAWFUL, branches)
    return found


def pairs(world: Scenario, windows: Sequence[int]) -> Iterator[Branch]:
    """Every burst of some windows, by recovery and by restart."""
    for window in windows:
        for burst in bursts(window):
            settings = {
                "parameters.window": f"{window} packets",
                "parameters.lost": range(burst),
                # Two round trips more than the recovery takes.
                "stop": f"{(burst + 3) * ROUND_TRIP_S:.1f} s",
            }
            for way, timer in (("recovery", {}), ("restart", RESTART_TIMER)):
                key = {"window": str(window), "burst": str(burst), "way": way}
                yield Branch(key, world.set({**settings, **timer}).core)


def timers(world: Scenario) -> Iterator[Branch]:
    """How long each profile's own timer waits."""
    lost = {"parameters.lost": TIMER_LOSES, "tcp.single.initial_rto": "3 s"}
    for profile, settings in PROFILES.items():
        yield Branch({"way": TIMER, "profile": profile}, world.set({**settings, **lost}).core)


def seeds(grid: str, size: Size) -> int:
    """One: nothing is random. A quick look leaves most windows out."""
    return 0 if size.is_quick and " to " in grid else 1


SETUP = Setup(PAPER, 1, grids, seeds, ASSUMED)


@dataclass(frozen=True)
class Recovery:
    """One fast recovery, round trip by round trip.

    Attributes
    ----------
    new
        Segments sent for the first time in each round trip. A round trip begins with a retransmission and ends with
        the next, or with the ACK of the whole window; so there are as many as retransmissions.
    round_trips
        From the first retransmission to the ACK of the whole window, in round trips of one segment.
    """

    new: NDArray[np.int64]
    round_trips: float


@dataclass(frozen=True)
class Burst:
    """What became of one burst.

    Attributes
    ----------
    recovery
        The fast recovery.
    reached_by_recovery
        Segments in order at the receiver after B round trips.
    reached_by_restart
        Segments in order there after 0, 1, ..., B round trips of slow start; shape (B + 1,).
    """

    recovery: Recovery
    reached_by_recovery: int
    reached_by_restart: NDArray[np.int64]


Bursts = dict[int, Burst]
"""What became of the bursts of a window, by their length."""


@dataclass(frozen=True)
class World:
    """What is measured under one interpretation of the sender.

    Attributes
    ----------
    windows
        The bursts of each window, shortest window first.
    wait
        How long its timer waits after the last ACK, in round trips.
    """

    windows: Mapping[int, Bursts]
    wait: float


def worlds(found: Found) -> dict[str, World]:
    """What is measured under each interpretation."""
    waits = waits_in_round_trips(found.done[TIMER])

    def windows(profile: str) -> dict[int, Bursts]:
        mine = (measure(done) for name, done in found.done.items() if name.startswith(f"{profile}, "))
        return dict(sorted(functools.reduce(lambda known, more: known | more, mine).items()))

    return {profile: World(windows(profile), waits[profile]) for profile in PROFILES}


@dataclass(frozen=True)
class Events:
    """One run's packet events, shape (n,) each."""

    time_s: NDArray[np.float64]
    name: NDArray[np.str_]
    seq: NDArray[np.int64]

    @classmethod
    def of(cls, run: Run) -> Events:
        """Read the observation ``packets``."""
        rows = run["packets"]
        return cls(rows.seconds, rows["event"], rows["seq"])

    def times(self, name: str) -> NDArray[np.float64]:
        """When events of a name happened."""
        result: NDArray[np.float64] = self.time_s[self.name == name]
        return result

    def in_order(self, instant_s: float) -> int:
        """How many segments are without a hole at the receiver at an instant."""
        here = np.unique(self.seq[(self.name == "arrived") & (self.time_s <= instant_s)])
        gaps = np.flatnonzero(here != np.arange(here.size))
        return int(gaps[0]) if gaps.size else int(here.size)


def read_recovery(events: Events, window: int) -> Recovery:
    """Count what a recovery sent in each of its round trips."""
    resent = events.times("resent")
    acked = (events.name == "acked") & (events.seq >= window)
    if not resent.size or not acked.any():
        raise RunFailed(f"W = {window}: the recovery did not end")
    edges = np.append(resent, events.time_s[acked][0])
    # What a partial ACK releases leaves with the retransmission: at the same instant, in the round trip it begins.
    starts = np.searchsorted(events.times("sent"), edges - 1e-12)
    first_ack = events.time_s[(events.name == "acked") & (events.seq > 0)][0]
    return Recovery(np.diff(starts), float((edges[-1] - edges[0]) / (first_ack - edges[0])))


def measure(done: StudyResult) -> dict[int, Bursts]:
    """Reduce the runs of a grid, by window and burst; one of which no seed was wanted has nothing.

    Raises
    ------
    RunFailed
        If a timer fired that should not have, or one did not that should.
    """
    found: dict[int, Bursts] = {}
    for seed in done.seeds:
        branches = done.grid.branches
        for recovery, restart in zip(branches[::2], branches[1::2], strict=True):
            window, burst = int(recovery.key["window"]), int(recovery.key["burst"])
            runs = done.run(recovery, seed), done.run(restart, seed)
            found.setdefault(window, {})[burst] = measure_burst(window, burst, *runs)
    return found


def measure_burst(window: int, burst: int, recovered: Run, restarted: Run) -> Burst:
    """Reduce the two runs of a burst."""
    timeouts = [int(run["tcp"]["timeouts"][-1]) for run in (recovered, restarted)]
    if timeouts != [0, 1]:
        raise RunFailed(f"W = {window}, B = {burst}: {timeouts} timeouts in recovery and restart, not [0, 1]")
    events, again = Events.of(recovered), Events.of(restarted)
    begin_s, restart_s = events.times("resent")[0], again.times("resent")[0]
    # Three quarters into a round trip all it sends has come to the receiver, and nothing of the next one has.
    after = np.arange(burst + 1) - 0.25
    return Burst(
        read_recovery(events, window),
        events.in_order(begin_s + after[-1] * ROUND_TRIP_S),
        np.array([again.in_order(restart_s + rounds * ROUND_TRIP_S) for rounds in after]),
    )


def waits_in_round_trips(done: StudyResult) -> dict[str, float]:
    """How long each profile's timer waits after the last ACK, in round trips."""
    (seed,), found = done.seeds, {}
    for branch in done.grid.branches:
        events = Events.of(done.run(branch, seed))
        fired_s = float(events.times("resent")[0])
        last_s = float(events.times("acked")[events.times("acked") < fired_s][-1])
        found[branch.key["profile"]] = (fired_s - last_s) / ROUND_TRIP_S
    return found


def law_new(window: int, burst: int) -> NDArray[np.int64]:
    """New segments in each of the burst's round trips by equation 1 and the text after it."""
    threshold = window // 2
    return np.maximum(0, threshold - burst + np.arange(burst))


def law_progress(window: int, burst: int) -> float:
    """Equation 2, in segments."""
    threshold = window // 2
    return (max(0, threshold - burst) + threshold - 1) / 2 * min(threshold, burst)


def law_crossing(window: int, *, printed: bool) -> int:
    """Equation 3: the largest burst for which recovery is not behind slow start.

    Printed, the right side is 2^(mbz + 1); corrected, it is the sum of mbz round trips, 2^mbz - 1.
    """
    largest = 0
    for burst in bursts(window):
        restart = 2 ** (burst + 1) if printed else 2**burst - 1
        if law_progress(window, burst) + 2 * (window // 2) < restart:
            break
        largest = burst
    return largest


def crossing(window: int, by_burst: Bursts, wait_round_trips: float = 0.0) -> int:
    """The largest burst up to which fast recovery has got as far as a restart, after B round trips.

    With a wait the restart begins that much later, and until then the receiver has nothing in order.
    """
    largest = 0
    for burst in bursts(window):
        one = by_burst[burst]
        # What a round trip sends arrives in its middle; the comparison is three quarters into the last one.
        rounds = int(np.floor(burst - wait_round_trips + 0.25))
        restart = int(one.reached_by_restart[rounds]) if rounds >= 0 else 0
        if one.reached_by_recovery < restart:
            break
        largest = burst
    return largest
