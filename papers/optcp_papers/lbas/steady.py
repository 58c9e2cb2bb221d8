"""Drop rate of NewReno in steady congestion avoidance at a given throughput.

# Model

The window falls to half at each loss event and grows by one segment per round trip in between. With a mean window of W
segments there is one loss event per 2 W^2 / 3 segments. An upper bound follows if a whole window is lost at each event.
One loss is then repaired per round trip, in which half a window is sent, and the drop share is 2 / (3 W). No sender
that repairs like NewReno and avoids timeouts drops more.

# References

Mathis and others, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR 27(3), 1997,
section 2, for a receiver that acknowledges every segment. From w / 2 to w the window takes w / 2 round trips with 3 w^2
/ 8 segments, and W = 3 w / 4. For the upper bound, w round trips of repair with w^2 / 2 segments follow. Then W = 7 w /
12, and the share is w in 7 w^2 / 8 = 8 / (7 w) = 2 / (3 W).

# Parameters

Throughput of a lightpath including all its traffic, its flows, and the mean queue, which delays both data and ACKs.

# Limitations

All flows are equal. Slow starts and timeouts are ignored.
"""

from typing import NamedTuple

SEGMENT_BYTES, ACK_BYTES = 1500, 48
PROPAGATION_S = 0.1


class Steady(NamedTuple):
    """Drop rate of a lightpath.

    Attributes
    ----------
    window_segments
        Mean window of a flow, in segments.
    law_mbps
        Drop rate with one drop per loss event.
    most_mbps
        Drop rate with a whole window per loss event.
    """

    window_segments: float
    law_mbps: float
    most_mbps: float


def steady(throughput_mbps: float, flows: int, queue_mb: float, rate_mbps: float) -> Steady:
    """Return the drop rate at this throughput.

    Parameters
    ----------
    throughput_mbps
        Throughput of a lightpath: data of its flows in one direction, and ACKs of as many segments in the other.
    flows
        Number of flows that share it.
    queue_mb
        Mean queue before it, in MB.
    rate_mbps
        Rate of the lightpath.
    """
    data_mbps = throughput_mbps * SEGMENT_BYTES / (SEGMENT_BYTES + ACK_BYTES)
    round_trip_s = PROPAGATION_S + 2 * 8 * queue_mb / rate_mbps
    window = data_mbps * 1e6 / flows * round_trip_s / (8 * SEGMENT_BYTES)
    return Steady(window, data_mbps * 1.5 / window**2, data_mbps * 2 / (3 * window))
