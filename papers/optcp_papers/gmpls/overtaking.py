"""Segments that were overtaken, and segments sent again without need: packet by packet."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.study import RunData
from optcp_papers.gmpls.paper import PS

OBSERVE = [{"name": "packets", "kind": "packets"}]
"""What a run must observe."""


def count_overtaken(run: RunData, start_s: float, end_s: float) -> int:
    """Arrivals in (start, end] below a number that had arrived before, of segments that had not been sent again.

    Once a segment has been sent again, an arrival may be either transmission and is not counted.
    """
    packets = run.series["packets"]
    time_ps, flow, seq = (packets[name].astype(np.int64) for name in ("time_ps", "flow", "seq"))
    resent_at = _first(packets, _is(packets, "resent"), time_ps)
    arrived = np.flatnonzero(_is(packets, "arrived"))
    order = arrived[np.argsort(flow[arrived], kind="stable")]  # flow by flow, each in order of time
    reached = _highest_before(flow[order], seq[order])
    within = (time_ps[order] > round(start_s * PS)) & (time_ps[order] <= round(end_s * PS))
    late = order[within & (seq[order] < reached)]
    again = _at(resent_at, flow[late], seq[late])
    return int(np.sum(again > time_ps[late]))


def count_needless(run: RunData, start_s: float, end_s: float) -> int:
    """Segments sent again in (start, end] of which no port had dropped a transmission until then."""
    packets = run.series["packets"]
    time_ps, flow, seq = (packets[name].astype(np.int64) for name in ("time_ps", "flow", "seq"))
    dropped_at = _first(packets, _is(packets, "dropped") & ~packets["ack"], time_ps)
    resent = _is(packets, "resent") & (time_ps > round(start_s * PS)) & (time_ps <= round(end_s * PS))
    return int(np.sum(_at(dropped_at, flow[resent], seq[resent]) > time_ps[resent]))


def _is(packets: dict[str, NDArray[np.uint64]], event: str) -> NDArray[np.bool_]:
    result: NDArray[np.bool_] = packets["event"] == list(packets["events"]).index(event)
    return result


def _first(
    packets: dict[str, NDArray[np.uint64]], rows: NDArray[np.bool_], time_ps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segments that rows are about, sorted, and when the first row of each was; rows are in order of time."""
    segments, first = np.unique(_pair(packets["flow"][rows], packets["seq"][rows]), return_index=True)
    return segments, time_ps[rows][first]


def _at(
    known: tuple[NDArray[np.int64], NDArray[np.int64]], flow: NDArray[np.int64], seq: NDArray[np.int64]
) -> NDArray[np.int64]:
    """When it happened to each of these segments; later than every run where it never did."""
    segments, when = known
    never = np.full(flow.size, np.iinfo(np.int64).max)
    if not segments.size:
        return never
    wanted = _pair(flow, seq)
    place = np.minimum(np.searchsorted(segments, wanted), segments.size - 1)
    return np.where(segments[place] == wanted, when[place], never)


def _highest_before(flow: NDArray[np.int64], seq: NDArray[np.int64]) -> NDArray[np.int64]:
    """The highest number of the rows of the same flow before each row; -1 where it is the first. Flow by flow."""
    # One number that grows from flow to flow lets a single pass serve all of them.
    base = flow << 32
    highest = np.maximum.accumulate(base + seq)
    before = np.concatenate([[-1], highest[:-1]])
    return np.where(before >= base, before - base, -1)


def _pair(flow: NDArray[Any], seq: NDArray[Any]) -> NDArray[np.int64]:
    """One number for a segment of a flow."""
    return (flow.astype(np.int64) << 32) + seq.astype(np.int64)
