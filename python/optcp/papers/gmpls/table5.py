"""Table 5: what a longer backup path costs, by switch delay."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.paper import PAPER_RUNS
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, WHY_CHANGED, Section6, steps
from optcp.papers.judge import Part
from optcp.papers.printed import ns2, tables
from optcp.papers.verdict import row
from optcp.sequential import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section6 import Context
    from optcp.papers.model import Row
    from optcp.study import Done

WHY = (
    "Bandwidth and queue are unstated, and partly interchangeable: independent ns-2 runs of this world differ from the "
    "printed values in the same cells, and a queue of about 40 packets comes closer at d = 20 and 50 ms."
)
LONGER = range(D_MS.index(10), len(D_MS))
"""Indices of the spans of which the paper says that a slower switch makes them cost more."""
WINDOWS_S = ((5.0, 6.5), (5.0, 7.5), (5.0, 10.0))


@exhibit
class Table5(Section6):
    """Mean of Good(d, delta) / Good(1 ms, delta) - 1 in (5 s, 6.5 s]."""

    id = "gmpls/table5"
    title = "Comparison of changes in RTT by protection switch delay"
    where = "section 6.2, Table 5"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """One row a (d, delta), and how far all of them together lie from ns-2 and from the printed values."""
        context = self.context(chosen, done)
        gain = 100 * (context.measured.ratio - 1)
        printed = tables("gmpls")["table5"]["rel_goodput_pct"]
        why = WHY_CHANGED if context.changed else WHY
        rows: list[Row] = [
            row({"d_ms": d, "delta_ms": delta}, "rel_goodput_pct", printed[i][j], stats.mean(gain[:, i, j]), why)
            for i, d in enumerate(D_MS)
            for j, delta in enumerate(DELTA_MS)
        ]
        return Evaluation(rows, context.judge(self.id, JUDGES), [], distances(context))

    def contrasts(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> dict[str, NDArray[np.float64]]:
        """What section 6.2 concludes: a longer backup path costs goodput, and the more the slower the switch."""
        loss = 100 * (1 - self.context(chosen, done).measured.ratio)
        found = {
            f"loss at d = {D_MS[i]} ms, delta = {DELTA_MS[j]} ms (%)": loss[:, i, j] for i in LONGER for j in (0, -1)
        }
        ends = f"delta = {DELTA_MS[-1]} ms minus {DELTA_MS[0]} ms (points)"
        return found | {f"loss at d = {D_MS[i]} ms, {ends}": loss[:, i, -1] - loss[:, i, 0] for i in LONGER}


def distances(context: Context) -> list[str]:
    """How far the table lies from ns-2's and from the printed one: root mean square and largest difference."""
    mean = 100 * (context.measured.ratio.mean(axis=0)[1:] - 1)
    others = {
        "what independent ns-2 runs of the unchanged world gave": np.array(ns2()["gmpls"]["table5"]["rel_goodput_pct"]),
        "the printed values": np.array(tables("gmpls")["table5"]["rel_goodput_pct"][1:]),
    }
    return [f"Against {name}: {_distance(mean - values)}." for name, values in others.items()]


def _distance(gap: NDArray[np.float64]) -> str:
    i, j = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
    return (
        f"{np.sqrt(np.mean(gap**2)):.2f} points root mean square over the {gap.size} cells with d > 1 ms, at most "
        f"{gap[i, j]:+.2f} points (d = {D_MS[i + 1]} ms, delta = {DELTA_MS[j]} ms)"
    )


def penalty_grows(context: Context) -> list[Part]:
    """Judge: the relative penalty of a longer backup grows with delta, at every d from 10 ms on."""
    gain = 100 * (context.measured.ratio - 1)
    return [
        part
        for i in LONGER
        for part in judge.trend_parts(
            f"f - 1 at d = {D_MS[i]} ms, delta", steps(DELTA_MS), list(gain[:, i].T), "down", "points"
        )
    ]


def ranking_stays(context: Context) -> list[Part]:
    """Judge: another integration window does not change the ranking of the 30 cases.

    Each pair of cases is compared in each window; a pair changes places where two windows order it in opposite ways,
    both significantly. No change is only known with as many runs as the paper had.
    """
    measured = context.measured
    rates = [measured.good(window).reshape(measured.seeds, -1) / (window[1] - window[0]) for window in WINDOWS_S]
    pairs = list(itertools.combinations(range(rates[0].shape[1]), 2))
    tests = [[stats.paired(rate[:, first], rate[:, second]) for first, second in pairs] for rate in rates]
    signs = np.array([[np.sign(test.interval.estimate) for test in window] for window in tests])
    p = np.array([[test.p for test in window] for window in tests])

    def changes(level: float) -> int:
        return _opposite(signs * np.array(stats.holm(p.ravel().tolist(), level)).reshape(p.shape))

    changed, changed_each = changes(LEVEL), _opposite(signs * (p < LEVEL))
    means = [rate.mean(axis=0) for rate in rates]
    taus = ", ".join(
        f"{stats.kendall(means[0], other):.3f} with {end - start:g} s"
        for other, (start, end) in zip(means[1:], WINDOWS_S[1:], strict=True)
    )
    text = (
        f"{changed} of {len(pairs)} pairs of cells change places between windows of "
        f"{', '.join(f'{end - start:g}' for start, end in WINDOWS_S)} s, every comparison corrected by Holm "
        f"({changed_each} with each comparison at 5 % by itself); Kendall's tau of the mean order against 1.5 s: {taus}"
    )
    known = changed > 0 or measured.seeds >= PAPER_RUNS
    return [Part(text, judge.settled(lambda level: changes(level) == 0) if known else "undecided")]


def _opposite(signs: NDArray[np.float64]) -> int:
    """How many columns hold both a plus and a minus."""
    return int(np.sum((signs > 0).any(axis=0) & (signs < 0).any(axis=0)))


JUDGES = {"penalty-grows-with-delta": penalty_grows, "window-keeps-ranking": ranking_stays}
