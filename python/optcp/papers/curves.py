"""Curves and histograms of an exhibit, out of labelled cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp.data.labelled import cells_of, position
from optcp.papers.model import Series

if TYPE_CHECKING:
    from optcp.data.cells import Cells
    from optcp.data.estimates import Estimates
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
    band: list[tuple[float | None, float | None]] = []
    if n > 1:
        reach = special.stdtrit(n - 1, 0.975) * values.std(axis=0, ddof=1) / np.sqrt(n)
        ends = (mean - reach).round(digits).tolist(), (mean + reach).round(digits).tolist()
        band = list(zip(*ends, strict=True))
    curves = [Series("mean over seeds", key, *labels, x, mean.round(digits).tolist(), band)]
    if example:
        name = f"example run, seed {cells.seeds[0]}"
        curves.append(Series(name, key, *labels, x, values[0].round(digits).tolist()))
    return curves


def coarser(cells: Cells, step_s: float) -> Cells:
    """Sums over longer intervals of time, of which each holds as many of the cells'; a rest at the end is left out.

    Parameters
    ----------
    cells
        With ``time`` as their last axis, the ends of equal intervals.
    """
    *others, time = cells.axes
    many = time.bound(step_s)
    count = len(time) // many
    values = cells.values[..., : count * many].reshape(*cells.values.shape[:-1], count, many).sum(axis=-1)
    ends = time.part(range(many - 1, count * many, many))
    return replace(cells, values=values, axes=(*others, ends))


def over_axis(estimates: Estimates, x: str, labels: Labels, key: Key | None = None) -> list[Series]:
    """Estimates with their intervals along an axis, a curve for each cell of the other axes; none where undefined.

    Parameters
    ----------
    x
        The axis, of numbers; they are drawn in SI.
    key
        What each curve's key has in front of the other axes' values.
    """
    place = position(estimates.axes, x)
    axis, others = estimates.axes[place], [one for at, one in enumerate(estimates.axes) if at != place]
    numbers = axis.numbers or tuple(map(float, range(len(axis))))
    curves = []
    for at, where in cells_of(others):
        points = [estimates.interval((*at[:place], i, *at[place:])) for i in range(len(axis))]
        drawn = [(number, one) for number, one in zip(numbers, points, strict=True) if one.n]
        ends = [(one.low, one.high) for _, one in drawn]
        curves.append(
            Series(
                estimates.name or labels[2],
                {**(key or {}), **where},
                *labels,
                [number for number, _ in drawn],
                [round(one.estimate, 6) for _, one in drawn],
                [(round(low, 6), round(high, 6)) for low, high in ends] if np.isfinite(ends).all() else [],
            )
        )
    return curves
