"""Figure 12: goodput over time for every combination of d and delta."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import curve, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.paper import FAILURE_S
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, LOST_NOTE, Section6, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section6 import Context
    from optcp.papers.judge import Part
    from optcp.study import Done

SHORT = tuple(D_MS.index(d) for d in (1, 2, 10))
LONG = D_MS.index(100)
SLOW = DELTA_MS.index(100)
SAME_POINTS = 5.0
SETTLES_S = (2.0, 4.0)
SPREAD_S = 1.0
STABILISES_S = (5.0, 8.0)


@exhibit
class Fig12(Section6):
    """Goodput in 100 ms intervals for 30 combinations, how deep it falls and when it is back."""

    id = "gmpls/fig12"
    title = "Goodput over time by change in RTT and protection switch delay"
    where = "section 6.2, Fig. 12"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """A curve and two rows a (d, delta), grouped by delta as in the figure."""
        context = self.context(chosen, done)
        cells = [(d, delta) for delta in range(len(DELTA_MS)) for d in range(len(D_MS))]
        rows = [one for cell in cells for one in context.curve_rows(*cell)]
        series = [context.goodput_series(*cell) for cell in cells]
        return Evaluation(rows, context.judge(self.id, JUDGES), series, [LOST_NOTE])


def _first_interval_parts(context: Context, delta: int) -> list[Part]:
    """EQUIV of the first 100 ms after the failure, every d against 1 ms."""
    pct = context.access_pct((FAILURE_S, FAILURE_S + curve.STEP_S))[..., delta]
    return [
        judge.equivalence_part(
            f"delta = {DELTA_MS[delta]} ms, (5.0 s, 5.1 s], d = {D_MS[i]} ms minus 1 ms",
            pct[:, i] - pct[:, 0],
            SAME_POINTS,
            "points",
        )
        for i in range(1, len(D_MS))
    ]


def deeper_until_equal(context: Context) -> list[Part]:
    """Judge: a slower switch deepens the drop of a short backup, and at 100 ms the first fall is equal for every d."""
    parts = []
    for d in SHORT:
        curves = [context.curves(d, delta) for delta in range(len(DELTA_MS))]
        parts += judge.bootstrap_trend_parts(
            f"dip at d = {D_MS[d]} ms, delta", steps(DELTA_MS), curves, curve.dip_pct, "up", "points"
        )
    equal = _first_interval_parts(context, SLOW)
    alike = [
        DELTA_MS[delta]
        for delta in range(len(DELTA_MS))
        if judge.combine(_first_interval_parts(context, delta))[0] is True
    ]
    smallest = f"the smallest delta with this is {alike[0]} ms" if alike else "it holds at no delta"
    equal[-1] = replace(equal[-1], text=f"{equal[-1].text} ({smallest})")
    return parts + equal


def slower_not_deeper(context: Context) -> list[Part]:
    """Judge: at d = 100 ms a slower switch neither deepens the drop nor lengthens it, but costs goodput meanwhile."""
    n = context.measured.seeds
    curves = [context.curves(LONG, delta) for delta in range(len(DELTA_MS))]
    (slow, slow_samples), (fast, fast_samples) = (
        stats.bootstrap(one, curve.dip_pct) for one in (curves[-1], curves[0])
    )
    parts = [
        judge.within_part(
            "dip, delta = 100 ms minus 5 ms",
            slow_samples - fast_samples,
            slow - fast,
            n,
            (-SAME_POINTS, SAME_POINTS),
            1,
            "points",
        )
    ]
    settled = [stats.bootstrap(one, curve.back_s) for one in curves]
    parts += [
        judge.within_part(f"delta = {delta} ms: settled after", samples, estimate, n, SETTLES_S, 2, "s")
        for delta, (estimate, samples) in zip(DELTA_MS, settled, strict=True)
    ]
    times: NDArray[np.float64] = np.array([samples for _, samples in settled])
    spread = float(np.ptp([estimate for estimate, _ in settled]))
    parts.append(
        judge.within_part(
            "longest minus shortest of these times", np.ptp(times, axis=0), spread, n, (-np.inf, SPREAD_S), 2, "s"
        )
    )
    pct = context.access_pct(STABILISES_S)[:, LONG]
    return parts + judge.trend_parts("goodput of (5 s, 8 s], delta", steps(DELTA_MS), list(pct.T), "down", "points")


JUDGES = {"slower-deepens-short": deeper_until_equal, "long-backup-same-drop": slower_not_deeper}
