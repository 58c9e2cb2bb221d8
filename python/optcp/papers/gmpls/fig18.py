"""Figure 18: goodput over time around the failure, by scheme and scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import curve, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import section6, section8
from optcp.papers.gmpls.paper import FAILURE_S, PAPER_RUNS
from optcp.papers.gmpls.section6 import LOST_NOTE
from optcp.papers.gmpls.section8 import (
    DELTA_MS,
    LOCAL,
    LOOPBACK,
    MECHANISMS,
    PATH,
    SCENARIOS,
    VARIANT,
    Delays,
    Section8,
)
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.gmpls.section8 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.study import Done, Grid

SECTION_6 = "section 6, backups that add as much"
SECTION_6_UNTIL_S = 6.0
SAME_POINTS = 25.0
LAST = SCENARIOS.index("D")
OFTEN_SHARE, RARE_SHARE = 0.5, 0.05
BEFORE_NOTE = (
    "Whether the access is the only bottleneck before the failure is judged in section 5 alone (gmpls/fig7), not here."
)


@exhibit
class Fig18(Section8):
    """Goodput in 100 ms intervals, how deep it falls, when it is back, and where looped and direct packets merge."""

    id = "gmpls/fig18"
    title = "Goodput over time by protection scheme"
    where = "section 8.2, Fig. 18"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The shared study, and section 6's world with backups that are longer by as much as the local ones."""
        # d of section 6 is the whole backup, d_l what it is longer than the 1 ms that it replaces.
        cells = [(Delays.of(scenario).d_l + 1, DELTA_MS[0]) for scenario in SCENARIOS]
        settings = [("stop", f"{SECTION_6_UNTIL_S:g} s")]
        alike = section6.study(chosen, options, "gmpls fig18, section 6", cells, settings)
        return {**super().studies(chosen, options), SECTION_6: alike}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """A curve and three rows a (scenario, scheme)."""
        context = self.context(chosen, done)
        told = Told(context, done[SECTION_6].once(measure_section_6))
        cells = [(i, j) for j in range(len(MECHANISMS)) for i in range(len(SCENARIOS))]
        rows = [one for cell in cells for one in _rows(context, *cell)]
        series = [context.goodput_series(*cell) for cell in cells]
        judged = judge.judge_all(self.id, JUDGES, {str(chosen["profile"]): told})
        return Evaluation(rows, judged, series, [LOST_NOTE, BEFORE_NOTE])


@dataclass(frozen=True)
class Told:
    """What the judgements need.

    Attributes
    ----------
    context
        The shared study.
    section_6
        Section 6's curves with a backup that adds as much as the local one of each scenario, for the rule CURVE,
        float64[scenarios, seeds, 1 + intervals].
    """

    context: Context
    section_6: NDArray[np.float64]

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Whether L0's port into the backup dropped a packet in (5 s, 5.3 s] under the variant, bool[seeds, scen.]."""
        result: NDArray[np.bool_] = self.context.measured.merge_drops[:, :, self.context.delta, VARIANT] > 0
        return result


def measure_section_6(done: Done) -> NDArray[np.float64]:
    """Curves of section 6's world from the failure on, float64[scenarios, seeds, 1 + intervals]."""
    goodput = np.array([[run.series["goodput"]["bytes"][0] for run in runs] for _, runs in done]).astype(np.int64)
    return np.array([curve.curves(goodput[:, i], FAILURE_S, SECTION_6_UNTIL_S) for i in range(len(SCENARIOS))])


def _rows(context: Context, scenario: int, mechanism: int) -> list[Row]:
    key, n = section8.key(scenario, mechanism), context.measured.seeds
    rows = []
    for metric, statistic in (("dip_pct", curve.dip_pct), ("settle_s", curve.back_s)):
        estimate, samples = stats.bootstrap(context.curves(scenario, mechanism), statistic)
        rows.append(row(key, metric, None, stats.percentile(samples, estimate, n), ""))
    drops = context.measured.merge_drops[:, scenario, context.delta, mechanism]
    overflowed = stats.wilson(int(np.sum(drops > 0)), n).times(100)
    return [*rows, row(key, "overflow_l0_l5_pct", None, overflowed, "")]


def variant_recovers_faster_unless_d(told: Told) -> list[Part]:
    """Judge: in D the variant settles no sooner than plain loop-back, since packets overflow; in A to C sooner."""
    context = told.context
    n = context.measured.seeds
    parts = []
    for i, scenario in enumerate(SCENARIOS):
        (late, late_samples), (early, early_samples) = (
            stats.bootstrap(context.curves(i, mechanism), curve.back_s) for mechanism in (VARIANT, LOOPBACK)
        )
        test = stats.bootstrap_difference(late_samples, early_samples, late - early, n)
        name = f"{scenario}, settles after, variant minus loop-back"
        part = judge.side_part(name, test, "below" if i != LAST else "above", "s")
        if i == LAST:
            # "No faster" is broken by a faster one; no difference is agreement only with as many runs as the paper had.
            part = replace(part, default=True if n >= PAPER_RUNS else "undecided")
        parts.append(part)
    for i, scenario in enumerate(SCENARIOS):
        often = int(told.overflowed[:, i].sum())
        name = f"{scenario}, drops at L0->L5 in (5 s, 5.3 s]"
        if i == LAST:
            parts.append(judge.share_part(f"{name}, above 50 %", often, n, OFTEN_SHARE))
        else:
            part = judge.share_part(f"{name}, below 5 %", often, n, RARE_SHARE)
            parts.append(replace(part, holds="undecided" if part.holds == "undecided" else not part.holds))
    return parts


def local_is_alike_others_worsen(told: Told) -> list[Part]:
    """Judge: local dips are alike in all scenarios; those of path and loop-back deepen and last longer from A to D."""
    context = told.context
    n = context.measured.seeds
    dips = [stats.bootstrap(context.curves(i, LOCAL), curve.dip_pct) for i in range(len(SCENARIOS))]
    samples = np.array([of_one for _, of_one in dips])
    spread = float(np.ptp([estimate for estimate, _ in dips]))
    bounds = (-np.inf, SAME_POINTS)
    parts = [
        judge.within_part("local, deepest minus flattest dip", np.ptp(samples, axis=0), spread, n, bounds, 2, "points")
    ]
    for i, scenario in enumerate(SCENARIOS):
        alike, alike_samples = stats.bootstrap(told.section_6[i], curve.dip_pct)
        name = f"local, {scenario}, dip minus that of section 6 at d = {Delays.of(scenario).d_l + 1} ms"
        gap, gap_samples = dips[i][0] - alike, samples[i] - alike_samples
        parts.append(judge.within_part(name, gap_samples, gap, n, (-SAME_POINTS, SAME_POINTS), 2, "points"))
    for mechanism in (PATH, LOOPBACK):
        curves = [context.curves(i, mechanism) for i in range(len(SCENARIOS))]
        for what, statistic, unit in (("dip", curve.dip_pct, "points"), ("settles after", curve.back_s, "s")):
            name = f"{MECHANISMS[mechanism]}, {what}"
            parts += judge.bootstrap_trend_parts(name, SCENARIOS, curves, statistic, "up", unit)
    return parts


JUDGES = {
    "variant-overflows-in-d": variant_recovers_faster_unless_d,
    "scenarios-alike-for-local": local_is_alike_others_worsen,
}
