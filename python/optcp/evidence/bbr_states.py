"""BBR's states, one after the other, against what the draft says of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from optcp import stats
from optcp.evidence import outside
from optcp.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp.study import Study

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
STARTUP_FLIGHT = math.ceil(HIGH * PRODUCT / 2) * 2 + BURSTS
"""2.885 products, whole and even, and the bursts."""
DRAIN_MS = (STARTUP_FLIGHT - PRODUCT - BURSTS) / (1 - MARGIN / HIGH)
"""From the greatest flight to one product and the bursts, at 0.99 / 2.885 of what the link carries."""
CYCLE_MS = (1.25 * PRODUCT + BURSTS + 2 - 45) / (1.25 * MARGIN - 1) + 7 * (ROUND_TRIP_MS + 1)
"""A phase ends with the first ACK after 40 ms; the one that probes takes the flight from 45 to 58 segments."""
ROUNDS = 7
"""Round trips of STARTUP that the fast link does not limit."""
EARLY_GROWTH = "sent in the third round trip / in the second"
GROWTH = "sent in a round trip / in the one before, from then on"
FAST = {"parameters.rate": "1200 Mbps", "parameters.delay": "19.995 ms", "stop": "1 s"}
"""A hundred times the rate, the same round trip."""
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
    return text, *outside.printed_range(text)


WANTED = (
    Wanted("STARTUP", EARLY_GROWTH, "", _printed(2.0, 2)),
    Wanted("STARTUP", GROWTH, "", _printed(2.0, 2)),
    Wanted("STARTUP", "pacing gain", STARTUP_TEST, _printed(HIGH, 3), _printed(HIGH * MARGIN, 3)),
    Wanted("STARTUP", "greatest flight (segments)", STARTUP_TEST, None, _printed(STARTUP_FLIGHT, 0)),
    Wanted("DRAIN", "pacing gain", STARTUP_TEST, _printed(1 / HIGH, 3), _printed(MARGIN / HIGH, 3)),
    Wanted("DRAIN", "lasts (ms)", STARTUP_TEST, None, _printed(DRAIN_MS, 1)),
    Wanted(
        "PROBE_BW", "pacing gain of the phase that probes", CYCLE_TEST, _printed(1.25, 3), _printed(1.25 * MARGIN, 4)
    ),
    Wanted("PROBE_BW", "of the phase that drains", CYCLE_TEST, _printed(0.75, 3), _printed(0.75 * MARGIN, 4)),
    Wanted("PROBE_BW", "of the six others", CYCLE_TEST, _printed(1.0, 3), _printed(MARGIN, 2)),
    Wanted("PROBE_BW", "greatest flight (segments)", CYCLE_TEST, None, _printed(1.25 * PRODUCT + BURSTS + 2, 0)),
    Wanted("PROBE_BW", "cycle of eight phases (ms)", CYCLE_TEST, None, _printed(CYCLE_MS, 1)),
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


def sent_ms(series: dict[str, dict[str, Any]]) -> np.ndarray:
    """When segments were sent."""
    packets = series["packets"]
    sent = (packets["event"] == packets["events"].index("sent")) & ~packets["ack"]
    return np.asarray(packets["time_ps"][sent] / 1e9)


def startup(series: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """What the fast link shows, by state and name: how STARTUP grows, and its pacing gain in the second round trip.

    A round trip ends with the ACK of the first segment that it sent. The rate that the gain multiplies is that of the
    initial window a round trip, until more was delivered.
    """
    packets = series["packets"]
    sent = sent_ms(series)
    acked = packets["event"] == packets["events"].index("acked")
    acked_ms, acked_to = packets["time_ps"][acked] / 1e9, packets["seq"][acked]
    rounds, begin_ms, first = [], 0.0, 0
    for _ in range(ROUNDS):
        end_ms = acked_ms[acked_to > first][0]
        rounds.append(int(((sent >= begin_ms) & (sent < end_ms)).sum()))
        begin_ms, first = end_ms, first + rounds[-1]
    second = np.diff(sent[rounds[0] : rounds[0] + rounds[1]])
    return {
        ("STARTUP", EARLY_GROWTH): rounds[2] / rounds[1],
        ("STARTUP", GROWTH): (rounds[-1] / rounds[2]) ** (1 / (ROUNDS - 3)),
        ("STARTUP", "pacing gain"): ROUND_TRIP_MS / rounds[0] / np.median(second),
    }


def measured(series: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
    """Every figure that the slow link shows, by state and name."""
    sender = series["sender"]
    at_ms = sender["time_ps"] / 1e9
    flight = sender["flight_segments"].astype(int)
    window = np.rint(sender["cwnd_bytes"] / MSS_BYTES).astype(int)

    # DRAIN begins where the threshold is set, and the window's gain falls from 2.885 to 2 when it ends.
    full = int(np.flatnonzero(np.isfinite(sender["ssthresh_bytes"]))[0])
    drained = full + int(np.argmax(window[full:] < HIGH * PRODUCT))

    sent = sent_ms(series)
    gaps, sent = np.diff(sent), sent[1:]
    draining = gaps[(sent > at_ms[full] + 1) & (sent < at_ms[drained])]
    cycling = (sent >= STEADY_MS) & (sent < PROBES_MS)
    waits = gaps[cycling]
    short, long = waits < 0.9, waits >= 1.2
    # A cycle is from the first short wait to the next one that follows others.
    short_ms = sent[cycling][short]
    begins = short_ms[1:][np.diff(short_ms) > 2 * ROUND_TRIP_MS]

    probes = _stays(window == LEAST, at_ms)
    least = [flight[(at_ms >= begin) & (at_ms < end)].min() for begin, end in probes]
    held = [end - at_ms[(at_ms >= begin) & (flight <= LEAST)][0] for begin, end in probes]
    between = [(after[0] - before[1]) / 1e3 for before, after in itertools.pairwise(probes)]
    return {
        ("STARTUP", "greatest flight (segments)"): flight[at_ms < STEADY_MS].max(),
        ("DRAIN", "pacing gain"): 1 / np.median(draining),
        ("DRAIN", "lasts (ms)"): at_ms[drained] - at_ms[full],
        ("PROBE_BW", "pacing gain of the phase that probes"): 1 / np.median(waits[short]),
        ("PROBE_BW", "of the phase that drains"): 1 / np.median(waits[long]),
        ("PROBE_BW", "of the six others"): 1 / np.median(waits[~short & ~long]),
        ("PROBE_BW", "greatest flight (segments)"): flight[(at_ms >= STEADY_MS) & (at_ms < PROBES_MS)].max(),
        ("PROBE_BW", "cycle of eight phases (ms)"): (begins[-1] - begins[0]) / (len(begins) - 1),
        ("PROBE_RTT", "first begins (s)"): probes[0][0] / 1e3,
        ("PROBE_RTT", "from the end of one to the next (s)"): np.mean(between),
        ("PROBE_RTT", "least flight (segments)"): min(least),
        ("PROBE_RTT", "at the least flight (ms)"): np.mean(held),
    }


def _stays(inside: np.ndarray, at_ms: np.ndarray) -> list[tuple[float, float]]:
    """From when to when something held, each time that it has ended."""
    edges = np.diff(inside.astype(int))
    return list(zip(at_ms[1:][edges == 1], at_ms[1:][edges == -1], strict=False))


def studies(seeds: int | None) -> Studies:
    """The slow and the fast link."""
    links: dict[str, dict[str, str]] = {"slow": {}, "fast": FAST}
    return {name: Study(SCENARIO, {"link": {name: link}}, seeds=seeds or SEEDS) for name, link in links.items()}


def find(done: Found) -> Figures:
    """One flow alone, state by state."""
    seeds = zip(done["fast"], done["slow"], strict=True)
    found = [startup(fast.series) | measured(slow.series) for (_, (fast,)), (_, (slow,)) in seeds]
    for one in WANTED:
        key = {"state": one.state, "figure": one.figure, "test": f"`{one.test}`" if one.test else "this experiment"}
        beside = [(DRAFT, one.draft), (WORKED, one.worked)]
        more = tuple(outside.Figure(source, "bbr-states", key, *figure) for source, figure in beside if figure)
        yield key, stats.mean([of_seed[one.state, one.figure] for of_seed in found]), *more


BBR_STATES = Experiment(
    name="bbr-states",
    title="BBR's states",
    value="ours",
    source=Runs(SCENARIO, studies, find),
    about=(
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
    ),
)
