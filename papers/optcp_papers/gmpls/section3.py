"""Experiment of section 3: one flow that loses a burst recovers by fast recovery or by slow start after an RTO.

All runs use `scenarios/gmpls-fig4.toml`. The first W segments leave at once and the first B of them are lost, so
nothing has changed the window before. There are three variants:

``recovery``
    The RTO is too long to fire: the third duplicate ACK starts NewReno's fast recovery.
``restart``
    The RTO fires 1 ms before the duplicate ACKs arrive: 99 ms against an RTT of 100 ms. A clock granularity of 33 ms
    makes it fire only once. Slow start thus begins at the same time as the recovery (within 0.01 RTT) and after the
    same losses. The later duplicate ACKs change nothing.
``timer``
    The profile's own RTO is measured. W = 20 from the third round trip on loses everything, so no ACK arrives and the
    RTO fires. Its time after the last ACK is the wait of a real restart.
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
"""Interpretations: the profiles, and ns-2's with the window inflation kept at a partial ACK (RFC 2582)."""
LAWFUL = "rfc"
"""Profile that the law describes; the others run fewer windows."""
LAW_WINDOWS = (10, 20, 40)
QUICK_WINDOWS = (10, 20, 30, 40, 50, 60)
OTHER_WINDOWS = tuple(tuple(range(ten + 1, ten + 10)) for ten in QUICK_WINDOWS[:-1])
FEWEST_DUPLICATES = 3
ROUND_TRIP_S = 0.1
TIMER = "timer"
RESTART_TIMER = {"parameters.rto": "99 ms", "tcp.single.min_rto": "99 ms", "tcp.single.tick": "33 ms"}
TIMER_LOSES = range(60, 200)
"""Lost segments of W = 20: all after the first two round trips, more than can be in flight."""
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
    """Return the burst lengths that leave enough duplicate ACKs."""
    return range(1, window - FEWEST_DUPLICATES + 1)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids: RTOs, W = 10, 20, ..., 60 for every interpretation, and all other W for the law's profile."""
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
    """Yield the recovery and the restart of every burst of some windows."""
    for window in windows:
        for burst in bursts(window):
            settings = {
                "parameters.window": f"{window} packets",
                "parameters.lost": range(burst),
                # Two round trips longer than the recovery.
                "stop": f"{(burst + 3) * ROUND_TRIP_S:.1f} s",
            }
            for way, timer in (("recovery", {}), ("restart", RESTART_TIMER)):
                key = {"window": str(window), "burst": str(burst), "way": way}
                yield Branch(key, world.set({**settings, **timer}).core)


def timers(world: Scenario) -> Iterator[Branch]:
    """Yield the runs that measure the RTO of each profile."""
    lost = {"parameters.lost": TIMER_LOSES, "tcp.single.initial_rto": "3 s"}
    for profile, settings in PROFILES.items():
        yield Branch({"way": TIMER, "profile": profile}, world.set({**settings, **lost}).core)


def seeds(grid: str, size: Size) -> int:
    """Return one seed, because nothing is random. Quick runs skip most windows."""
    return 0 if size.is_quick and " to " in grid else 1


SETUP = Setup(PAPER, 1, grids, seeds, ASSUMED)


@dataclass(frozen=True)
class Recovery:
    """One fast recovery, by round trip.

    Attributes
    ----------
    new
        Number of new segments sent in each round trip. A round trip starts with a retransmission and ends with the
        next one, or with the ACK of the whole window. The array has one value per retransmission.
    round_trips
        Time from the first retransmission to the ACK of the whole window, in round trips of one segment.
    """

    new: NDArray[np.int64]
    round_trips: float


@dataclass(frozen=True)
class Burst:
    """Results of one burst, by recovery and by restart.

    Attributes
    ----------
    recovery
        The fast recovery.
    reached_by_recovery
        Number of in-order segments at the receiver after B round trips.
    reached_by_restart
        Number of in-order segments there after 0, 1, ..., B round trips of slow start; shape (B + 1,).
    """

    recovery: Recovery
    reached_by_recovery: int
    reached_by_restart: NDArray[np.int64]


Bursts = dict[int, Burst]
"""Results of the bursts of a window, by burst length."""


@dataclass(frozen=True)
class World:
    """Results under one interpretation of the sender.

    Attributes
    ----------
    windows
        Bursts of each window, shortest window first.
    wait
        Time from the last ACK to the RTO, in round trips.
    """

    windows: Mapping[int, Bursts]
    wait: float


def worlds(found: Found) -> dict[str, World]:
    """Return the results under each interpretation."""
    waits = waits_in_round_trips(found.done[TIMER])

    def windows(profile: str) -> dict[int, Bursts]:
        mine = (measure(done) for name, done in found.done.items() if name.startswith(f"{profile}, "))
        return dict(sorted(functools.reduce(lambda merged, bursts_: merged | bursts_, mine).items()))

    return {profile: World(windows(profile), waits[profile]) for profile in PROFILES}


