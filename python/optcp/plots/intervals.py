"""Plots of values with confidence intervals: curves with bars or a band, and markers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optcp.plots.bars import lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis

    from optcp.papers.model import Row, Series


def line(
    panel: Axes,
    curve: Series,
    colour: str,
    style: str,
    label: str,
    marker: str | None = None,
    *,
    scale: float = 1.0,
) -> None:
    """Draw a curve with its intervals as bars.

    Parameters
    ----------
    scale
        Factor from the unit of x of the curve to the unit of x of the figure.
    """
    x = [scale * one for one in curve.x]
    panel.plot(x, curve.y, linestyle=style, marker=marker, markersize=3.5, color=colour, label=label)
    if curve.ci95:
        low, high = curve.ends
        panel.vlines(x, low, high, color=colour, linewidth=1.6, alpha=0.6)


def band(
    panel: Axes, curve: Series, colour: str, label: str, style: str = "-", *, size: float = 4.0, width: float = 1.1
) -> None:
    """Draw a curve with its intervals as a band.

    Parameters
    ----------
    style
        Format string of matplotlib for line and marker.
    size, width
        Marker size and line width in points.
    """
    panel.plot(curve.x, curve.y, style, markersize=size, linewidth=width, color=colour, label=label)
    if curve.ci95:
        low, high = curve.ends
        panel.fill_between(curve.x, low, high, color=colour, alpha=0.2, linewidth=0)


def marks(panel: Axes, x: Sequence[float], rows: Sequence[Row], colour: str, label: str, style: str = "o") -> None:
    """Draw the simulated values of rows at ``x`` with their intervals."""
    y = [row.value for row in rows]
    panel.errorbar(x, y, yerr=lengths(rows), fmt=style, markersize=4, capsize=2, color=colour, label=label)


def marks_across(panel: Axes, rows: Sequence[Row], y: Sequence[float], colour: str, label: str) -> None:
    """Draw the simulated values of rows along x, at ``y``, with their intervals."""
    x = [row.value for row in rows]
    panel.errorbar(x, y, xerr=lengths(rows), fmt="o", markersize=4, capsize=2, color=colour, label=label)


def decades(axis: XAxis | YAxis) -> None:
    """Label a logarithmic axis at each decade."""
    low, high = sorted(axis.get_view_interval())
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    axis.set_ticks([10.0**power for power in powers], [f"{10.0**power:g}" for power in powers])
    axis.set_ticks([], minor=True)
