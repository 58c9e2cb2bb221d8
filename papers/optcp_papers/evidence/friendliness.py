"""Share of a drop-tail link between a CUBIC and a Reno flow of equal RTTs, compared with RFC 9438."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from optcp.study import Study
from optcp_papers.evidence import outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies, geometric

SCENARIO = "tcp-cubic-reno"
SEEDS = 6
SECONDS = 500
"""Simulated seconds; the first fifth is warm-up."""
PACKET_BITS = 12_000
LINKS = ((10, 10), (10, 40), (100, 10), (100, 40), (100, 100))
"""Rate in Mb/s and base RTT in ms."""
BUFFERS = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0}
"""Buffers in products of rate and base RTT."""
COUNTING = {"rfc": "bytes", "linux-6": "segments"}
"""Unit that an ACK counts, by profile."""
VARIANTS = (("rfc", 1), ("rfc", 4), ("linux-6", 1))
"""Profiles, and maximum delay of a packet in a host, in transmission times of the shared link."""
KEY = ("variant", "host time", "rate (Mb/s)", "RTT (ms)", "buffer")
CASES = [(*variant, *link, buffer) for variant in VARIANTS for link in LINKS for buffer in BUFFERS]
SOURCE = "RFC 9438, two laws"

C = 0.4
"""Constant C of RFC 9438 section 5, in segments per cubic second."""
BETA = 0.7
"""Share of the window after a reduction by CUBIC (section 4.6); after one by Reno it is 0.5."""

Windows = tuple[float, float]
"""Average windows of Reno and CUBIC in segments."""
Law = Callable[[float, float], Windows]
"""Function from a loss parameter and the RTT in seconds to the windows."""


def at_same_instants(interval_s: float, round_trip_s: float) -> Windows:
    """Return the windows if both flows lose a segment every ``interval_s`` seconds.

    Reno grows by half its peak, one segment per RTT. CUBIC returns to its peak W after K = interval
    (RFC 9438 figure 2), so W = C K^3 / (1 - beta). Figure 1 has the mean (3 + beta) / 4 of the peak. In the
    Reno-friendly region the averages are equal (section 4.3).
    """
    reno = 1.5 * interval_s / round_trip_s
    return reno, max(reno, (3 + BETA) / 4 * C / (1 - BETA) * interval_s**3)


def at_equal_probability(p: float, round_trip_s: float) -> Windows:
    """Return the windows if each segment is lost with probability ``p``: response functions (RFC 9438 section 5.1)."""
    reno = math.sqrt(1.5 / p)
    return reno, max(reno, (C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25 * (round_trip_s / p) ** 0.75)


def expected(law: Law, rate_bps: float, round_trip_s: float, buffer_packets: int) -> float:
    """Return CUBIC's window over Reno's if both peaks together fill link and buffer.

    The RTT follows from the average windows, and is at least ``round_trip_s``.
    """
    capacity = rate_bps / PACKET_BITS
    held = capacity * round_trip_s + buffer_packets
    present = round_trip_s
    reno = cubic = 1.0
    for _ in range(100):
        reno, cubic = _filling(held, law, present)
        present = max(round_trip_s, (reno + cubic) / capacity)
    return cubic / reno


def _filling(held: float, law: Law, round_trip_s: float) -> Windows:
    """Return the windows of a law whose peaks add up to ``held``, by bisection over 24 decades of its argument."""
    low, high = -12.0, 12.0
    rising = _peaks(law(10**high, round_trip_s)) > held
    for _ in range(100):
        middle = (low + high) / 2
        if (_peaks(law(10**middle, round_trip_s)) > held) == rising:
            high = middle
        else:
            low = middle
    return law(10**low, round_trip_s)


def _peaks(windows: Windows) -> float:
    """Return the sum of peaks: 2 / (1 + b) of the mean for a sawtooth that keeps a share b, 4 / (3 + b) for a cubic."""
    reno, cubic = windows
    return reno / 0.75 + cubic / ((3 + BETA) / 4 if cubic > reno else (1 + BETA) / 2)


def figure(rate_mbps: int, round_trip_ms: int, buffer_packets: int) -> outside.Figure:
    """Return the expectation by RFC 9438: the range between the two laws."""
    world = (rate_mbps * 1e6, round_trip_ms / 1e3, buffer_packets)
    ends = sorted(expected(law, *world) for law in (at_same_instants, at_equal_probability))
    text = " to ".join(dict.fromkeys(f"{end:.2f}" for end in ends))
    return outside.Figure(SOURCE, "friendliness", {}, text, *outside.printed_range(text))


def packets(rate_mbps: int, round_trip_ms: int, buffer: str) -> int:
    """Convert a buffer to whole packets."""
    return max(1, round(BUFFERS[buffer] * rate_mbps * 1e3 * round_trip_ms / PACKET_BITS))


def settings(profile: str, host_time: int, rate_mbps: int, round_trip_ms: int, buffer: str) -> dict[str, str]:
    """Return scenario overrides; delays vary by one transmission time of the shared link per RTT."""
    packet_ms = PACKET_BITS / (rate_mbps * 1e3)
    middle = round_trip_ms / 2 - 1
    delay = f"uniform({middle - packet_ms / 4:.4g} ms, {middle + packet_ms / 4:.4g} ms)"
    return {
        "parameters.profile": profile,
        "parameters.counting": COUNTING[profile],
        "parameters.rate": f"{rate_mbps} Mbps",
        "parameters.cubic_delay": delay,
        "parameters.reno_delay": delay,
        "parameters.host_time": f"{host_time * packet_ms:g} ms",
        "parameters.buffer": f"{packets(rate_mbps, round_trip_ms, buffer)} packets",
        "parameters.interval": f"{SECONDS // 5} s",
        "stop": f"{SECONDS} s",
    }


def studies(seeds: int | None) -> Studies:
    """Return all cases."""
    cases = {", ".join(map(str, case)): settings(*case) for case in CASES}
    return {"all": Study(SCENARIO, {"case": cases}, seeds=seeds or SEEDS)}


def find(done: Found) -> Figures:
    """Yield CUBIC's goodput over Reno's, by rate, RTT and buffer."""
    goodput = done["all"]["goodput"].between("100 s", "500 s")
    logs = (goodput.at(group="cubic") / goodput.at(group="reno")).each(np.log)
    for case, (_, ours) in zip(CASES, logs.mean(), strict=True):
        _, _, rate, round_trip, buffer = case
        expected = figure(rate, round_trip, packets(rate, round_trip, buffer))
        yield dict(zip(KEY, map(str, case), strict=True)), geometric(ours), expected


FRIENDLINESS = Experiment(
    name="friendliness",
    title="CUBIC and Reno on one link",
    value="CUBIC / Reno",
    digits=2,
    source=Runs(SCENARIO, studies, find),
    about=(
        "A greedy flow with CUBIC and one with Reno's growth share a drop-tail link. All other settings are equal, "
        "and their base RTTs differ by at most one transmission time of the link. The variant is the profile of both, "
        "with SACK. The buffer is in products of rate and RTT. The host time, in transmission times of the link, is "
        "the maximum delay of a packet in a host (`jitter`). The figure is the geometric mean over runs of CUBIC's "
        "goodput divided by Reno's, from 100 s to 500 s. The scenario is `tcp-cubic-reno`.",
        "RFC 9438 promises Reno's throughput on links that hold few packets (section 4.3), and more for CUBIC beyond. "
        "Its formulas give the amount for a given rule of losses when the queue is full. Both flows lose packets at "
        "the same time, or each in proportion to its rate. Two flows on a drop-tail link are between these cases, so "
        "the external range extends from one law to the other. It is a single figure if both are in the Reno-friendly "
        "region. The laws hold for average windows and ignore timeouts. They take the larger of the two averages, "
        "whereas CUBIC takes the larger of two windows at every time. Rows next to the end of the region, where both "
        "matter, may therefore exceed them. A buffer of 2 packets (10 Mb/s, 10 ms, 1/4) is dominated by timeouts.",
        "In the Reno-friendly region CUBIC has 15 to 45 % more than Reno with `rfc` and a host time of 1. The reason "
        "is not the growth, as the rows with a host time of 4 show. It is a phase effect (Floyd and Jacobson, 1992, "
        "as above). An ACK that increases the window releases two packets together, of which the second finds the "
        "queue full. Reno grows by a segment 17 times while CUBIC does so 9 times. Longer host times separate the "
        "pair. With the delayed ACKs of `linux-6` every ACK releases two packets anyway.",
        "Ha, Rhee and Xu, CUBIC: a new TCP-friendly high-speed TCP variant, 2008, publish their measurements as "
        "figure 10, without numbers. Two people interpret it in the discussion of RFC 9438 (issue 92 of "
        "NTAP/rfc8312bis). To one of its authors it is friendly, though not exactly fair, at 10 ms for 10 to 400 "
        "Mb/s. To a reviewer CUBIC takes more from 40 ms on. The rows agree with both.",
    ),
)
