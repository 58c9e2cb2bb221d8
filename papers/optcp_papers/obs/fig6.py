"""Figures 6 and 7: loss of a burst with several segments of the flow, and of one with the whole window."""

from collections.abc import Mapping

import numpy as np

from optcp import stats
from optcp.papers.kit import Exhibit, Findings, Found, Part, judge, row
from optcp_papers.obs.paper import WINDOW
from optcp_papers.obs.points import point_curves, point_rows
from optcp_papers.obs.traces import Trace, curve, round_trip_s, setup, traced

LOST = range(2, 41)
SHOWN = 2
"""Number of lost segments in the figure."""
TIMER_S = 1e-3
SENDERS = ("reno", "sack")


def some_lost(found: Found) -> Findings:
    """Return the duration of each recovery, the trace of two losses, and the claim."""
    traces = {lost: traced(found, "sack", lost) for lost in LOST}
    rows = [
        row({"lost": lost}, metric, None, interval, "")
        for lost, item in traces.items()
        for metric, interval in (
            ("recovery_ms", stats.exact(1e3 * item.recovery_s())),
            ("timeouts", stats.mean([float(item.timeouts[-1])])),
        )
    ]
    # A window travels as a train, so the ACK of its last segment arrives one transmission time of the window later.
    claims = {"sack-repairs-burst": {"sack": repairs(traces, round_trip_s(found.chosen, TIMER_S, WINDOW))}}
    shown = traces[SHOWN]
    series = [curve("sack", shown), *point_curves("sack", shown, "detection")]
    return Findings([*rows, *point_rows("sack", shown, "detection")], claims, series)


def repairs(traces: Mapping[int, Trace], trip_s: float) -> list[Part]:
    """Judge: no RTO, cwnd constant at half the flight, one RTT up to half a window and two above."""
    parts = []
    for lost, item in traces.items():
        first, after = item.span()
        inside = item.cwnd[first:after]
        held = bool(np.ptp(inside) == 0 and inside[0] == WINDOW / 2)
        limit = trip_s * (1 if lost <= WINDOW / 2 else 2)
        took = item.recovery_s()
        text = f"{lost} lost: {1e3 * took:.2f} ms of {1e3 * limit:.2f}, cwnd {inside.min():g} to {inside.max():g}"
        parts.append(judge.exact_part(text, took <= limit and held and bool(item.timeouts[-1] == 0)))
    return parts


def whole_window_lost(found: Found) -> Findings:
    """Return both traces, and the claim."""
    traces = {sender: traced(found, sender, WINDOW) for sender in SENDERS}
    rows = [
        row({"recovery": sender}, metric, None, stats.mean([float(value)]), "")
        for sender, item in traces.items()
        for metric, value in (("duplicate_acks", item.duplicate_acks), ("timeouts", item.timeouts[-1]))
    ]
    claims = {"whole-window-times-out": {"both": both_time_out(*traces.values())}}
    return Findings(rows, claims, [curve(sender, item) for sender, item in traces.items()])


def both_time_out(reno: Trace, sack: Trace) -> list[Part]:
    """Judge: no duplicate ACK, one RTO, and equal segments, times and windows."""
    same = np.array_equal(reno.sent, sack.sent) and np.array_equal(reno.cwnd, sack.cwnd)
    return [
        *(
            judge.exact_part(f"{sender}: duplicate ACKs {item.duplicate_acks}", item.duplicate_acks == 0)
            for sender, item in (("Reno", reno), ("SACK", sack))
        ),
        judge.exact_part(f"timeouts {reno.timeouts[-1]} and {sack.timeouts[-1]}", bool(reno.timeouts[-1] == 1)),
        judge.exact_part(f"the same {len(reno.sent)} segments and windows", bool(same)),
    ]


FIG6 = Exhibit(
    "obs/fig6",
    "Congestion window of SACK around the loss of consecutive segments",
    "section III.B.2, Fig. 6",
    setup("fig6", TIMER_S, ("sack",), LOST),
    some_lost,
)
FIG7 = Exhibit(
    "obs/fig7",
    "Congestion window around the loss of a whole window",
    "section III.B.3, Fig. 7",
    setup("fig7", 1e-2, SENDERS, (WINDOW,)),
    whole_window_lost,
)
