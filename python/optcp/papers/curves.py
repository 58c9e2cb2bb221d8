"""Curves and histograms of an exhibit, out of labelled cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp.papers.model import Series

if TYPE_CHECKING:
    from optcp.cells import Cells
    from optcp.papers.model import Key

Labels = tuple[str, str, str, str]
"""Of a curve: what x is and its unit, what y is and its unit."""


def over_time(
    cells: Cells, key: Key, labels: Labels, digits: int, *, shown_s: tuple[float, float], example: bool = False
) -> list[Series]:
    """The mean over seeds with a 95 % t interval a point, and the first seed alone as an example run.

    Parameters
    ----------
    cells
        Over ``time`` alone: a value an interval, which belongs to its end.
    digits
        To which values are rounded.
    shown_s
        From when to when, in seconds; ends of intervals.
    example
        Whether the first seed is shown.
    """
    (time,) = cells.axes
    first, last = (time.bound(instant) for instant in shown_s)
    values = cells.values[:, first:last]
    x = [round(end, 6) for end in (time.numbers or ())[first:last]]
    n, mean = len(values), values.mean(axis=0)
    band: list[tuple[float, float]] = []
    if n > 1:
        reach = special.stdtrit(n - 1, 0.975) * values.std(axis=0, ddof=1) / np.sqrt(n)
        ends = (mean - reach).round(digits).tolist(), (mean + reach).round(digits).tolist()
        band = list(zip(*ends, strict=True))
    curves = [Series("mean over seeds", key, *labels, x, mean.round(digits).tolist(), band)]
    if example:
        name = f"example run, seed {cells.seeds[0]}"
        curves.append(Series(name, key, *labels, x, values[0].round(digits).tolist()))
    return curves
