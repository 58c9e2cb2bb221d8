"""Figure 7: goodput over time around the failure, for five switch delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import claims5
from optcp.papers.gmpls.exhibit import READINGS_NOTE, Section5
from optcp.papers.gmpls.paper import WINDOW_S
from optcp.papers.gmpls.section5 import CLASSES, DELTA_MS, END_S
from optcp.papers.model import Series
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section5 import Measured
    from optcp.papers.model import Row
    from optcp.study import Done

SHOWN_FROM_S = 4.5
CURVES = (*CLASSES, "total")
_AXES = ("time", "s", "goodput", "% of backbone bandwidth")


@exhibit
class Fig7(Section5):
    """Goodput of switched, fixed and all flows in 10 ms intervals, in per cent of the backbone bandwidth."""

    id = "gmpls/fig7"
    title = "Goodput over time by protection switch delay"
    where = "section 5.2, Fig. 7"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Mean curve over seeds with its interval, one example run, and the window's goodput as rows."""
        measured = self.measured(done)
        backbone_bps = float(chosen["backbone_bps"])
        rows: list[Row] = []
        series: list[Series] = []
        for reading, study in measured.items():
            example = done[reading].seeds[0]
            for index, delta in enumerate(DELTA_MS):
                rows += _rows(reading, study, index, backbone_bps)
                per_class = study.goodput[:, index]
                for position, name in enumerate(CURVES):
                    values = per_class[:, position] if position < len(CLASSES) else per_class.sum(axis=1)
                    key: dict[str, str | int | float] = {"flows": reading, "delta_ms": delta, "class": name}
                    series += _curves(key, values, study.interval_s, backbone_bps, example)
        claims = claims5.judge_all(self.id, self.contexts(chosen, measured))
        note = "The figure is lost from the text: nothing is printed to compare with, only what the text says of it."
        return Evaluation(rows, claims, series, [note, READINGS_NOTE])


def _rows(reading: str, measured: Measured, index: int, backbone_bps: float) -> list[Row]:
    window_s = WINDOW_S[1] - WINDOW_S[0]
    per_class = 100 * 8 * measured.bytes_in(*WINDOW_S)[:, index] / (window_s * backbone_bps)
    columns = [*per_class.T, per_class.sum(axis=1)]
    return [
        row({"flows": reading, "delta_ms": DELTA_MS[index], "class": name}, "goodput_pct", None, stats.mean(values), "")
        for name, values in zip(CURVES, columns, strict=True)
    ]


def _curves(
    key: dict[str, str | int | float],
    values: NDArray[np.int64],
    interval_s: float,
    backbone_bps: float,
    example_seed: int,
) -> list[Series]:
    """Mean over seeds with a 95 % t interval a point, and the first seed alone as the example run."""
    first, last = round(SHOWN_FROM_S / interval_s), round(END_S / interval_s)
    goodput = 100 * 8 * values[:, first:last] / (interval_s * backbone_bps)
    # A value of equation 4 belongs to the end of its interval.
    x = [round((index + 1) * interval_s, 6) for index in range(first, last)]
    n = goodput.shape[0]
    centre = goodput.mean(axis=0)
    band: list[tuple[float, float]] = []
    if n > 1:
        reach = special.stdtrit(n - 1, 0.975) * goodput.std(axis=0, ddof=1) / np.sqrt(n)
        band = list(zip((centre - reach).round(2).tolist(), (centre + reach).round(2).tolist(), strict=True))
    return [
        Series("mean over seeds", key, *_AXES, x, centre.round(2).tolist(), band),
        Series(f"example run, seed {example_seed}", key, *_AXES, x, goodput[0].round(2).tolist()),
    ]
