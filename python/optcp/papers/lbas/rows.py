"""Rows and curves of what is measured with anycast switching and without, seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.over import Axis, curves_over
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.model import Key, Row, Series

DIFFERENCE = "with minus without"


def both_modes(key: Key, modes: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> list[Row]:
    """Rows with anycast switching and without, and of the difference, paired by seed.

    Parameters
    ----------
    modes
        "yes" and "no" to the values of each metric, one a seed.
    """
    found = [
        row({**key, "anycast": mode}, metric, None, stats.mean(values), "")
        for mode, metrics in modes.items()
        for metric, values in metrics.items()
    ]
    return found + [
        row(
            {**key, "anycast": DIFFERENCE},
            _difference(metric),
            None,
            stats.paired(values, modes["no"][metric]).interval,
            "",
        )
        for metric, values in modes["yes"].items()
    ]


def _difference(metric: str) -> str:
    """A difference of percentages is in points."""
    return f"{metric.removesuffix('_pct')}_points" if metric.endswith("_pct") else metric


def columns(measured: Sequence[Mapping[str, float]]) -> dict[str, NDArray[np.float64]]:
    """From one mapping a seed to one array a metric."""
    return {metric: np.array([one[metric] for one in measured]) for metric in measured[0]}


def curves(rows: Sequence[Row], metric: str, axis: str, labels: tuple[str, str], unit: tuple[str, str]) -> list[Series]:
    """One curve of a metric over an axis for all rows that differ in the axis alone.

    Parameters
    ----------
    labels, unit
        Of x and of y.
    """
    shown = (one for one in rows if one.metric == metric and one.key["anycast"] != DIFFERENCE)
    return curves_over(shown, axis, Axis(labels[0], unit[0]), Axis(labels[1], unit[1]))
