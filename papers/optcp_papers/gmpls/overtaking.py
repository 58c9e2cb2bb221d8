"""Overtaken segments and spurious retransmissions, counted packet by packet."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import Table
from optcp.study import Run
from optcp_papers.gmpls.paper import PS

OBSERVE = [{"name": "packets", "kind": "packets"}]
"""Observations that a run needs."""


def count_overtaken(run: Run, start_s: float, end_s: float) -> int:
    """Count arrivals in (start, end] of segments overtaken by a later segment of the same flow.

    Segments retransmitted before the arrival are not counted, because either transmission may have arrived.
    """
    packets = run["packets"]
    time_ps, flow, seq = _columns(packets)
    resent_at = _first(packets, packets.is_("event", "resent"))
    arrived = np.flatnonzero(packets.is_("event", "arrived"))
    order = arrived[np.argsort(flow[arrived], kind="stable")]  # grouped by flow, each in order of time
    reached = _highest_before(flow[order], seq[order])
    within = (time_ps[order] > round(start_s * PS)) & (time_ps[order] <= round(end_s * PS))
    late = order[within & (seq[order] < reached)]
    first_resent_at = _at(resent_at, flow[late], seq[late])
    return int(np.sum(first_resent_at > time_ps[late]))


def count_spurious(run: Run, start_s: float, end_s: float) -> int:
    """Count retransmissions in (start, end] of segments that no port had dropped before."""
    packets = run["packets"]
    time_ps, flow, seq = _columns(packets)
    dropped_at = _first(packets, packets.is_("event", "dropped") & ~packets["ack"])
    resent = packets.is_("event", "resent") & (time_ps > round(start_s * PS)) & (time_ps <= round(end_s * PS))
    return int(np.sum(_at(dropped_at, flow[resent], seq[resent]) > time_ps[resent]))


def _columns(packets: Table) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return time, flow number and segment number of each row."""
    return packets["time_ps"], packets.coded("flow")[0].astype(np.int64), packets["seq"]


def _first(packets: Table, rows: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the segments of some rows, sorted, and the time of each one's first row. Rows are in order of time."""
    time_ps, flow, seq = _columns(packets)
    segments, first = np.unique(_pair(flow[rows], seq[rows]), return_index=True)
    return segments, time_ps[rows][first]


def _at(
    known: tuple[NDArray[np.int64], NDArray[np.int64]], flow: NDArray[np.int64], seq: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the time of the event for each segment; the maximum integer if it never happened."""
    segments, when = known
    never = np.full(flow.size, np.iinfo(np.int64).max)
    if not segments.size:
        return never
    wanted = _pair(flow, seq)
    place = np.minimum(np.searchsorted(segments, wanted), segments.size - 1)
    return np.where(segments[place] == wanted, when[place], never)


def _highest_before(flow: NDArray[np.int64], seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the highest number in earlier rows of the same flow; -1 for its first row. Rows are grouped by flow."""
    # Adding a base that grows from flow to flow lets one pass serve all flows.
    base = flow << 32
    highest = np.maximum.accumulate(base + seq)
    before = np.concatenate([[-1], highest[:-1]])
    return np.where(before >= base, before - base, -1)


def _pair(flow: NDArray[Any], seq: NDArray[Any]) -> NDArray[np.int64]:
    """Combine flow and segment number into one integer."""
    return (flow.astype(np.int64) << 32) + seq.astype(np.int64)
