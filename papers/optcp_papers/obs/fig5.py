"""Figure 5: Reno around the loss of two segments, and the windows for which it needs an RTO."""

from collections.abc import Mapping, Sequence

import numpy as np

from optcp import stats
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, rows
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Part, Series, Settings, StudyResult, judge, row
from optcp_papers.obs.paper import WINDOW, grid, numbers, settings
from optcp_papers.obs.points import point_curves, point_rows
from optcp_papers.obs.traces import FIRST_LOST, Trace, curve, setup, traced

LOST = 2
TIMER_S = 1e-3
RULE = "windows"
RECEIVER_WINDOWS = (WINDOW, 200)
"""Receive windows in segments: the paper's, and one that no flight reaches."""
WINDOWS = range(4, WINDOW + 1)
MOST_LOST = 8
LEAST_WINDOW = 10
"""Window in segments below which Reno waits for the RTO (Fall and Floyd)."""
NEAR_RECEIVER = 2
"""Distance to the receive window within which Reno also waits for the RTO (Fall and Floyd)."""
VARIANTS = {"no": False, "yes": True}
"""Whether the sender has a `recover` check; the paper's Reno has none."""
AXES = (
    Axis("recover_check", tuple(VARIANTS)),
    numbers("receiver_window", RECEIVER_WINDOWS),
    numbers("lost", range(LOST, MOST_LOST + 1)),
    numbers("window", WINDOWS),
)
"""Axes: losses of the first segments of a connection, and its initial window."""
POSSIBLE = np.broadcast_to(
    [[window > lost for window in WINDOWS] for lost in range(LOST, MOST_LOST + 1)], [len(axis) for axis in AXES]
)
"""Whether a window has more segments than are lost."""
SHORT = {
    "parameters.loss_probability": 0,
    "parameters.size": "500 kB",
    "observe": [{"name": "tcp", "kind": "tcp"}],
}
"""File that is longer than the data sent until the loss is repaired."""
NOTE = (
    "Point 1 is the third duplicate ACK with the previous window, as in the paper's text; in figures 3 and 4 "
    "it is the loss. With a `recover` check, which later Renos have, the second fast retransmit is not allowed. "
    "Two losses then need an RTO for every window: rows with `recover_check` yes."
)


