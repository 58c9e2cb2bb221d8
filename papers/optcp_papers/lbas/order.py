"""Packet order within a flow, in a small, slow copy of the network under each selection of a lightpath.

Order depends on the sequence of transmissions, not on the rate. At a hundredth of the rates every packet can be
traced.
"""

from typing import NamedTuple

import numpy as np

from optcp.papers.kit import Axis, Chosen, Grid, Options, Run, StudyResult
from optcp_papers.lbas.paper import SCENARIO, overrides

ORDER = "order of packets"
_SMALL = {
    "stop": "4 s",
    "parameters.rate": "100 Mbps",
    "parameters.buffer": "125 kB",
    "parameters.far_buffer": "125 kB",
    "parameters.hosts": 2,
    "observe": [{"name": "reordering", "kind": "reordering"}, {"name": "packets", "kind": "packets"}],
}
WAYS: dict[str, dict[str, str]] = {
    "least unfinished work": {"parameters.selection": "anycast"},
    "fewest packets": {"parameters.selection": "fewest-packets"},
    "round-robin": {"parameters.selection": "round-robin"},
    "least unfinished work, SACK": {"parameters.selection": "anycast", "tcp.all.recovery": "sack"},
    "least unfinished work, lightpaths of unlike length": {
        "parameters.selection": "anycast",
        "parameters.lightpath_delay": "uniform(0 ms, 1 ms)",
    },
}
KEPT, BROKEN = ("least unfinished work",), ("fewest packets", "round-robin")
"""Selections that keep the order according to the paper, and those that do not; the others are control cases."""


class Overtaken(NamedTuple):
    """Number of packets that arrived after a packet sent later, and number of all packets.

    ``acks`` is a lower bound (see :func:`count`).
    """

    segments: int
    acks: int
    sent: int


def grid(chosen: Chosen, options: Options) -> Grid:
    """Return a grid with one branch per selection."""
    return options.grid(SCENARIO, {**overrides(chosen), **_SMALL}, {"selection": WAYS}, "lbas, order of packets")


def overtaken(done: StudyResult) -> dict[str, Overtaken]:
    """Return the counts by selection, over all seeds."""
    counts = done.each(count, Axis("count", Overtaken._fields)).values.sum(axis=0)
    return {way: Overtaken(*map(int, of_way)) for way, of_way in zip(WAYS, counts, strict=True)}


def count(run: Run) -> Overtaken:
    """Count the segments and ACKs of a run that were overtaken by a packet of the same flow.

    An ACK was overtaken if its cumulative number is lower than in an earlier arrival. Duplicate ACKs have equal
    numbers, so their order is unknown and the count of ACKs is a lower bound.
    """
    acked = run["packets"].where(event="acked")
    flow, seq = acked.coded("flow")[0], acked["seq"]
    # Group by flow, each in order of time, to find cumulative numbers that fall.
    order = np.argsort(flow, kind="stable")
    same = np.diff(flow[order].astype(np.int64)) == 0
    acks = int(np.sum(same & (np.diff(seq[order]) < 0)))
    segments = len(run["reordering"].where(event="overtaken"))
    return Overtaken(segments, acks, len(run["packets"].where(event="sent")))
