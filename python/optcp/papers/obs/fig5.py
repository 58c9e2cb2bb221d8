"""Figure 5: Reno around the loss of two segments, and for which windows it needs a timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.paper import WINDOW, Cell, study_of
from optcp.papers.obs.points import point_curves, point_rows
from optcp.papers.obs.traces import FIRST_LOST, TraceExhibit, curve, name, only
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.papers.obs.traces import Trace
    from optcp.study import Done, Grid

LOST = 2
RULE = "windows"
RECEIVER_WINDOWS = (WINDOW, 200)
"""The paper's, and one that no flight comes near, in segments."""
WINDOWS = range(4, WINDOW + 1)
MOST_LOST = 8
LEAST_WINDOW = 10
"""Fall and Floyd: below so many segments Reno waits for the timer."""
NEAR_RECEIVER = 2
"""Fall and Floyd: so close to the receiver's window as well."""
VARIANTS = {"no": "false", "yes": "true"}
"""Whether the sender has a `recover` check; the paper's Reno has none."""


class Case(NamedTuple):
    """One loss of the first segments of a connection, whose window it begins with.

    Attributes
    ----------
    recover_check
        A key of VARIANTS.
    receiver_window, window, lost
        Segments.
    """

    recover_check: str
    receiver_window: int
    window: int
    lost: int

    def settings(self) -> dict[str, str]:
        """What makes the scenario this case."""
        return {
            "tcp.file.careful": VARIANTS[self.recover_check],
            "tcp.file.window_limit": f"{self.receiver_window} segments",
            "tcp.file.initial_window": f"{self.window} segments",
            # So that the window grows by one a round trip, and is this one when the loss is noticed.
            "tcp.file.initial_ssthresh": f"{self.window} segments",
            # Packet 0 opens the connection.
            "losses": f'[{{ link = ["client", "E"], flows = "file", segments = {list(range(1, self.lost + 1))} }}]',
        }

    def needs_timeout(self) -> bool:
        """The rule of Fall and Floyd for two losses; three or more nearly always need one."""
        near = self.window >= self.receiver_window - NEAR_RECEIVER
        return self.lost > LOST or self.window < LEAST_WINDOW or near


CASES = tuple(
    Case(variant, receiver_window, window, lost)
    for variant in VARIANTS
    for receiver_window in RECEIVER_WINDOWS
    for lost in range(LOST, MOST_LOST + 1)
    for window in WINDOWS
    if window > lost
)
SHORT = (
    ("parameters.loss_probability", "0"),
    ("parameters.size", "500 kB"),
    ("observe", '[{ name = "tcp", kind = "tcp" }]'),
)
"""A file that is longer than what is sent until the loss is repaired."""


@exhibit
class Fig5(TraceExhibit):
    """Two segments of a window at the receiver's limit are lost; beside it losses in windows of every size."""

    id = "obs/fig5"
    title = "Congestion window of Reno around the loss of two segments"
    where = "section III.B.2, Fig. 5"
    timer_s = 1e-3
    senders = ("reno",)
    lost = (LOST,)

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The trace, and one branch a case."""
        cell = Cell(self.timer_s, "no").settings()
        settings = [case.settings() for case in CASES]
        rule = study_of(f"{self.id}, {RULE}", settings, [*cell.items(), *SHORT], chosen, options)
        return {**super().studies(chosen, options), RULE: rule}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The trace with its points, for how many windows there is a timeout, and both claims."""
        del chosen
        one = done[name("reno", LOST)].once(only)
        timeouts = done[RULE].once(_timeouts)
        rows = [
            row({"recovery": "reno"}, "timeouts", None, stats.mean([float(one.timeouts[-1])]), ""),
            *point_rows("reno", one, "detection"),
            *_rows(timeouts),
        ]
        judges = {
            "reno-two-losses": {"reno": waits(one)},
            "when-reno-times-out": {"no `recover` check": follows_rule(timeouts)},
        }
        series = [curve("reno", one), *point_curves("reno", one, "detection"), *_series(timeouts)]
        note = (
            "Point 1 is the third duplicate ACK with the window of before, as the text has it here; in figures 3 and 4 "
            "it is the loss. With a `recover` check, which later Renos have, the second fast retransmit is barred and "
            "two losses need a timeout whatever the window: rows with `recover_check` yes."
        )
        return Evaluation(rows, judge.judge_each(self.id, judges), series, [note])


