"""BBR's states, one after the other, against what the draft says of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.evidence import outside
from optcp.evidence.base import Experiment, Result, Row, Setting, cells, experiment, provenance
from optcp.study import Study, execute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SCENARIO = "tcp-bbr"
DRAFT, WORKED = "BBR draft", "BBR draft, worked"
SEEDS = 10
MSS_BYTES = 1460
PRODUCT = 40
"""Segments in a least round trip of 40 ms, one a millisecond."""
BURSTS = 6
"""Segments of room for three bursts, of two each at this rate."""
LEAST = 4
"""Segments that PROBE_RTT keeps."""
HIGH = 2.885
"""2/ln 2, as Linux has it."""
MARGIN = 0.99
"""Linux paces so far below the rate that the draft says."""
ROUND_TRIP_MS, STEADY_MS, PROBES_MS = 40.0, 2_000.0, 10_000.0
ROUNDS = 7
"""Round trips of STARTUP that the fast link does not limit."""
EARLY_GROWTH = "sent in the third round trip / in the second"
GROWTH = "sent in a round trip / in the one before, from then on"
FAST = [("parameters.rate", "1200 Mbps"), ("parameters.delay", "19.995 ms"), ("stop", "1 s")]
"""A hundred times the rate, the same round trip."""
TESTS = "crates/tcp/src/congestion/bbr/tests.rs"
STARTUP_TEST = "startup_fills_the_pipe_and_drain_takes_its_queue_away"
CYCLE_TEST = "bandwidth_is_probed_for_in_cycles_of_eight_phases"
PROBE_TEST = "the_least_round_trip_is_looked_for_every_ten_seconds"


@dataclass(frozen=True)
class Wanted:
    """A figure of the state machine: the test that works it by hand too, and its values outside."""

    state: str
    figure: str
    test: str
    draft: tuple[str, float, float] | None = None
    worked: tuple[str, float, float] | None = None


def _printed(value: float, digits: int) -> tuple[str, float, float]:
    text = f"{value:.{digits}f}"
    return (text, *outside.printed_range(text))


def _drain_ms() -> float:
    """From the greatest flight to one product and the bursts, at 0.99 / 2.885 of what the link carries."""
    return (_startup_flight() - PRODUCT - BURSTS) / (1 - MARGIN / HIGH)


def _startup_flight() -> int:
    """2.885 products, whole and even, and the bursts."""
    return math.ceil(HIGH * PRODUCT / 2) * 2 + BURSTS


def _cycle_ms() -> float:
    """A phase ends with the first ACK after 40 ms; the one that probes takes the flight from 45 to 58 segments."""
    return (1.25 * PRODUCT + BURSTS + 2 - 45) / (1.25 * MARGIN - 1) + 7 * (ROUND_TRIP_MS + 1)


WANTED = (
    Wanted("STARTUP", EARLY_GROWTH, "", _printed(2.0, 2)),
    Wanted("STARTUP", GROWTH, "", _printed(2.0, 2)),
    Wanted("STARTUP", "pacing gain", STARTUP_TEST, _printed(HIGH, 3), _printed(HIGH * MARGIN, 3)),
    Wanted("STARTUP", "greatest flight (segments)", STARTUP_TEST, None, _printed(_startup_flight(), 0)),
    Wanted("DRAIN", "pacing gain", STARTUP_TEST, _printed(1 / HIGH, 3), _printed(MARGIN / HIGH, 3)),
    Wanted("DRAIN", "lasts (ms)", STARTUP_TEST, None, _printed(_drain_ms(), 1)),
    Wanted(
        "PROBE_BW", "pacing gain of the phase that probes", CYCLE_TEST, _printed(1.25, 3), _printed(1.25 * MARGIN, 4)
    ),
    Wanted("PROBE_BW", "of the phase that drains", CYCLE_TEST, _printed(0.75, 3), _printed(0.75 * MARGIN, 4)),
    Wanted("PROBE_BW", "of the six others", CYCLE_TEST, _printed(1.0, 3), _printed(MARGIN, 2)),
    Wanted("PROBE_BW", "greatest flight (segments)", CYCLE_TEST, None, _printed(1.25 * PRODUCT + BURSTS + 2, 0)),
    Wanted("PROBE_BW", "cycle of eight phases (ms)", CYCLE_TEST, None, _printed(_cycle_ms(), 1)),
    Wanted("PROBE_RTT", "first begins (s)", PROBE_TEST, _printed(10.0, 1), _printed(10.04, 2)),
    Wanted(
        "PROBE_RTT",
        "from the end of one to the next (s)",
        PROBE_TEST,
        _printed(10.0, 1),
        ("10.00 to 10.04", 10.0, 10.042),
    ),
    Wanted("PROBE_RTT", "least flight (segments)", PROBE_TEST, _printed(LEAST, 0)),
    Wanted("PROBE_RTT", "at the least flight (ms)", PROBE_TEST, ("200 to 240", 200.0, 200.0 + ROUND_TRIP_MS)),
)
"""In the order of the page."""


def sent_ms(series: Mapping[str, Any]) -> np.ndarray:
    """When segments were sent."""
    packets = series["packets"]
    sent = (packets["event"] == packets["events"].index("sent")) & ~packets["ack"]
    return np.asarray(packets["time_ps"][sent] / 1e9)


def startup(series: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """What the fast link shows: how STARTUP grows, and its pacing gain in the second round trip.

    A round trip ends with the ACK of the first segment that it sent. The rate that the gain multiplies is that of the
    initial window a round trip, until more was delivered.
    """
    packets = series["packets"]
    sent = sent_ms(series)
    acked = packets["event"] == packets["events"].index("acked")
    acked_ms, acked_to = packets["time_ps"][acked] / 1e9, packets["seq"][acked]
    rounds, begin_ms, first = [], 0.0, 0
    for _ in range(ROUNDS):
        end_ms = float(acked_ms[acked_to > first][0])
        rounds.append(int(((sent >= begin_ms) & (sent < end_ms)).sum()))
        begin_ms, first = end_ms, first + rounds[-1]
    second = np.diff(sent[rounds[0] : rounds[0] + rounds[1]])
    return {
        ("STARTUP", EARLY_GROWTH): rounds[2] / rounds[1],
        ("STARTUP", GROWTH): float((rounds[-1] / rounds[2]) ** (1 / (ROUNDS - 3))),
        ("STARTUP", "pacing gain"): ROUND_TRIP_MS / rounds[0] / float(np.median(second)),
    }


def measured(series: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """Every figure that the slow link shows, by state and name."""
    sender = series["sender"]
    at_ms = sender["time_ps"] / 1e9
    flight = sender["flight_segments"].astype(int)
    window = np.rint(sender["cwnd_bytes"] / MSS_BYTES).astype(int)

    early = at_ms < STEADY_MS
    peak = int(flight[early].max())
    # DRAIN begins where the threshold is set, and the window's gain falls from 2.885 to 2 when it ends.
    full = int(np.flatnonzero(np.isfinite(sender["ssthresh_bytes"]))[0])
    drained = full + int(np.argmax(window[full:] < HIGH * PRODUCT))

    steady = (at_ms >= STEADY_MS) & (at_ms < PROBES_MS)
    greatest = int(flight[steady].max())
    sent = sent_ms(series)
    gaps = np.diff(sent)
    cycling = (sent[1:] >= STEADY_MS) & (sent[1:] < PROBES_MS)
    waits = gaps[cycling]
    # A cycle is from the first short wait to the next one that follows others.
    short_ms = sent[1:][cycling][waits < 0.9]
    begins = short_ms[1:][np.diff(short_ms) > 2 * ROUND_TRIP_MS]
    cycle_ms = (begins[-1] - begins[0]) / (len(begins) - 1)
    rate = {
        "probe": np.median(waits[waits < 0.9]),
        "cruise": np.median(waits[(waits >= 0.9) & (waits < 1.2)]),
        "drain": np.median(waits[waits >= 1.2]),
    }
    draining = gaps[(sent[1:] > at_ms[full] + 1) & (sent[1:] < at_ms[drained])]

    probes = _stays(window == LEAST, at_ms)
    least = [flight[(at_ms >= begin) & (at_ms < end)].min() for begin, end in probes]
    held = [end - at_ms[(at_ms >= begin) & (flight <= LEAST)][0] for begin, end in probes]
    return {
        ("STARTUP", "greatest flight (segments)"): peak,
        ("DRAIN", "pacing gain"): 1 / float(np.median(draining)),
        ("DRAIN", "lasts (ms)"): float(at_ms[drained] - at_ms[full]),
        ("PROBE_BW", "pacing gain of the phase that probes"): 1 / float(rate["probe"]),
        ("PROBE_BW", "of the phase that drains"): 1 / float(rate["drain"]),
        ("PROBE_BW", "of the six others"): 1 / float(rate["cruise"]),
        ("PROBE_BW", "greatest flight (segments)"): greatest,
        ("PROBE_BW", "cycle of eight phases (ms)"): float(cycle_ms),
        ("PROBE_RTT", "first begins (s)"): probes[0][0] / 1e3,
        ("PROBE_RTT", "from the end of one to the next (s)"): _mean(
            [(after[0] - before[1]) / 1e3 for before, after in itertools.pairwise(probes)]
        ),
        ("PROBE_RTT", "least flight (segments)"): float(min(least)),
        ("PROBE_RTT", "at the least flight (ms)"): _mean(held),
    }


def _stays(inside: np.ndarray, at_ms: np.ndarray) -> list[tuple[float, float]]:
    """From when to when something held, each time that it has ended."""
    edges = np.diff(inside.astype(int))
    begins, ends = at_ms[1:][edges == 1], at_ms[1:][edges == -1]
    return [(float(begin), float(end)) for begin, end in zip(begins, ends, strict=False)]


def _mean(values: Sequence[float]) -> float:
    return float(sum(values)) / len(values)


@experiment
class BbrStates(Experiment):
    """One flow of BBR alone, state by state."""

    name = "bbr-states"
    title = "BBR's states"
    value = "ours"
    about = (
        "One flow of BBR alone on a link that carries a segment in 1 ms, with a least round trip of 40 ms and room for "
        "every queue; an ACK for every segment. A rate is that of the median wait between two segments, as a multiple "
        "of the link's. The first three rows are of a link a hundred times as fast, which seven round trips of STARTUP "
        "do not fill; the gain there is over the initial window a round trip. The scenario is `tcp-bbr`.",
        "`BBR draft` is what draft-cardwell-iccrg-bbr-congestion-control-00 says. `BBR draft, worked` is what follows "
        "from it for this link by hand, with what Linux adds: pacing 1 % below the rate, which is why every gain is "
        "1 % lower than the draft's, room for three bursts, and whole segments and ACKs, of which there is one a "
        "millisecond. The tests work the same figures by hand; they are in `crates/tcp/src/congestion/bbr/tests.rs`.",
        "STARTUP falls behind once: the ten segments that leave at first come back at once, and so do the samples of "
        "them; those of the second round trip show its full rate with its last ACKs only. After that each round trip "
        "carries twice as much as the one before.",
        "Where each figure comes from: 2/ln 2 = 2.885 is the least gain that doubles what is sent (section 4.3.2.1), "
        "its inverse drains (4.3.3); 1.25, 0.75 and six times 1 (4.3.4.1); four segments for at least 200 ms and a "
        "round trip, when no shorter round trip was seen for 10 s (4.3.5).",
    )

    def run(self, setting: Setting) -> Result:
        """One row a figure."""
        slow, fast = cells(SCENARIO, [[]], "bbr-states"), cells(SCENARIO, [FAST], "bbr-states: fast link")
        seeds = tuple(range(1, 1 + (setting.seeds or SEEDS)))
        tasks = [Study(slow, seeds=seeds), Study(fast, seeds=seeds)]
        done = dict(zip(("slow", "fast"), execute(tasks, setting.root, setting.jobs, setting.progress), strict=True))
        found: dict[tuple[str, str], list[float]] = {(one.state, one.figure): [] for one in WANTED}
        for (_, (of_slow,)), (_, (of_fast,)) in zip(done["slow"], done["fast"], strict=True):
            for name, value in {**startup(of_fast.series), **measured(of_slow.series)}.items():
                found[name].append(value)
        rows: list[Row] = []
        for one in WANTED:
            key = {"state": one.state, "figure": one.figure, "test": f"`{one.test}`" if one.test else "this experiment"}
            beside = [(DRAFT, one.draft), (WORKED, one.worked)]
            more = [outside.Figure(source, self.name, key, *figure) for source, figure in beside if figure]
            rows.append(self.row(key, stats.mean(found[one.state, one.figure]), more))
        return self.result(rows, provenance(SCENARIO, done))
