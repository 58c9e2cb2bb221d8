"""Rows and curves over the assembly timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers.model import Series
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.model import Key, Row


def rows_of(metric: str, values: Mapping[tuple[tuple[str, str | int | float], ...], NDArray[np.float64]]) -> list[Row]:
    """One row a key, the mean of its values, one value a file; the paper's curves are lost, so none is printed."""
    return [row(dict(key), metric, None, stats.mean(found), "") for key, found in values.items()]


def frozen(key: Key) -> tuple[tuple[str, str | int | float], ...]:
    """The key in a form that can be one of a mapping."""
    return tuple(key.items())


def curves(rows: Sequence[Row], label: str, unit: str) -> list[Series]:
    """One curve for all rows that differ in their timer alone."""
    found: dict[tuple[tuple[str, str | int | float], ...], list[Row]] = {}
    for one in rows:
        rest = {name: value for name, value in one.key.items() if name != "timer_s"}
        found.setdefault(frozen(rest), []).append(one)
    drawn = []
    for rest_key, points in found.items():
        intervals = [(low, high) for low, high in (one.ci95 for one in points) if low is not None and high is not None]
        drawn.append(
            Series(
                label,
                dict(rest_key),
                "assembly timer",
                "s",
                label,
                unit,
                [float(one.key["timer_s"]) for one in points],
                [one.measured for one in points],
                intervals if len(intervals) == len(points) else [],
            )
        )
    return drawn