def waits(one: Trace) -> list[Part]:
    """Judge: nothing new in recovery, nothing at all from the partial ACK to the timeout, one segment after it."""
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


def _timeouts(done: Done) -> dict[Case, bool]:
    runs = next(runs for _, runs in done)
    return {case: bool(run.series["tcp"]["timeouts"][-1]) for case, run in zip(CASES, runs, strict=True)}


def _of(timeouts: Mapping[Case, bool], variant: str, receiver_window: int, lost: int) -> dict[int, bool]:
    return {
        case.window: out
        for case, out in timeouts.items()
        if case[:2] == (variant, receiver_window) and case.lost == lost
    }


def _groups() -> list[tuple[str, int, int]]:
    return list(dict.fromkeys((case.recover_check, case.receiver_window, case.lost) for case in CASES))


def _rows(timeouts: Mapping[Case, bool]) -> list[Row]:
    rows = []
    for variant, receiver_window, lost in _groups():
        key: dict[str, str | int | float] = {
            "recover_check": variant,
            "receiver_window": receiver_window,
            "lost": lost,
        }
        out = _of(timeouts, variant, receiver_window, lost)
        share = 100 * sum(out.values()) / len(out)
        # Every window once: nothing is random here, so that there is no interval.
        rows.append(row(key, "windows_with_timeout_pct", None, stats.mean([share]), ""))
    return rows


def _series(timeouts: Mapping[Case, bool]) -> list[Series]:
    found = []
    for variant, receiver_window, lost in _groups():
        out = _of(timeouts, variant, receiver_window, lost)
        key: dict[str, str | int | float] = {
            "recover_check": variant,
            "receiver_window": receiver_window,
            "lost": lost,
        }
        x, y = [float(window) for window in out], [float(late) for late in out.values()]
        found.append(Series("timeout", key, "window at the loss", "segments", "timeout", "", x, y))
    return found


def follows_rule(timeouts: Mapping[Case, bool]) -> list[Part]:
    """Judge: two losses by the rule, at most one window wrong at each border; three or more nearly always."""
    parts = []
    for receiver_window in RECEIVER_WINDOWS:
        out = _of(timeouts, "no", receiver_window, LOST)
        rule = {window: Case("no", receiver_window, window, LOST).needs_timeout() for window in out}
        wrong = [window for window in out if out[window] != rule[window]]
        text = f"receiver's window {receiver_window}, two lost: timeout for windows {_ranges(out)}"
        parts.append(judge.exact_part(f"{text}, by the rule {_ranges(rule)}", _at_borders(rule, wrong)))
    more = [out for case, out in timeouts.items() if case.recover_check == "no" and case.lost > LOST]
    share = 100 * sum(more) / len(more)
    parts.append(judge.exact_part(f"three to {MOST_LOST} lost: timeout in {share:.1f} % of {len(more)}", share > 95))
    return parts


def _at_borders(rule: Mapping[int, bool], wrong: Sequence[int]) -> bool:
    """Whether at most one window is wrong beside each change of the rule, and none elsewhere."""
    changes = [window for window in rule if window - 1 in rule and rule[window] != rule[window - 1]]
    by_change = [[window for window in wrong if window in (change - 1, change)] for change in changes]
    return all(len(near) <= 1 for near in by_change) and set(wrong) == {w for near in by_change for w in near}


def _ranges(windows: Mapping[int, bool]) -> str:
    """Those that are true, as text: "4 to 9, 42 to 44"."""
    chosen = [window for window, out in windows.items() if out]
    starts = [window for window in chosen if window - 1 not in chosen]
    ends = [window for window in chosen if window + 1 not in chosen]
    return ", ".join(f"{one} to {other}" for one, other in zip(starts, ends, strict=True)) or "none"
