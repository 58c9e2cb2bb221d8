"""Figures 3 and 4: loss of one segment, with Reno and with SACK."""

import numpy as np

from optcp import stats
from optcp.papers.kit import Exhibit, Findings, Found, Key, Part, Row, judge, row
from optcp_papers.obs.paper import WINDOW
from optcp_papers.obs.points import point_curves, point_rows
from optcp_papers.obs.traces import Trace, curve, round_trip_s, setup, traced

LOST = 1
TIMER_S = 1e-5


def reno_alone(found: Found) -> Findings:
    """Return the trace, the duration of recovery, and the claim."""
    reno = traced(found, "reno", LOST)
    claims = {"reno-one-loss": {"reno": reno_steps(reno, round_trip_s(found.chosen, TIMER_S))}}
    rows = [*_rows("reno", reno), *point_rows("reno", reno, "loss")]
    return Findings(rows, claims, [curve("reno", reno), *point_curves("reno", reno, "loss")])


def sack_and_reno(found: Found) -> Findings:
    """Return the trace, the duration of recovery, and the claim."""
    sack, reno = (traced(found, sender, LOST) for sender in ("sack", "reno"))
    claims = {"sack-one-loss": {"sack": sack_steps(sack, reno)}}
    rows = [*_rows("sack", sack), *_rows("reno", reno), *point_rows("sack", sack, "loss")]
    return Findings(rows, claims, [curve("sack", sack), *point_curves("sack", sack, "loss")])


def _rows(sender: str, one: Trace) -> list[Row]:
    key: Key = {"recovery": sender}
    recovery = row(key, "recovery_ms", None, stats.exact(1e3 * one.recovery_s()), "")
    return [recovery, row(key, "timeouts", None, stats.mean([float(one.timeouts[-1])]), "")]


def reno_steps(one: Trace, round_trip: float) -> list[Part]:
    """Judge: half the flight plus three, plus one per further duplicate ACK; half the flight one RTT later."""
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
    """Judge: half the flight, constant in recovery, which ends when Reno's ends."""
    first, after = sack.span()
    inside = sack.cwnd[first:after]
    apart = 1e6 * (sack.recovery_s() - reno.recovery_s())
    return [
        judge.exact_part(f"cwnd {inside[0]:g} at the third duplicate ACK", bool(inside[0] == WINDOW / 2)),
        judge.exact_part(f"cwnd from {inside.min():g} to {inside.max():g} in recovery", bool(np.ptp(inside) == 0)),
        judge.exact_part(f"exit {apart:+.3f} us from Reno's", abs(apart) < 1),
        judge.exact_part(f"timeouts {sack.timeouts[-1]}", bool(sack.timeouts[-1] == 0)),
    ]


FIG3 = Exhibit(
    "obs/fig3",
    "Congestion window of Reno around the loss of one segment",
    "section III.B.1, Fig. 3",
    setup("fig3", TIMER_S, ("reno",), (LOST,)),
    reno_alone,
)
FIG4 = Exhibit(
    "obs/fig4",
    "Congestion window of SACK around the loss of one segment",
    "section III.B.1, Fig. 4",
    setup("fig4", TIMER_S, ("sack", "reno"), (LOST,)),
    sack_and_reno,
)
