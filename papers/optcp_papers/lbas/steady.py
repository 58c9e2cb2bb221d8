"""What a NewReno in steady congestion avoidance drops at a given throughput.

# Models

A sender whose window falls to a half at each loss event and grows by a segment a round trip in between. Of mean window
W segments it has one loss event in 2 W^2 / 3 segments. If it loses a whole window at each event, and repairs one loss a
round trip while it sends half a window in each, it drops the share 2 / (3 W): nobody who repairs like NewReno and stays
out of timeouts drops more.

# Source

M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR
27(3), 1997, section 2, for a receiver that acknowledges every segment: from w / 2 to w the window takes w / 2 round
trips with 3 w^2 / 8 segments, and W = 3 w / 4. The second bound: behind these come w round trips of repair with w^2 / 2
segments; so W = 7 w / 12, and the share is w in 7 w^2 / 8 = 8 / (7 w) = 2 / (3 W).

# Parameters

Throughput of a lightpath with all that is on it, its flows, and the mean queue, which both data and ACKs wait for.

# Limits

All flows are alike. Neither slow starts nor timeouts are in it.
"""

from typing import NamedTuple

SEGMENT_BYTES, ACK_BYTES = 1500, 48
PROPAGATION_S = 0.1


class Steady(NamedTuple):
    """Drops of a lightpath.

    Attributes
    ----------
    window_segments
        Mean window of a flow.
    law_mbps
        With one drop at each loss event.
    most_mbps
        With a whole window at each.
    """

    window_segments: float
    law_mbps: float
    most_mbps: float


def steady(throughput_mbps: float, flows: int, queue_mb: float, rate_mbps: float) -> Steady:
    """Drops at this throughput.

    Parameters
    ----------
    throughput_mbps
        Of a lightpath: data of its flows in one direction, and ACKs of as many segments of the other.
    flows
        That share it.
    queue_mb
        Mean queue in front of it in MB.
    rate_mbps
        What it can carry.
    """
    data_mbps = throughput_mbps * SEGMENT_BYTES / (SEGMENT_BYTES + ACK_BYTES)
    round_trip_s = PROPAGATION_S + 2 * 8 * queue_mb / rate_mbps
    window = data_mbps * 1e6 / flows * round_trip_s / (8 * SEGMENT_BYTES)
    return Steady(window, data_mbps * 1.5 / window**2, data_mbps * 2 / (3 * window))
