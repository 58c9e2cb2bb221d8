"""Figure 14: goodput in the first 1.5 s over the length of the backup and the switch delay."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, Section6, steps
from optcp.papers.judge import Part
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section6 import Context
    from optcp.papers.model import Row
    from optcp.stats import Equivalence
    from optcp.study import Done

SAME_POINTS = 1.0
AS_MUCH = (0.67, 1.5)
CORNER = (D_MS.index(1), DELTA_MS.index(5))
LONG_FAST = (D_MS.index(100), DELTA_MS.index(5))
SHORT_SLOW = {d: (D_MS.index(d), DELTA_MS.index(100)) for d in (10, 1)}


@exhibit
class Fig14(Section6):
    """Mean goodput of (5 s, 6.5 s] in per cent of the access bandwidth."""

    id = "gmpls/fig14"
    title = "Goodput by change in RTT and protection switch delay"
    where = "section 6.2, Fig. 14"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """One row a (d, delta)."""
        context = self.context(chosen, done)
        pct = context.access_pct()
        rows: list[Row] = [
            row({"d_ms": d, "delta_ms": delta}, "goodput_access_pct", None, stats.mean(pct[:, i, j]), "")
            for i, d in enumerate(D_MS)
            for j, delta in enumerate(DELTA_MS)
        ]
        return Evaluation(rows, context.judge(self.id, JUDGES), [], [])


def falls_both_ways(context: Context) -> list[Part]:
    """Judge: goodput falls with d at every delta and with delta at every d; d = 1 and 2 ms may be equal."""
    pct = context.access_pct()
    parts = []
    for i, d in enumerate(D_MS):
        parts += judge.trend_parts(f"d = {d} ms, delta", steps(DELTA_MS), list(pct[:, i].T), "down", "points")
    for j, delta in enumerate(DELTA_MS):
        column = judge.trend_parts(f"delta = {delta} ms, d", steps(D_MS), list(pct[:, :, j].T), "down", "points")
        test = stats.equivalent(pct[:, 1, j] - pct[:, 0, j], SAME_POINTS)
        if same := judge.settled(functools.partial(_is_inside, test)):
            # The second part is the step from 1 to 2 ms.
            column[1] = Part(f"{column[1].text}, the same within {SAME_POINTS:g} point", same)
        parts += column
    return parts


def _is_inside(test: Equivalence, level: float) -> bool:
    return test.holds(level) is True


def longer_is_like_slower(context: Context) -> list[Part]:
    """Judge: lengthening the backup costs about as much as delaying the switch by the same order of magnitude."""
    pct = context.access_pct()
    losses = np.column_stack([pct[:, *CORNER] - pct[:, *cell] for cell in (LONG_FAST, SHORT_SLOW[10], SHORT_SLOW[1])])
    n = context.measured.seeds

    def ratio(other: int) -> tuple[float, NDArray[np.float64]]:
        return stats.bootstrap(losses, lambda mean: mean[:, 0] / mean[:, other])

    one, samples_one = ratio(2)
    against_one = stats.percentile(samples_one, one, n)
    estimate, samples = ratio(1)
    part = judge.within_part("loss against (1, 5), (100, 5) over (10, 100)", samples, estimate, n, AS_MUCH, 2, "")
    more = f"losses {', '.join(f'{loss:.1f}' for loss in losses.mean(axis=0))} points at (100, 5), (10, 100), (1, 100)"
    return [replace(part, text=f"{part.text}; {more}; (100, 5) over (1, 100): {judge.span(against_one, '')}")]


JUDGES = {"falls-with-both": falls_both_ways, "length-costs-as-delay": longer_is_like_slower}
