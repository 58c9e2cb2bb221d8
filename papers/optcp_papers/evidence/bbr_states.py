"""States of BBR version 1 compared with the draft."""

from __future__ import annotations

import itertools
import math

import numpy as np

from optcp.scenarios.run import Run
from optcp.stats.quantiles import sample_quantile
from optcp_papers.evidence.base import Experiment
from optcp_papers.evidence.bbr_link import (
    GROWTH,
    PRODUCT,
    ROUND_TRIP_MS,
    Measured,
    Version,
    Wanted,
    printed,
    sender,
    sent_ms,
    startup,
    stays,
)

BURSTS = 6
"""Number of segments in three bursts, of two each at this rate."""
LEAST = 4
"""Number of segments that PROBE_RTT keeps."""
HIGH = 2.885
"""2/ln 2, the value of Linux."""
MARGIN = 0.99
"""Linux's pacing rate over the draft's."""
STEADY_MS, PROBES_MS = 2_000.0, 10_000.0
STARTUP_FLIGHT = math.ceil(HIGH * PRODUCT / 2) * 2 + BURSTS
"""Flight at the end of STARTUP: 2.885 products, rounded up to an even number, and the bursts."""
DRAIN_MS = (STARTUP_FLIGHT - PRODUCT - BURSTS - 2) / (1 - MARGIN / HIGH)
"""Time from the maximum flight to one product and the bursts, at 0.99 / 2.885 of the link rate. Linux subtracts the two
segments that arrive before the next one leaves."""
PROBING = 1.25 * PRODUCT + BURSTS
"""Flight at the end of the phase that probes. Linux adds two segments, and counts a burst of two that leaves next."""
OTHERS_MS = ROUND_TRIP_MS + 1
"""Duration of each of the six other phases. A phase ends with the first ACK after 40 ms."""
DRAINED = PRODUCT + BURSTS + 1
"""Flight at the end of the phase that drains: one more segment arrives before the next one leaves."""
CYCLE_MS = (
    (PROBING - DRAINED + (1 - MARGIN) * 6 * OTHERS_MS) / (1.25 * MARGIN - 1)
    + (PROBING - DRAINED) / (1 - 0.75 * MARGIN)
    + 6 * OTHERS_MS
)
"""Duration of a cycle."""
STARTUP_TEST = "startup_fills_the_pipe_and_drain_takes_its_queue_away"
CYCLE_TEST = "bandwidth_is_probed_for_in_cycles_of_eight_phases"
PROBE_TEST = "minimum_rtt_is_probed_every_ten_seconds"


WANTED = (
    *GROWTH,
    Wanted("STARTUP", "pacing gain", STARTUP_TEST, printed(HIGH, 3), printed(HIGH * MARGIN, 3)),
    Wanted("STARTUP", "maximum flight (segments)", STARTUP_TEST, None, printed(STARTUP_FLIGHT, 0)),
    Wanted("DRAIN", "pacing gain", STARTUP_TEST, printed(1 / HIGH, 3), printed(MARGIN / HIGH, 3)),
    Wanted("DRAIN", "lasts (ms)", STARTUP_TEST, None, printed(DRAIN_MS, 1)),
    Wanted("PROBE_BW", "pacing gain of the phase that probes", CYCLE_TEST, printed(1.25, 3), printed(1.25 * MARGIN, 4)),
    Wanted("PROBE_BW", "of the phase that drains", CYCLE_TEST, printed(0.75, 3), printed(0.75 * MARGIN, 4)),
    Wanted("PROBE_BW", "of the six others", CYCLE_TEST, printed(1.0, 3), printed(MARGIN, 2)),
    Wanted("PROBE_BW", "maximum flight (segments)", CYCLE_TEST, None, printed(PROBING, 0)),
    Wanted("PROBE_BW", "cycle of eight phases (ms)", CYCLE_TEST, None, printed(CYCLE_MS, 1)),
    Wanted("PROBE_RTT", "first begins (s)", PROBE_TEST, printed(10.0, 1), printed(10.04, 2)),
    Wanted(
        "PROBE_RTT",
        "from the end of one to the next (s)",
        PROBE_TEST,
        printed(10.0, 1),
        ("10.00 to 10.04", 10.0, 10.042),
    ),
    Wanted("PROBE_RTT", "least flight (segments)", PROBE_TEST, printed(LEAST, 0)),
    Wanted("PROBE_RTT", "at the least flight (ms)", PROBE_TEST, ("200 to 240", 200.0, 200.0 + ROUND_TRIP_MS)),
)
"""Figures in the order of the page."""


