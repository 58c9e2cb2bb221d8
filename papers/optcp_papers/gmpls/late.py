"""Timeouts of segments that were only late: never dropped, but on a path that has become longer."""

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import Table
from optcp.study import Run
from optcp_papers.gmpls.paper import PS

OBSERVE = [{"name": "senders", "kind": "tcp"}, {"name": "packets", "kind": "packets"}]
"""What a run must observe."""


def count_timeouts(run: Run, start_s: float, end_s: float) -> tuple[int, int]:
    """Timeouts in (start, end], and those of them whose segment no port had dropped until then.

    A timer that expires sends the oldest segment without an ACK again, so its segment is the number in the highest ACK
    that came before. A timer goes before an ACK of the same instant.
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
    """The highest ACK that a sender had before each instant; 0 where it had none."""
    acked = packets.where(event="acked")
    whose, when = acked.coded("flow")[0], acked["time_ps"]
    highest = np.zeros(at.size, dtype=np.int64)
    for one in np.unique(flow):
        mine, asked = whose == one, flow == one
        ladder = np.concatenate([[0], np.maximum.accumulate(acked["seq"][mine])])
        highest[asked] = ladder[np.searchsorted(when[mine], at[asked], side="left")]
    return highest


def _pair(flow: NDArray[np.integer], seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for a segment of a flow."""
    return (flow.astype(np.int64) << 32) + seq.astype(np.int64)