def rule_grid(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of losses in windows of every size."""

    def case(recover_check: str, receiver_window: int, lost: int, window: int) -> Settings:
        return {
            "tcp.file.careful": VARIANTS[recover_check],
            "tcp.file.window_limit": f"{receiver_window} segments",
            "tcp.file.initial_window": f"{window} segments",
            # The window grows by one per round trip, so it has this value when the loss is detected.
            "tcp.file.initial_ssthresh": f"{window} segments",
            # Packet 0 opens the connection, so the first data segment is 1.
            "losses": [{"link": ["client", "E"], "flows": "file", "segments": range(1, lost + 1)}],
        }

    short = settings(TIMER_S, "no") | SHORT
    return {RULE: grid(f"obs/fig5, {RULE}", [AXES], case, short, chosen, options, only=POSSIBLE)}


def find(found: Found) -> Findings:
    """Return the trace with its points, the share of windows with an RTO, and both claims."""
    one, late = traced(found, "reno", LOST), found.done[RULE].once(timeouts)
    # Nothing is random, so every window counts once and there is no interval.
    share = 100 * late.each(np.nan_to_num).total("window") / late.each(np.isfinite).total("window")
    shares = rows({"windows_with_timeout_pct": share.mean()})
    claims = {
        "reno-two-losses": {"reno": waits(one)},
        "when-reno-times-out": {"no `recover` check": follows_rule(late.at(recover_check="no"))},
    }
    return Findings(
        [
            row({"recovery": "reno"}, "timeouts", None, stats.mean([float(one.timeouts[-1])]), ""),
            *point_rows("reno", one, "detection"),
            *shares,
        ],
        claims,
        [curve("reno", one), *point_curves("reno", one, "detection"), *(_series(each.key, late) for each in shares)],
        [NOTE],
    )


def timeouts(done: StudyResult) -> Cells:
    """Return whether there is an RTO, over AXES; undefined if the window has no more segments than are lost."""
    table, run = done.rows("tcp", ["timeouts"])
    late = np.zeros(len(done.grid.branches))
    np.maximum.at(late, run, table.numbers("timeouts"))
    result = np.full((1, *POSSIBLE.shape), np.nan)
    result[0, POSSIBLE] = late > 0
    return Cells(result, AXES, done.seeds)


def waits(one: Trace) -> list[Part]:
    """Judge: no new segment in recovery, none from the partial ACK to the RTO, one segment after it."""
    points_s = {"third duplicate ACK": one.at_s[one.span()[0]], "partial ACK": one.at_s[one.span()[1]]}
    timed_out = bool(one.timeouts[-1] == 1)
    parts = [judge.exact_part(f"timeouts {one.timeouts[-1]}", timed_out)]
    if not timed_out:
        return parts
    expiry = int(np.argmax(one.timeouts > 0))
    sent_s, number = one.sent[:, 0] / 1e12, one.sent[:, 1]
    inside = (sent_s >= points_s["third duplicate ACK"]) & (sent_s < points_s["partial ACK"])
    fresh = int((number[inside] > number[sent_s < points_s["third duplicate ACK"]].max()).sum())
    silent = int(((sent_s >= points_s["partial ACK"]) & (sent_s < one.at_s[expiry])).sum())
    again = int(number[sent_s >= one.at_s[expiry]][0]) if (sent_s >= one.at_s[expiry]).any() else -1
    waited = one.at_s[expiry] - points_s["partial ACK"]
    return [
        *parts,
        judge.exact_part(f"new segments in recovery {fresh}", fresh == 0),
        judge.exact_part(f"segments sent in {waited:.2f} s from the partial ACK to the timeout {silent}", silent == 0),
        judge.exact_part(
            f"then the second lost one, cwnd {one.cwnd[expiry]:g}",
            again == FIRST_LOST + 1 and bool(one.cwnd[expiry] == 1),
        ),
    ]


def by_window(late: Cells) -> dict[int, bool]:
    """Return whether there is an RTO, by window, from one seed over the axis ``window``."""
    outcomes = zip(WINDOWS, late.values[0].tolist(), strict=True)
    return {window: bool(out) for window, out in outcomes if not np.isnan(out)}


def _series(key: Key, late: Cells) -> Series:
    out = by_window(late.at(**key))
    x, y = [float(window) for window in out], [float(item) for item in out.values()]
    return Series("timeout", key, "window at the loss", "segments", "timeout", "", x, y)


def needs_timeout(receiver_window: int, window: int) -> bool:
    """Return whether two losses need an RTO by the rule of Fall and Floyd."""
    return window < LEAST_WINDOW or window >= receiver_window - NEAR_RECEIVER


def follows_rule(late: Cells) -> list[Part]:
    """Judge: two losses follow the rule, with at most one wrong window per border; more need an RTO in > 95 %."""
    parts = []
    for receiver_window in RECEIVER_WINDOWS:
        out = by_window(late.at(receiver_window=receiver_window, lost=LOST))
        rule = {window: needs_timeout(receiver_window, window) for window in out}
        wrong = [window for window in out if out[window] != rule[window]]
        text = f"receive window {receiver_window}, two lost: RTO for windows {_ranges(out)}"
        parts.append(judge.exact_part(f"{text}, by the rule {_ranges(rule)}", _at_borders(rule, wrong)))
    more = late.values[:, :, 1:]
    more = more[np.isfinite(more)]
    share = 100 * float(more.sum()) / more.size
    parts.append(judge.exact_part(f"three to {MOST_LOST} lost: RTO in {share:.1f} % of {more.size}", share > 95))
    return parts


def _at_borders(rule: Mapping[int, bool], wrong: Sequence[int]) -> bool:
    """Return whether at most one window is wrong next to each change of the rule, and none elsewhere."""
    changes = [window for window in rule if window - 1 in rule and rule[window] != rule[window - 1]]
    by_change = [[window for window in wrong if window in (change - 1, change)] for change in changes]
    return all(len(near) <= 1 for near in by_change) and set(wrong) == {w for near in by_change for w in near}


def _ranges(windows: Mapping[int, bool]) -> str:
    """Return the true windows as text, such as "4 to 9, 42 to 44"."""
    chosen = [window for window, out in windows.items() if out]
    starts = [window for window in chosen if window - 1 not in chosen]
    ends = [window for window in chosen if window + 1 not in chosen]
    return ", ".join(f"{one} to {other}" for one, other in zip(starts, ends, strict=True)) or "none"


FIG5 = Exhibit(
    "obs/fig5",
    "Congestion window of Reno around the loss of two segments",
    "section III.B.2, Fig. 5",
    setup("fig5", TIMER_S, ("reno",), (LOST,), rule_grid),
    find,
)
