"""Figure 16: how the ratio of optical to electrical goodput is distributed over the random cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import histogram, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.section6 import D_MS
from optcp.papers.gmpls.section7 import LOST_NOTE, OPTICAL_NOTE, Section7, better_share_parts
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section7 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row, Series
    from optcp.study import Done

BIN_PCT = 1


@exhibit
class Fig16(Section7):
    """Histograms of f(d) = Good(optical, d) / Good(electrical, d) with a resolution of 1 %, and their normal fits."""

    id = "gmpls/fig16"
    title = "Distribution of optical against electrical goodput after the repair"
    where = "section 7.2, Fig. 16"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Histogram and fit a d, and the fits' parameters as rows."""
        context = self.context(chosen, done)
        rows: list[Row] = []
        series: list[Series] = []
        for i, d in enumerate(D_MS):
            values = 100 * context.measured.ratio()[:, i]
            key: Key = {"d_ms": d}
            rows.append(row(key, "f_mean_pct", None, stats.mean(values), ""))
            rows.append(row(key, "f_sd_pct", None, stats.deviation(values), ""))
            series += histogram.curves(key, values, BIN_PCT, "f(d)")
        return Evaluation(rows, context.judge(self.id, JUDGES), series, [LOST_NOTE, OPTICAL_NOTE])


def optical_is_better_at_100(context: Context) -> list[Part]:
    """Judge: at d = 100 ms optical is the better one, as often as printed."""
    gain = 100 * (context.measured.ratio()[:, D_MS.index(100)] - 1)
    return [
        judge.paired_part("f(100 ms) - 1", gain, np.zeros_like(gain), "above", "%"),
        *better_share_parts(context, (100,)),
    ]


JUDGES = {"optical-ahead-at-100ms": optical_is_better_at_100}
