"""Buffers in closed form, without the simulator: utilisation in steady state, and the queue after a switchover."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

PACKET_BYTES = 1500
ROUND_TRIPS = 10
"""RTTs of the protection path after the switchover that the buffer covers."""
BETA = {"reno": 0.5, "cubic": 0.7, "bbr": 1.0}
"""Share of the window that a loss leaves (RFC 5681, RFC 9438; losses do not reduce the rate of BBR)."""
NEEDED = {"reno": 1.0, "cubic": 3 / 7, "bbr": 1 / 4}
"""Buffer of one flow for a full link in BDP: (1 - beta) / beta, and the excess of BBR's gain of 5/4."""
CUBIC_C = 0.4
"""Growth of CUBIC in segments per cubed second (RFC 9438 section 5)."""
PROBE_RTT_S, PROBE_RTT_EVERY_S = 0.2, 10.0
"""Time in which BBR keeps its pipe empty, and time between two of them."""


def utilisation(tcp: str, flows: int, buffer_bdp: float) -> float:
    """Return the share of a link that long-lived flows use with a drop-tail buffer, given in BDP."""
    if tcp == "bbr":
        # A cycle has one RTT with a gain of 5/4 and one with 3/4; the queue of the first feeds the second.
        lost = max(0.0, NEEDED["bbr"] - buffer_bdp) / 8 if flows == 1 else 0.0
        return (1 - lost) * PROBE_RTT_EVERY_S / (PROBE_RTT_EVERY_S + PROBE_RTT_S)
    if flows > 1:
        return math.erf(buffer_bdp * math.sqrt(flows) / (2 * math.sqrt(2) * _variation(tcp) * (1 + buffer_bdp)))
    b = buffer_bdp
    if b >= NEEDED[tcp]:
        return 1.0
    if tcp == "reno":
        # The window grows by a segment per RTT, and the RTT is constant below a BDP, then proportional to the window.
        return 3 * (1 + b) ** 2 / (4 * (1 + b + b * b))
    # The window grows in time: w (1 - (1 - beta) (1 - t)^3) BDP for t from 0 to 1.
    w, drop = 1 + b, 1 - BETA[tcp]
    full: float = ((w - 1) / (w * drop)) ** (1 / 3)
    return w * (1 - full - drop * (1 - full**4) / 4) + full


def _variation(tcp: str) -> float:
    """Return standard deviation over mean of a window between two losses."""
    if tcp == "reno":
        return 1 / (3 * math.sqrt(3))
    drop = 1 - BETA[tcp]
    return drop * math.sqrt(1 / 7 - 1 / 16) / (1 - drop / 4)


@dataclass(frozen=True)
class Flows:
    """Flows of one kind that share a link after a switchover.

    Attributes
    ----------
    count
        Number of flows.
    rate_bps
        Rate of the access link of each flow.
    before_s, after_s
        RTT without queues, before and after the switchover.
    failed
        Whether packets were lost at the switchover, so that windows are reduced.
    """

    count: float
    rate_bps: float
    before_s: float
    after_s: float
    failed: bool = False

    def window_s(self, tcp: str, queueing_s: float, horizon_s: float, access: float) -> float:
        """Return the window at the end of the horizon, in seconds of the access rate.

        Parameters
        ----------
        queueing_s
            Queueing delay at the shared link.
        horizon_s
            Time since the switchover.
        access
            Buffer in front of the access link, in BDP.
        """
        left = BETA[tcp] if self.failed else 1.0
        if tcp == "bbr":
            # At most two BDP in flight, by the minimum RTT of ten seconds.
            return 2 * min(self.before_s, self.after_s)
        segment_s = 8 * PACKET_BYTES / self.rate_bps
        most = (1 + access) * self.before_s
        if tcp == "reno":
            # Mean over time between two losses at the access link, then a segment per RTT.
            return left * 7 / 9 * most + horizon_s / (self.after_s + queueing_s) * segment_s
        # Mean over the cubic curve, continued for the horizon.
        drop = 1 - BETA[tcp]
        period_s: float = (most / segment_s * drop / CUBIC_C) ** (1 / 3)
        return left * most * (1 - drop / 4 * max(0.0, 1 - horizon_s / period_s) ** 4)


def switchover_bytes(tcp: str, flows: Sequence[Flows], capacity_bps: float, rtt_s: float, access: float = 1.0) -> float:
    """Return the maximum queue in the first RTTs after a switchover, in bytes.

    Each flow sends at most its access rate, and at most a window per RTT. The queueing delay is the one at which the
    sum is the capacity of the link. The queue cannot grow faster than the access links send.
    """
    horizon_s = ROUND_TRIPS * rtt_s

    def sent_bps(queueing_s: float) -> float:
        return sum(
            kind.count * kind.rate_bps
            * min(1.0, kind.window_s(tcp, queueing_s, horizon_s, access) / (kind.after_s + queueing_s))
            for kind in flows
        )  # fmt: skip

    if sent_bps(0.0) <= capacity_bps:
        return 0.0
    low, high = 0.0, 1.0
    while sent_bps(high) > capacity_bps:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sent_bps(middle) > capacity_bps else (low, middle)
    offered_bps = sum(kind.count * kind.rate_bps for kind in flows)
    return min(low * capacity_bps, (offered_bps - capacity_bps) * horizon_s) / 8