def measured(run: Run) -> Measured:
    """Return the figures of the slow link, by state and name."""
    at_ms, flight, window = sender(run)

    # DRAIN starts when the threshold is set. When it ends, the window's gain falls from 2.885 to 2.
    full = int(np.flatnonzero(np.isfinite(run["sender"]["ssthresh_bytes"]))[0])
    drained = full + int(np.argmax(window[full:] < HIGH * PRODUCT))

    sent = sent_ms(run)
    gaps, sent = np.diff(sent), sent[1:]
    draining = gaps[(sent > at_ms[full] + 1) & (sent < at_ms[drained])]
    cycling = (sent >= STEADY_MS) & (sent < PROBES_MS)
    waits = gaps[cycling]
    short, long = waits < 0.9, waits >= 1.2
    # A cycle lasts from the first short wait to the next short wait that follows other waits.
    short_ms = sent[cycling][short]
    begins = short_ms[1:][np.diff(short_ms) > 2 * ROUND_TRIP_MS]

    probes = stays(window == LEAST, at_ms)
    least = [flight[(at_ms >= begin) & (at_ms < end)].min() for begin, end in probes]
    held = [end - at_ms[(at_ms >= begin) & (flight <= LEAST)][0] for begin, end in probes]
    between = [(after[0] - before[1]) / 1e3 for before, after in itertools.pairwise(probes)]
    return {
        ("STARTUP", "maximum flight (segments)"): flight[at_ms < STEADY_MS].max(),
        ("DRAIN", "pacing gain"): 1 / sample_quantile(draining, 0.5),
        ("DRAIN", "lasts (ms)"): at_ms[drained] - at_ms[full],
        ("PROBE_BW", "pacing gain of the phase that probes"): 1 / sample_quantile(waits[short], 0.5),
        ("PROBE_BW", "of the phase that drains"): 1 / sample_quantile(waits[long], 0.5),
        ("PROBE_BW", "of the six others"): 1 / sample_quantile(waits[~short & ~long], 0.5),
        ("PROBE_BW", "maximum flight (segments)"): flight[(at_ms >= STEADY_MS) & (at_ms < PROBES_MS)].max(),
        ("PROBE_BW", "cycle of eight phases (ms)"): (begins[-1] - begins[0]) / (len(begins) - 1),
        ("PROBE_RTT", "first begins (s)"): probes[0][0] / 1e3,
        ("PROBE_RTT", "from the end of one to the next (s)"): np.mean(between),
        ("PROBE_RTT", "least flight (segments)"): min(least),
        ("PROBE_RTT", "at the least flight (ms)"): np.mean(held),
    }


VERSION = Version(
    name="bbr-states",
    sources=("BBR draft", "BBR draft, worked"),
    settings={},
    links={"slow": measured, "fast": startup},
    wanted=WANTED,
)
BBR_STATES = Experiment(
    name="bbr-states",
    title="BBR's states",
    value="ours",
    source=VERSION.runs(),
    about=(
        "One flow of BBR alone on a link that carries a segment in 1 ms. The minimum RTT is 40 ms, the queue is "
        "unlimited, and the receiver sends an ACK for every segment. A rate is derived from the median interval "
        "between two segments, as a multiple of the link rate. The first three rows use a link with a hundred times "
        "the rate, which seven round trips of STARTUP do not fill. The gain there is relative to the initial window "
        "per round trip. The scenario is `tcp-bbr`.",
        "`BBR draft` are statements of draft-cardwell-iccrg-bbr-congestion-control-00. `BBR draft, worked` are values "
        "derived from it by hand for this link, with Linux's additions. They are pacing 1 % below the rate, space for "
        "three bursts, and whole segments and ACKs, one per millisecond. The slower pacing makes every gain 1 % lower "
        "than in the draft. The tests derive the same figures by hand; they are in "
        "`crates/tcp/src/congestion/bbr/tests.rs`.",
        "STARTUP falls behind once: the initial ten segments return together, and so do their rate samples. The "
        "samples of the second round trip only reach its full rate with its last ACKs. After that each round trip "
        "carries twice as much as the previous one.",
        "Origin of the figures: 2/ln 2 = 2.885 is the minimum gain that doubles the sent data (section 4.3.2.1), and "
        "its inverse drains (4.3.3). The gains of PROBE_BW are 1.25, 0.75 and six times 1 (4.3.4.1). If no shorter "
        "RTT was observed for 10 s, the window is four segments for at least 200 ms and a round trip (4.3.5).",
    ),
)
