"""Curves with an interval at each point."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from optcp.papers.model import Series


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
    """A curve, and its intervals as bars.

    Parameters
    ----------
    scale
        From the curve's unit of x to the figure's.
    """
    x = [scale * one for one in curve.x]
    panel.plot(x, curve.y, linestyle=style, marker=marker, markersize=3.5, color=colour, label=label)
    if curve.ci95:
        low, high = zip(*curve.ci95, strict=True)
        panel.vlines(x, low, high, color=colour, linewidth=1.6, alpha=0.6)
