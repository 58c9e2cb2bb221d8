"""Figure 11: how f(d) is distributed over the random cases, delta = 5 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import histogram, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.paper import PAPER_RUNS
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, LOST_NOTE, Section6, steps
from optcp.papers.printed import tables
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section6 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row, Series
    from optcp.study import Done

FIRST = DELTA_MS.index(5)
BIN_PCT = 1


@exhibit
class Fig11(Section6):
    """Histograms of f(d) with a resolution of 1 % and their normal fits."""

    id = "gmpls/fig11"
    title = "Distribution of goodput relative to no change in RTT, delta = 5 ms"
    where = "section 6.2, Fig. 11"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Histogram and fit a d, and the fits' parameters as rows."""
        context = self.context(chosen, done)
        rows: list[Row] = []
        series: list[Series] = []
        for i, d in enumerate(D_MS[1:], start=1):
            values = 100 * context.measured.ratio[:, i, FIRST]
            key: Key = {"d_ms": d}
            rows.append(row(key, "f_mean_pct", None, stats.mean(values), ""))
            rows.append(row(key, "f_sd_pct", None, stats.deviation(values), ""))
            series += histogram.curves(key, values, BIN_PCT, "f(d)")
        return Evaluation(rows, context.judge(self.id, JUDGES), series, [LOST_NOTE])


def longer_loses_more_often(context: Context) -> list[Part]:
    """Judge: the shares of Table 4, and that the peak of f moves left with d."""
    measured, printed = context.measured, tables("gmpls")["table4"]
    n, ratio = measured.seeds, measured.ratio[..., FIRST]
    best = measured.best_share[..., FIRST].sum(axis=0)
    parts = [
        judge.printed_share_part(
            f"worse than 1 ms, {D_MS[i]} ms",
            int((ratio[:, i] < 1).sum()),
            n,
            printed["worse_than_1ms_pct"][i],
            PAPER_RUNS,
        )
        for i in range(1, len(D_MS))
    ]
    parts += [
        judge.printed_share_part(f"best, {d} ms", float(best[i]), n, printed["best_pct"][i], PAPER_RUNS)
        for i, d in enumerate(D_MS)
    ]
    return parts + judge.trend_parts("mean f, d", steps(D_MS[1:]), list(100 * ratio.T[1:]), "down", "%")


JUDGES = {"losing-share-climbs": longer_loses_more_often}
