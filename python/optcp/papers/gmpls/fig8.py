"""Figure 8: how f(delta) is distributed over the random cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import claims5
from optcp.papers.gmpls.exhibit import READINGS_NOTE, Section5
from optcp.papers.gmpls.section5 import DELTA_MS
from optcp.papers.model import Series
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.study import Done

BIN_PCT = 5


@exhibit
class Fig8(Section5):
    """Histograms of f(delta) with a resolution of 5 % and their normal fits."""

    id = "gmpls/fig8"
    title = "Distribution of goodput relative to an immediate switch"
    where = "section 5.2, Fig. 8"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Histogram and fit a (reading, delay), and the fits' parameters as rows."""
        measured = self.measured(done)
        rows, series = [], []
        for reading, study in measured.items():
            for index, delta in enumerate(DELTA_MS[1:], start=1):
                values = 100 * study.ratio[:, index]
                key: dict[str, str | int | float] = {"flows": reading, "delta_ms": delta}
                fit_mean, fit_sd = stats.normal_fit(values)
                rows.append(row(key, "f_mean_pct", None, stats.mean(values), ""))
                rows.append(row(key, "f_sd_pct", None, stats.deviation(values), ""))
                edges, shares = histogram(values)
                series.append(_series("histogram", key, edges, shares))
                if fit_sd > 0:
                    x = np.linspace(fit_mean - 4 * fit_sd, fit_mean + 4 * fit_sd, 81)
                    density = np.exp(-((x - fit_mean) ** 2) / (2 * fit_sd**2)) / (fit_sd * np.sqrt(2 * np.pi))
                    series.append(_series("normal fit", key, x, 100 * BIN_PCT * density))
        claims = claims5.judge_all(self.id, self.contexts(chosen, measured))
        return Evaluation(rows, claims, series, [READINGS_NOTE])


def histogram(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of runs by interval of 5 %.

    Parameters
    ----------
    values
        f(delta) in per cent, one a run, shape (n,).

    Returns
    -------
    edges
        Lower edges x, multiples of 5; a run counts at x when its value lies in [x, x + 5).
    shares
        Per cent of the runs, for every edge from the lowest to the highest that has any.
    """
    bins = np.floor(values / BIN_PCT).astype(np.int64)
    counts = np.bincount(bins - bins.min())
    return (np.arange(counts.size) + bins.min()) * float(BIN_PCT), 100 * counts / values.size


def _series(name: str, key: dict[str, str | int | float], x: NDArray[np.float64], y: NDArray[np.float64]) -> Series:
    return Series(
        name=name,
        key=key,
        x_label="f(delta)",
        x_unit="%",
        y_label="share of runs",
        y_unit="%",
        x=[round(value, 3) for value in x.tolist()],
        y=[round(value, 4) for value in y.tolist()],
    )
