"""Histograms as markers and their normal fits as curves, as the GMPLS paper draws them."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from optcp.papers.model import Series

LENGTHS = {1: "#0072B2", 2: "#56B4E9", 10: "#009E73", 20: "#E69F00", 50: "#D55E00", 100: "#CC79A7"}
"""Colours by d, the additional delay of the backup in ms."""


def draw(panel: Axes, series: Sequence[Series]) -> None:
    """Draw the histograms and their fits, each in the colour of its d."""
    for curve in series:
        d = int(curve.key["d_ms"])
        if curve.name == "histogram":
            panel.plot(curve.x, curve.y, "o", markersize=4, color=LENGTHS[d], label=f"d = {d} ms")
        else:
            panel.plot(curve.x, curve.y, color=LENGTHS[d])
    panel.set_xlabel("f(d) (%)")
    panel.set_ylabel("share of runs (%)")
    panel.set_ylim(bottom=0)
    panel.legend()
