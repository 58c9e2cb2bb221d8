"""Plot of estimates over an axis, with intervals as error bars."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from optcp.common import arguments
from optcp.data.labelled import position, prefixed, words
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Ruler
    from numpy.typing import NDArray

    from optcp.data.estimates import Estimates

IEEE_WIDTH_IN = {1: 3.5, 2: 7.16}
"""Width of one and two columns of an IEEE page, in inches."""
MARKERS = "os^Dv*"
LINES = ("-", "--")
MAX_CURVES = len(LINES) * len(MARKERS)
"""Maximum number of distinguishable curves."""
WIDE = 36
"""Number of letters of tick labels that fit next to each other in one column."""
DECADES = 50
"""Ratio of largest to smallest value above which an axis is logarithmic."""
MAX_TICKS = 7


def draw(estimates: Estimates, x: str, by: str | None, columns: int, ax: Axes | None) -> Axes:
    """Draw one curve per value of ``by``; implements :meth:`optcp.data.estimates.Estimates.plot`."""
    from matplotlib import pyplot as plt

    columns = arguments.whole(columns, "columns", 1, max(IEEE_WIDTH_IN))
    if ax is not None:
        arguments.one_of(ax, mpl.axes.Axes, "ax", "matplotlib's Axes")
    if by is not None and arguments.text(by, "by") == arguments.text(x, "x"):
        raise InputError(f"x and by are both {x!r}; choose another axis for by")
    axes = estimates.axes
    order = [position(axes, name) for name in (x, by) if name is not None]
    for at, axis in enumerate(axes):
        if at not in order and len(axis) > 1:
            raise InputError(f"axis {axis.name!r} has {len(axis)} values; select one with at({axis.name}=...) first")
    order += [at for at in range(len(axes)) if at not in order]
    along = axes[order[0]]
    curves = axes[order[1]].shown if by is not None else ("",)
    at_least = np.full_like(estimates.estimate, np.nan) if estimates.at_least is None else estimates.at_least
    middle, low, high, bound = (
        array.transpose(order).reshape(len(along), len(curves))
        for array in (estimates.estimate, estimates.low, estimates.high, at_least)
    )
    places = np.array(range(len(along)) if along.numbers is None else along.numbers, dtype=np.float64)
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        if ax is None:
            ax = plt.figure(figsize=(IEEE_WIDTH_IN[columns], 2.4), facecolor="white").add_subplot()
        for at, curve in enumerate(curves):
            # A single seed and a censored mean have no interval: draw no bar for infinite bounds.
            with np.errstate(invalid="ignore"):
                bars = np.array([middle[:, at] - low[:, at], high[:, at] - middle[:, at]])
            bars[~np.isfinite(bars)] = 0
            # For an axis of words, draw no lines and place the points of curves side by side.
            beside, line = (
                (0.0, LINES[at // len(MARKERS) % len(LINES)])
                if along.numbers is not None
                else (0.12 * (at - (len(curves) - 1) / 2), "none")
            )
            marker = MARKERS[at % len(MARKERS)]
            drawn = ax.errorbar(
                places + beside, np.where(np.isinf(middle[:, at]), np.nan, middle[:, at]), bars,
                linestyle=line, marker=marker, markersize=3.5, capsize=2, label=curve,
            )  # fmt: skip
            _censored(ax, places + beside, bound[:, at], marker, str(drawn.lines[0].get_color()))
        if along.numbers is None:
            crowded = sum(map(len, along.shown)) > WIDE * columns
            ax.set_xticks(places, along.shown)
            if crowded:
                for label in ax.get_xticklabels():
                    label.set(rotation=40, ha="right", rotation_mode="anchor")
            ax.set_xlabel(words(x))
        else:
            _numeric(ax.xaxis, words(x), along.unit, places)
            _spread(ax, places)
        finite = np.concatenate([array[np.isfinite(array)] for array in (middle, bound)])
        _numeric(ax.yaxis, words(estimates.name, estimates.unit), estimates.unit, finite)
        if by is not None:
            ax.legend(
                title=words(by), title_fontsize=9, alignment="left", ncols=_beside(curves, columns), columnspacing=1,
                loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2,
            )  # fmt: skip
    return ax


def _censored(ax: Axes, places: NDArray[np.float64], bounds: NDArray[np.float64], marker: str, color: str) -> None:
    """Draw lower bounds of infinite estimates as hollow markers with an upward arrow."""
    known = np.isfinite(bounds)
    if known.any():
        ax.plot(places[known], bounds[known], marker, markersize=5, markerfacecolor="none", color=color)
        arrow = {"arrowstyle": "<-", "color": color, "shrinkB": 3}
        for place, bound in zip(places[known], bounds[known], strict=True):
            ax.annotate("", (place, bound), xytext=(0, 16), textcoords="offset points", arrowprops=arrow)


def _beside(names: Sequence[str], columns: int) -> int:
    """Return the number of legend entries per row; an entry is as wide as its letters plus seven for the marker."""
    return max(1, min(len(names), 46 * columns // (max(map(len, names)) + 7)))


def _numeric(ruler: Ruler, label: str, unit: str, values: NDArray[np.float64]) -> None:
    """Label an axis with the unit of its ticks, such as "[ms]"."""
    factor, prefixed_unit = prefixed(float(np.abs(values).max(initial=0)), unit)
    ruler.set_label_text(f"{label} [{prefixed_unit}]" if prefixed_unit else label)
    if factor != 1:
        ruler.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:.6g}"))


def _spread(ax: Axes, places: NDArray[np.float64]) -> None:
    """Use a logarithmic axis with a tick per value if the values span decades."""
    if places.min() <= 0 or places.max() < DECADES * places.min() or len(places) > MAX_TICKS:
        return
    shown = ax.xaxis.get_major_formatter()
    ax.set_xscale("log")
    ax.set_xticks(places)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(
        shown if isinstance(shown, FuncFormatter) else FuncFormatter(lambda one, _: f"{one:g}")
    )
