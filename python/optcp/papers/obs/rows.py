"""Rows and curves over the assembly timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers.over import Axis, curves_over
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.model import Key, Row, Series


def rows_of(metric: str, values: Mapping[tuple[tuple[str, str | int | float], ...], NDArray[np.float64]]) -> list[Row]:
    """One row a key, the mean of its values, one value a file; the paper's curves are lost, so none is printed."""
    return [row(dict(key), metric, None, stats.mean(found), "") for key, found in values.items()]


def frozen(key: Key) -> tuple[tuple[str, str | int | float], ...]:
    """The key in a form that can be one of a mapping."""
    return tuple(key.items())


def curves(rows: Sequence[Row], label: str, unit: str) -> list[Series]:
    """One curve for all rows that differ in their timer alone."""
    return curves_over(rows, "timer_s", Axis("assembly timer", "s"), Axis(label, unit))
