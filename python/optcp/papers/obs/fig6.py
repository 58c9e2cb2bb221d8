"""Figures 6 and 7: a burst with several segments of the flow is lost, and one with the whole window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.obs.paper import WINDOW
from optcp.papers.obs.points import point_curves, point_rows
from optcp.papers.obs.traces import TraceExhibit, curve, name, only, round_trip_s
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.papers.obs.traces import Trace
    from optcp.study import Done

SHOWN = 2
"""The number of lost segments that the figure shows."""


@exhibit
class Fig6(TraceExhibit):
    """2 to 40 consecutive segments of a window of 44 are lost."""

    id = "obs/fig6"
    title = "Congestion window of SACK around the loss of consecutive segments"
    where = "section III.B.2, Fig. 6"
    timer_s = 1e-3
    senders = ("sack",)
    lost = tuple(range(2, 41))

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """How long each recovery took, the trace of two losses, and the claim."""
        traces = {lost: done[name("sack", lost)].once(only) for lost in self.lost}
        rows: list[Row] = []
        for lost, one in traces.items():
            rows.append(row({"lost": lost}, "recovery_ms", None, stats.exact(1e3 * one.recovery_s()), ""))
            rows.append(row({"lost": lost}, "timeouts", None, stats.mean([float(one.timeouts[-1])]), ""))
        shown = traces[SHOWN]
        rows += point_rows("sack", shown, "detection")
        # A window travels as a train: its last segment brings its ACK that much after its first.
        trip = round_trip_s(chosen, self.timer_s, WINDOW)
        claims = judge.judge_each(self.id, {"sack-repairs-burst": {"sack": repairs(traces, trip)}})
        return Evaluation(rows, claims, [curve("sack", shown), *point_curves("sack", shown, "detection")])


def repairs(traces: Mapping[int, Trace], trip_s: float) -> list[Part]:
    """Judge: no timeout, cwnd held at half the flight, a round trip up to half a window and two beyond."""
    parts = []
    for lost, one in traces.items():
        first, after = one.span()
        inside = one.cwnd[first:after]
        held = bool(np.ptp(inside) == 0 and inside[0] == WINDOW / 2)
        limit = trip_s * (1 if lost <= WINDOW / 2 else 2)
        took = one.recovery_s()
        text = f"{lost} lost: {1e3 * took:.2f} ms of {1e3 * limit:.2f}, cwnd {inside.min():g} to {inside.max():g}"
        parts.append(judge.exact_part(text, took <= limit and held and bool(one.timeouts[-1] == 0)))
    return parts


@exhibit
class Fig7(TraceExhibit):
    """All 44 segments of a window are lost."""

    id = "obs/fig7"
    title = "Congestion window around the loss of a whole window"
    where = "section III.B.3, Fig. 7"
    timer_s = 1e-2
    senders = ("reno", "sack")
    lost = (WINDOW,)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Both traces, and the claim."""
        del chosen
        traces = {sender: done[name(sender, WINDOW)].once(only) for sender in self.senders}
        rows = [
            row({"recovery": sender}, metric, None, stats.mean([float(value)]), "")
            for sender, one in traces.items()
            for metric, value in (("duplicate_acks", one.duplicate_acks), ("timeouts", one.timeouts[-1]))
        ]
        claims = judge.judge_each(self.id, {"whole-window-times-out": {"both": both_time_out(*traces.values())}})
        return Evaluation(rows, claims, [curve(sender, one) for sender, one in traces.items()])


def both_time_out(reno: Trace, sack: Trace) -> list[Part]:
    """Judge: no duplicate ACK, one timeout, and the same segments at the same instants under the same window."""
    same = np.array_equal(reno.sent, sack.sent) and np.array_equal(reno.cwnd, sack.cwnd)
    return [
        *(
            judge.exact_part(f"{sender}: duplicate ACKs {one.duplicate_acks}", one.duplicate_acks == 0)
            for sender, one in (("Reno", reno), ("SACK", sack))
        ),
        judge.exact_part(f"timeouts {reno.timeouts[-1]} and {sack.timeouts[-1]}", bool(reno.timeouts[-1] == 1)),
        judge.exact_part(f"the same {len(reno.sent)} segments and windows", bool(same)),
    ]
