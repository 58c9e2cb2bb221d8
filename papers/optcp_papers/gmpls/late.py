"""Timeouts of segments that were only late: never dropped, but on a path that has become longer."""

import numpy as np
from numpy.typing import NDArray

from optcp.study import RunData
from optcp_papers.gmpls.paper import PS

OBSERVE = [{"name": "senders", "kind": "tcp"}, {"name": "packets", "kind": "packets"}]
"""What a run must observe."""


def count_timeouts(run: RunData, start_s: float, end_s: float) -> tuple[int, int]:
    """Timeouts in (start, end], and those of them whose segment no port had dropped until then.

    A timer that expires sends the oldest segment without an ACK again, so its segment is the number in the highest ACK
    that came before. A timer goes before an ACK of the same instant.
    """
    senders, packets = run.series["senders"], run.series["packets"]
    time_ps = senders["time_ps"].astype(np.int64)
    fired = (senders["cause"] == senders["causes"].index("timer")) & (time_ps > round(start_s * PS))
    fired &= time_ps <= round(end_s * PS)
    at, flow = time_ps[fired], senders["flow"][fired].astype(np.int64)
    oldest = _highest_ack_before(packets, at, flow)
    lost = (packets["event"] == packets["events"].index("dropped")) & ~packets["ack"]
    segments, first = np.unique(_pair(packets["flow"][lost], packets["seq"][lost]), return_index=True)
    lost_at = packets["time_ps"][lost].astype(np.int64)[first]  # rows are in order of time
    if not segments.size:
        return at.size, at.size
    wanted = _pair(flow, oldest)
    place = np.minimum(np.searchsorted(segments, wanted), segments.size - 1)
    dropped = (segments[place] == wanted) & (lost_at[place] <= at)
    return at.size, int(np.sum(~dropped))


def _highest_ack_before(
    packets: dict[str, NDArray[np.uint64]], at: NDArray[np.int64], flow: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The highest ACK that a sender had before each instant; 0 where it had none."""
    acked = packets["event"] == list(packets["events"]).index("acked")
    whose, when = packets["flow"][acked].astype(np.int64), packets["time_ps"][acked].astype(np.int64)
    highest = np.zeros(at.size, dtype=np.int64)
    for one in np.unique(flow):
        mine, asked = whose == one, flow == one
        ladder = np.concatenate([[0], np.maximum.accumulate(packets["seq"][acked][mine].astype(np.int64))])
        highest[asked] = ladder[np.searchsorted(when[mine], at[asked], side="left")]
    return highest


def _pair(flow: NDArray[np.int64], seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for a segment of a flow."""
    return (flow.astype(np.int64) << 32) + seq.astype(np.int64)
