"""Curves of an exhibit from labelled cells."""

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
"""Labels of a curve: x, unit of x, y, unit of y."""


def over_time(
    cells: Cells, key: Key, labels: Labels, digits: int, *, shown_s: tuple[float, float], example: bool = False
) -> list[Series]:
    """Return the mean over seeds with a 95 % t interval per point, and optionally the first seed as an example.

    Parameters
    ----------
    cells
        Cells over ``time`` only, one value per interval (labelled by its end).
    digits
        Number of decimals of the values.
    shown_s
        Start and end of the curve, in s; ends of intervals.
    example
        Whether to include the first seed.
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
    """Return sums over longer time intervals; an incomplete interval at the end is omitted.

    Parameters
    ----------
    cells
        Cells with ``time`` as the last axis, the ends of equal intervals.
    """
    *others, time = cells.axes
    per_step = time.bound(step_s)
    count = len(time) // per_step
    values = cells.values[..., : count * per_step].reshape(*cells.values.shape[:-1], count, per_step).sum(axis=-1)
    ends = time.part(range(per_step - 1, count * per_step, per_step))
    return replace(cells, values=values, axes=(*others, ends))


def over_axis(estimates: Estimates, x: str, labels: Labels, key: Key | None = None) -> list[Series]:
    """Return estimates with intervals along an axis, one curve per cell of the other axes, without undefined points.

    Parameters
    ----------
    x
        Numeric axis; the curve uses SI units.
    key
        Leading part of the key of each curve.
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
