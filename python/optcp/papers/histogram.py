"""Histograms of a ratio over runs with normal fits, as in the gmpls paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.exhibit import key_value, rows
from optcp.papers.model import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.data.cells import Cells
    from optcp.papers.model import Key, Row

FIT_REACH = 4
"""Range of a drawn fit on each side of the mean, in standard deviations."""


def distribution(
    ratio_pct: Cells, bin_pct: int, x_label: str, key: Key | None = None
) -> tuple[list[Row], list[Series]]:
    """Return mean, standard deviation, histogram and fit of a ratio in per cent, per value of its only axis."""
    (axis,) = ratio_pct.axes
    drawn = []
    for place, value in enumerate(axis.values):
        here = {**(key or {}), axis.name: key_value(axis, place)}
        drawn += curves(here, ratio_pct.at(**{axis.name: value}).values, bin_pct, x_label)
    return rows({"f_mean_pct": ratio_pct.mean(), "f_sd_pct": ratio_pct.deviation()}, key=key), drawn


def histogram(values: NDArray[np.float64], bin_pct: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of runs by interval.

    Parameters
    ----------
    values
        Ratio in per cent, one per run, shape (n,).
    bin_pct
        Width of an interval.

    Returns
    -------
    edges
        Lower edges x, multiples of the width; a run counts at x when its value lies in [x, x + width).
    shares
        Per cent of the runs, for every edge from the lowest to the highest that has any.
    """
    bins = np.floor(values / bin_pct).astype(np.int64)
    counts = np.bincount(bins - bins.min())
    return (np.arange(counts.size) + bins.min()) * float(bin_pct), 100 * counts / values.size


def curves(key: Key, values: NDArray[np.float64], bin_pct: int, x_label: str) -> list[Series]:
    """Return the histogram and, if the values vary, the density of the normal fit in per cent per bin."""
    edges, shares = histogram(values, bin_pct)
    drawn = [_series("histogram", key, x_label, edges, shares)]
    mean, sd = stats.normal_fit(values)
    if sd > 0:
        x = np.linspace(mean - FIT_REACH * sd, mean + FIT_REACH * sd, 81)
        density = np.exp(-((x - mean) ** 2) / (2 * sd**2)) / (sd * np.sqrt(2 * np.pi))
        drawn.append(_series("normal fit", key, x_label, x, 100 * bin_pct * density))
    return drawn


def _series(name: str, key: Key, x_label: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Series:
    return Series(
        name=name,
        key=key,
        x_label=x_label,
        x_unit="%",
        y_label="share of runs",
        y_unit="%",
        x=[round(value, 3) for value in x.tolist()],
        y=[round(value, 4) for value in y.tolist()],
    )
