"""Spurious timeouts: RTOs for segments that were delayed by a longer path, not dropped."""

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import Table
from optcp.study import Run
from optcp_papers.gmpls.paper import PS

OBSERVE = [{"name": "senders", "kind": "tcp"}, {"name": "packets", "kind": "packets"}]
"""Observations that a run needs."""


def count_timeouts(run: Run, start_s: float, end_s: float) -> tuple[int, int]:
    """Count the RTOs in (start, end], and those whose segment no port had dropped before.

    An RTO retransmits the oldest segment without an ACK. Its number is the highest ACK received before. At equal
    times an RTO precedes an ACK.
    """
    senders, packets = run["senders"], run["packets"]
    time_ps = senders["time_ps"]
    fired = senders.is_("cause", "timer") & (time_ps > round(start_s * PS)) & (time_ps <= round(end_s * PS))
    at, flow = time_ps[fired], senders.coded("flow")[0][fired].astype(np.int64)
    oldest = _highest_ack_before(packets, at, flow)
    lost = packets.rows(packets.is_("event", "dropped") & ~packets["ack"])
    segments, first = np.unique(_pair(lost.coded("flow")[0], lost["seq"]), return_index=True)
    lost_at = lost["time_ps"][first]  # rows are in order of time
    if not segments.size:
        return at.size, at.size
    wanted = _pair(flow, oldest)
    place = np.minimum(np.searchsorted(segments, wanted), segments.size - 1)
    dropped = (segments[place] == wanted) & (lost_at[place] <= at)
    return at.size, int(np.sum(~dropped))


def _highest_ack_before(packets: Table, at: NDArray[np.int64], flow: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the highest ACK that each flow had received before each time; 0 if none."""
    acked = packets.where(event="acked")
    acked_flow, acked_at = acked.coded("flow")[0], acked["time_ps"]
    highest = np.zeros(at.size, dtype=np.int64)
    for number in np.unique(flow):
        own, wanted = acked_flow == number, flow == number
        running = np.concatenate([[0], np.maximum.accumulate(acked["seq"][own])])
        highest[wanted] = running[np.searchsorted(acked_at[own], at[wanted], side="left")]
    return highest


def _pair(flow: NDArray[np.integer], seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """Combine flow and segment number into one integer."""
    return (flow.astype(np.int64) << 32) + seq.astype(np.int64)
