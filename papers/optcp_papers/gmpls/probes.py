"""Probes: flows of one packet at a time, whose delays are those of the path they take and nothing more."""

import numpy as np
from numpy.typing import NDArray

from optcp.study import RunData
from optcp_papers.gmpls.paper import PS

ONE_PACKET = {
    "tcp.all.window_limit": "1 packets",
    "parameters.flows_per_source": 1,
    "observe": [{"name": "packets", "kind": "packets"}],
}
"""A window of one packet: nothing else of the flow is in flight. With one source no other flow is, either."""


def one_way_ps(run: RunData, start_s: float, end_s: float) -> tuple[set[int], set[int]]:
    """Delays of the data packets that a single flow sent in (start, end], and of their ACKs; each value once."""
    packets = run.series["packets"]
    time_ps = packets["time_ps"].astype(np.int64)
    sent, arrived, acked = (
        dict(zip(packets["seq"][_is(run, event)].tolist(), time_ps[_is(run, event)].tolist(), strict=True))
        for event in ("sent", "arrived", "acked")
    )
    data, acks = set(), set()
    for segment, at in sent.items():
        # An ACK carries the number of the segment that it waits for.
        if start_s * PS < at <= end_s * PS and segment + 1 in acked:
            data.add(arrived[segment] - at)
            acks.add(acked[segment + 1] - arrived[segment])
    return data, acks


def shortest_round_trips_ps(run: RunData) -> NDArray[np.int64]:
    """The shortest round trip of each flow: that of a packet that met no other one, int64[flows]."""
    packets = run.series["packets"]
    time_ps, flow = packets["time_ps"].astype(np.int64), packets["flow"]
    shortest = []
    for one in np.unique(flow):
        sent, acked = (time_ps[_is(run, event) & (flow == one)] for event in ("sent", "acked"))
        # One packet at a time: each is acknowledged before the next is sent.
        shortest.append((acked - sent[: acked.size]).min())
    return np.array(shortest)


def _is(run: RunData, event: str) -> NDArray[np.bool_]:
    packets = run.series["packets"]
    result: NDArray[np.bool_] = packets["event"] == packets["events"].index(event)
    return result
