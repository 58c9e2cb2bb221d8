"""Queue after a switchover by a fluid model, which resolves the windows of flows.

It refines the law, and was derived after the first runs. The law takes one window for all flows of a kind. In the
model, flows are at all phases between two losses, because small windows limit some flows first. CUBIC follows its
Reno-friendly region (RFC 9438 section 4.3) where that is faster. BBR adds three bursts to two BDP, and keeps the BDP of
its old path. If the new path is shorter, packets of both paths arrive together and raise its bandwidth. No constant is
fitted.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from optcp_papers.buffers.law import BETA, CUBIC_C, PACKET_BYTES, ROUND_TRIPS, Flows

PHASES, STEPS_PER_RTT = 40, 50
FRIENDLY = 3 * (1 - BETA["cubic"]) / (1 + BETA["cubic"])
"""Growth of CUBIC in the Reno-friendly region, in segments per RTT."""
BBR_BURSTS = 3 * 2
"""Segments in three bursts of BBR."""
Array = NDArray[np.float64]
Growth = Callable[[float, Array], Array]
"""Function from the length of a step and the RTTs to the new windows, in seconds of the access rate."""


def fluid_bytes(tcp: str, flows: Sequence[Flows], capacity_bps: float, rtt_s: float, access: float = 1.0) -> float:
    """Return the maximum queue in the first RTTs after a switchover without losses, in bytes.

    Parameters as of :func:`optcp_papers.buffers.law.switchover_bytes`.
    """

    def column(of: Callable[[Flows], float]) -> Array:
        return np.array([[of(kind)] for kind in flows])

    rates = column(lambda kind: kind.count * kind.rate_bps)
    segment = column(lambda kind: 8 * PACKET_BYTES / kind.rate_bps)
    after = column(lambda kind: kind.after_s) + segment
    before = column(lambda kind: kind.before_s)
    if tcp == "bbr":
        grow = _fixed(2 * (before + segment) + BBR_BURSTS * segment)
    else:
        grow = (_reno if tcp == "reno" else _cubic)((1 + access) * before + segment, segment)
    step, queue, longest = rtt_s / STEPS_PER_RTT, 0.0, 0.0
    for _ in range(ROUND_TRIPS * STEPS_PER_RTT):
        rtt = after + queue / capacity_bps
        sent = np.minimum(1.0, grow(step, rtt) / rtt).mean(axis=1, keepdims=True)
        queue = max(0.0, queue + (float((rates * sent).sum()) - capacity_bps) * step)
        longest = max(longest, queue)
    return longest / 8


def _phases() -> Array:
    return ((np.arange(PHASES) + 0.5) / PHASES)[np.newaxis, :]


def _fixed(windows: Array) -> Growth:
    return lambda _step, _rtt: windows


def _reno(most: Array, segment: Array) -> Growth:
    # With a full access link, the window grows by a segment per window: its square grows linearly.
    windows = most * np.sqrt(0.25 + 0.75 * _phases())

    def grow(step: float, rtt: Array) -> Array:
        nonlocal windows
        windows = windows + segment * step / rtt
        return windows

    return grow


def _cubic(most: Array, segment: Array) -> Growth:
    beta = BETA["cubic"]
    period = (most / segment * (1 - beta) / CUBIC_C) ** (1 / 3)
    friendly_period = most**2 * (1 - beta**2) / (2 * FRIENDLY * segment)
    time = _phases() * np.minimum(period, friendly_period)
    friendly = np.sqrt((beta * most) ** 2 + 2 * FRIENDLY * segment * time)

    def grow(step: float, rtt: Array) -> Array:
        nonlocal time, friendly
        time = time + step
        friendly = friendly + np.where(friendly < most, FRIENDLY, 1.0) * segment * step / rtt
        return np.maximum(most + segment * CUBIC_C * (time - period) ** 3, friendly)

    return grow
