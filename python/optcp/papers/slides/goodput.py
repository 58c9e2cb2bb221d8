"""Goodput over time by class and in all, and the first second's gain of 50 ms over an immediate switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.model import Series
from optcp.papers.printed import tables
from optcp.papers.slides import claims, first
from optcp.papers.slides.first import CLASSES, DELTA_MS, STEP_S
from optcp.papers.verdict import row
from optcp.quantiles import quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.model import Key, Row
    from optcp.study import Done

BIN_PCT = 10
CURVES = (*CLASSES, "total")
_WHY = (
    "The printed value is of one run. Over start times the gain spreads far more than the distance: the rows beside "
    "this one say how far and where the printed value falls."
)


@exhibit
class Goodput(first.First):
    """Curves by class, and the distribution of the first second's gain over start times."""

    id = "slides/goodput"
    title = "Goodput by protection switch delay, and the first second after the failure"
    where = "slides, TCP goodput"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Curves, the gain's rows, the gain's histogram."""
        measured = first.measure(chosen, done)
        gain = claims.first_second_gain_pct(measured)
        context = claims.Context(measured, float(chosen["backbone_bps"]), float(chosen["access_share"]))
        series = _curves(measured.coarse(), done["5+5"].seeds[0])
        series.append(_histogram(gain))
        judged = claims.judge_all(self.id, context, str(chosen["profile"]))
        return Evaluation([*_gain_rows(gain), *_second_rows(measured)], judged, series, [first.SEEDS_NOTE])


def _gain_rows(gain: NDArray[np.float64]) -> list[Row]:
    """How the first second's gain is distributed, and where the printed value falls."""
    printed = tables("slides")["first_second_50ms_vs_0ms_pct"]
    key: Key = {"window": "10-11 s", "delta_ms": 50, "class": "total"}
    n = gain.size
    rows = [row(key, "one_run_gain_pct", printed, stats.mean(gain), _WHY)]
    below = float((gain < printed).sum() + 0.5 * (gain == printed).sum())
    points = {"median": 0.5, "p05": 0.05, "p95": 0.95}
    found = {name: quantile(gain, share) for name, share in points.items()}
    found["sd"] = stats.deviation(gain)
    rows += [row(key, f"gain_{name}_pct", None, interval, "") for name, interval in found.items()]
    rows.append(row(key, "print_percentile_pct", None, stats.wilson(below, n).times(100), ""))
    return rows


def _second_rows(measured: first.Measured) -> list[Row]:
    """Goodput of the first seconds by class, in kB."""
    rows = []
    for second in (10, 11, 12):
        per_class = measured.bytes_in(second, second + 1) / 1e3
        for index, delta in enumerate(DELTA_MS):
            columns = [*per_class[:, index].T, per_class[:, index].sum(axis=-1)]
            for name, values in zip(CURVES, columns, strict=True):
                key: Key = {
                    "window": f"{second}-{second + 1} s",
                    "delta_ms": delta,
                    "class": name,
                }
                rows.append(row(key, "goodput_kb", None, stats.mean(values), ""))
    return rows


def _curves(goodput: NDArray[np.int64], example: int) -> list[Series]:
    """Mean over seeds with a 95 % t interval, and the first seed, in Mb/s by intervals of 100 ms."""
    x = [round((index + 1) * STEP_S, 6) for index in range(goodput.shape[-1])]
    axes = ("time", "s", "goodput", "Mb/s")
    n, found = goodput.shape[0], []
    for index, delta in enumerate(DELTA_MS):
        for number, name in enumerate(CURVES):
            one = goodput[:, index]
            values = 8e-6 / STEP_S * (one[:, number] if number < len(CLASSES) else one.sum(axis=1))
            key: Key = {"delta_ms": delta, "class": name}
            band: list[tuple[float, float]] = []
            if n > 1:
                reach = special.stdtrit(n - 1, 0.975) * values.std(axis=0, ddof=1) / np.sqrt(n)
                mean = values.mean(axis=0)
                band = list(zip((mean - reach).round(4).tolist(), (mean + reach).round(4).tolist(), strict=True))
            found.append(Series("mean over seeds", key, *axes, x, values.mean(axis=0).round(4).tolist(), band))
            found.append(Series(f"example run, seed {example}", key, *axes, x, values[0].round(4).tolist()))
    return found


def _histogram(gain: NDArray[np.float64]) -> Series:
    """Share of runs by intervals of 10 % of the gain; x is the lower edge."""
    bins = np.floor(gain / BIN_PCT).astype(np.int64)
    counts = np.bincount(bins - bins.min())
    x = ((np.arange(counts.size) + bins.min()) * float(BIN_PCT)).tolist()
    y = (100 * counts / gain.size).round(4).tolist()
    return Series("gain", {"delta_ms": 50}, "gain of 50 ms over 0 ms", "%", "share of runs", "%", x, y)
