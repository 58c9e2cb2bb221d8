"""Probes: flows with one packet in flight, which measure the delays of a path without queues."""

import numpy as np
from numpy.typing import NDArray

from optcp.study import Run
from optcp_papers.gmpls.paper import PS

ONE_PACKET = {
    "tcp.all.window_limit": "1 packets",
    "parameters.flows_per_source": 1,
    "observe": [{"name": "packets", "kind": "packets"}],
}
"""Window of one packet, so the flow has no other packet in flight. With one source there is no other flow either."""


def one_way_ps(run: Run, start_s: float, end_s: float) -> tuple[set[int], set[int]]:
    """Return the distinct delays of data packets that a single flow sent in (start, end], and of their ACKs."""
    tables = (run["packets"].where(event=event) for event in ("sent", "arrived", "acked"))
    times = (dict(zip(table["seq"].tolist(), table["time_ps"].tolist(), strict=True)) for table in tables)
    sent, arrived, acked = times
    data, acks = set(), set()
    for segment, at in sent.items():
        # An ACK carries the number of the next expected segment.
        if start_s * PS < at <= end_s * PS and segment + 1 in acked:
            data.add(arrived[segment] - at)
            acks.add(acked[segment + 1] - arrived[segment])
    return data, acks


def shortest_round_trips_ps(run: Run) -> NDArray[np.int64]:
    """Return the shortest RTT of each flow, of a packet that met no other; int64[flows]."""
    packets = run["packets"]
    shortest = []
    for flow in packets.distinct("flow"):
        sent, acked = (packets.where(flow=flow, event=event)["time_ps"] for event in ("sent", "acked"))
        # With one packet in flight, each packet is acknowledged before the next one is sent.
        shortest.append((acked - sent[: acked.size]).min())
    return np.array(shortest)
