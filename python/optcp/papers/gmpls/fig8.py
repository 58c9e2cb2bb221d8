"""Figure 8: how f(delta) is distributed over the random cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import histogram
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import claims5
from optcp.papers.gmpls.exhibit import READINGS_NOTE, Section5
from optcp.papers.gmpls.section5 import DELTA_MS
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.model import Row, Series
    from optcp.study import Done

BIN_PCT = 5


@exhibit
class Fig8(Section5):
    """Histograms of f(delta) with a resolution of 5 % and their normal fits."""

    id = "gmpls/fig8"
    title = "Distribution of goodput relative to an immediate switch"
    where = "section 5.2, Fig. 8"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Histogram and fit an (interpretation, delay), and the fits' parameters as rows."""
        measured = self.measured(done)
        rows: list[Row] = []
        series: list[Series] = []
        for reading, study in measured.items():
            for index, delta in enumerate(DELTA_MS[1:], start=1):
                values = 100 * study.ratio[:, index]
                key: dict[str, str | int | float] = {"flows": reading, "delta_ms": delta}
                rows.append(row(key, "f_mean_pct", None, stats.mean(values), ""))
                rows.append(row(key, "f_sd_pct", None, stats.deviation(values), ""))
                series += histogram.curves(key, values, BIN_PCT, "f(delta)")
        claims = claims5.judge_all(self.id, self.contexts(chosen, measured))
        return Evaluation(rows, claims, series, [READINGS_NOTE])
