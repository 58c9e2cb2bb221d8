"""Figures 3 and 4: one segment is lost, with Reno and with SACK."""

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

LOST = 1
TIMER_S = 1e-5


def _rows(sender: str, one: Trace) -> list[Row]:
    key: dict[str, str | int | float] = {"recovery": sender}
    recovery = row(key, "recovery_ms", None, stats.exact(1e3 * one.recovery_s()), "")
    return [recovery, row(key, "timeouts", None, stats.mean([float(one.timeouts[-1])]), "")]


@exhibit
class Fig3(TraceExhibit):
    """A segment in a burst of its own is lost while the window is at the receiver's limit."""

    id = "obs/fig3"
    title = "Congestion window of Reno around the loss of one segment"
    where = "section III.B.1, Fig. 3"
    timer_s = TIMER_S
    senders = ("reno",)
    lost = (LOST,)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The trace, how long recovery took, and the claim."""
        one = done[name("reno", LOST)].once(only)
        parts = reno_steps(one, round_trip_s(chosen, TIMER_S))
        claims = judge.judge_each(self.id, {"reno-one-loss": {"reno": parts}})
        rows = [*_rows("reno", one), *point_rows("reno", one, "loss")]
        return Evaluation(rows, claims, [curve("reno", one), *point_curves("reno", one, "loss")])


@exhibit
class Fig4(TraceExhibit):
    """The same loss with SACK, and with Reno to compare."""

    id = "obs/fig4"
    title = "Congestion window of SACK around the loss of one segment"
    where = "section III.B.1, Fig. 4"
    timer_s = TIMER_S
    senders = ("sack", "reno")
    lost = (LOST,)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The trace, how long recovery took, and the claim."""
        del chosen
        sack, reno = (done[name(sender, LOST)].once(only) for sender in self.senders)
        claims = judge.judge_each(self.id, {"sack-one-loss": {"sack": sack_steps(sack, reno)}})
        rows = [*_rows("sack", sack), *_rows("reno", reno), *point_rows("sack", sack, "loss")]
        return Evaluation(rows, claims, [curve("sack", sack), *point_curves("sack", sack, "loss")])


def reno_steps(one: Trace, round_trip: float) -> list[Part]:
    """Judge: half the flight and three, one more for each duplicate ACK, half the flight a round trip later."""
    first, after = one.span()
    half = WINDOW / 2
    steps = np.diff(one.cwnd[first:after])
    took = 1e3 * one.recovery_s()
    return [
        judge.exact_part(f"flight {one.flight[first]} at the third duplicate ACK", bool(one.flight[first] == WINDOW)),
        judge.exact_part(f"cwnd {one.cwnd[first]:g} there", bool(one.cwnd[first] == half + 3)),
        judge.exact_part(f"{steps.size} further ones add 1 each", steps.size > 0 and bool(np.allclose(steps, 1))),
        judge.exact_part(f"cwnd {one.cwnd[after]:g} at the exit", bool(one.cwnd[after] == half)),
        judge.exact_part(f"exit after {took:.3f} ms of {1e3 * round_trip:.3f}", one.recovery_s() <= round_trip),
        judge.exact_part(f"timeouts {one.timeouts[-1]}", bool(one.timeouts[-1] == 0)),
    ]


def sack_steps(sack: Trace, reno: Trace) -> list[Part]:
    """Judge: half the flight, held, and out of recovery when Reno is."""
    first, after = sack.span()
    inside = sack.cwnd[first:after]
    apart = 1e6 * (sack.recovery_s() - reno.recovery_s())
    return [
        judge.exact_part(f"cwnd {inside[0]:g} at the third duplicate ACK", bool(inside[0] == WINDOW / 2)),
        judge.exact_part(f"cwnd from {inside.min():g} to {inside.max():g} in recovery", bool(np.ptp(inside) == 0)),
        judge.exact_part(f"exit {apart:+.3f} us from Reno's", abs(apart) < 1),
        judge.exact_part(f"timeouts {sack.timeouts[-1]}", bool(sack.timeouts[-1] == 0)),
    ]