@dataclass(frozen=True)
class Events:
    """Packet events of one run; arrays of shape (n,)."""

    time_s: NDArray[np.float64]
    name: NDArray[np.str_]
    seq: NDArray[np.int64]

    @classmethod
    def of(cls, run: Run) -> Events:
        """Read the observation ``packets`` of a run."""
        rows = run["packets"]
        return cls(rows.seconds, rows["event"], rows["seq"])

    def times(self, name: str) -> NDArray[np.float64]:
        """Return the times of all events of a name, in s."""
        result: NDArray[np.float64] = self.time_s[self.name == name]
        return result

    def in_order(self, instant_s: float) -> int:
        """Return the number of segments before the first gap at the receiver."""
        here = np.unique(self.seq[(self.name == "arrived") & (self.time_s <= instant_s)])
        gaps = np.flatnonzero(here != np.arange(here.size))
        return int(gaps[0]) if gaps.size else int(here.size)


def read_recovery(events: Events, window: int) -> Recovery:
    """Count the new segments that a recovery sent in each of its round trips."""
    resent = events.times("resent")
    acked = (events.name == "acked") & (events.seq >= window)
    if not resent.size or not acked.any():
        raise RunFailed(f"W = {window}: the recovery did not end")
    edges = np.append(resent, events.time_s[acked][0])
    # Segments that a partial ACK releases leave at the time of the retransmission. They belong to the round trip that
    # it starts.
    starts = np.searchsorted(events.times("sent"), edges - 1e-12)
    first_ack = events.time_s[(events.name == "acked") & (events.seq > 0)][0]
    return Recovery(np.diff(starts), float((edges[-1] - edges[0]) / (first_ack - edges[0])))


def measure(done: StudyResult) -> dict[int, Bursts]:
    """Evaluate the runs of a grid, by window and burst; empty without seeds.

    Raises
    ------
    RunFailed
        If a recovery had an RTO, or a restart did not have exactly one.
    """
    result: dict[int, Bursts] = {}
    for seed in done.seeds:
        branches = done.grid.branches
        for recovery, restart in zip(branches[::2], branches[1::2], strict=True):
            window, burst = int(recovery.key["window"]), int(recovery.key["burst"])
            runs = done.run(recovery, seed), done.run(restart, seed)
            result.setdefault(window, {})[burst] = measure_burst(window, burst, *runs)
    return result


def measure_burst(window: int, burst: int, recovered: Run, restarted: Run) -> Burst:
    """Evaluate the two runs of a burst."""
    timeouts = [int(run["tcp"]["timeouts"][-1]) for run in (recovered, restarted)]
    if timeouts != [0, 1]:
        raise RunFailed(f"W = {window}, B = {burst}: {timeouts} timeouts in recovery and restart, not [0, 1]")
    events, again = Events.of(recovered), Events.of(restarted)
    begin_s, restart_s = events.times("resent")[0], again.times("resent")[0]
    # After 3/4 of a round trip all its segments have reached the receiver, and none of the next round trip.
    after = np.arange(burst + 1) - 0.25
    return Burst(
        read_recovery(events, window),
        events.in_order(begin_s + after[-1] * ROUND_TRIP_S),
        np.array([again.in_order(restart_s + rounds * ROUND_TRIP_S) for rounds in after]),
    )


def waits_in_round_trips(done: StudyResult) -> dict[str, float]:
    """Return the time from the last ACK to the RTO of each profile, in round trips."""
    (seed,), result = done.seeds, {}
    for branch in done.grid.branches:
        events = Events.of(done.run(branch, seed))
        fired_s = float(events.times("resent")[0])
        last_s = float(events.times("acked")[events.times("acked") < fired_s][-1])
        result[branch.key["profile"]] = (fired_s - last_s) / ROUND_TRIP_S
    return result


def law_new(window: int, burst: int) -> NDArray[np.int64]:
    """Return the new segments in each round trip of the burst, by equation 1 and the text after it."""
    threshold = window // 2
    return np.maximum(0, threshold - burst + np.arange(burst))


def law_progress(window: int, burst: int) -> float:
    """Return the progress by equation 2, in segments."""
    threshold = window // 2
    return (max(0, threshold - burst) + threshold - 1) / 2 * min(threshold, burst)


def law_crossing(window: int, *, printed: bool) -> int:
    """Return the largest burst for which recovery is not behind slow start (equation 3).

    As published, the right side is 2^(mbz + 1). Corrected, it is the sum of mbz round trips, 2^mbz - 1.
    """
    largest = 0
    for burst in bursts(window):
        restart = 2 ** (burst + 1) if printed else 2**burst - 1
        if law_progress(window, burst) + 2 * (window // 2) < restart:
            break
        largest = burst
    return largest


def crossing(window: int, by_burst: Bursts, wait_round_trips: float = 0.0) -> int:
    """Return the largest burst up to which fast recovery has reached at least as far as a restart after B round trips.

    A wait delays the restart; until then the receiver has nothing in order.
    """
    largest = 0
    for burst in bursts(window):
        result = by_burst[burst]
        # The segments of a round trip arrive in its middle; the comparison is made after 3/4 of the last one.
        rounds = int(np.floor(burst - wait_round_trips + 0.25))
        restart = int(result.reached_by_restart[rounds]) if rounds >= 0 else 0
        if result.reached_by_recovery < restart:
            break
        largest = burst
    return largest
