"""Estimates of a study against one of its axes, with intervals as error bars."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import EngFormatter

from optcp.errors import InputError
from optcp.labelled import position

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from optcp.estimates import Estimates

IEEE_WIDTH_IN = {1: 3.5, 2: 7.16}
"""The width of one and of two columns of a page of an IEEE journal."""
MARKERS = "os^Dv*"
PREFIXED = ("s", "bit/s", "B")
"""Units that ticks show with a prefix: "50 ms"."""


def draw(estimates: Estimates, x: str, by: str | None, columns: int, ax: Axes | None) -> Axes:
    """Draw one curve a value of ``by``: the work of :meth:`optcp.estimates.Estimates.plot`."""
    from matplotlib import pyplot as plt

    if columns not in IEEE_WIDTH_IN:
        raise InputError(f"a figure is 1 or 2 columns wide, got {columns}")
    if by == x:
        raise InputError(f"x and by are both {x!r}; by is another axis")
    axes = estimates.axes
    order = [position(axes, name) for name in (x, by) if name is not None]
    for at, axis in enumerate(axes):
        if at not in order and len(axis) > 1:
            raise InputError(f"axis {axis.name!r} has {len(axis)} values; take one with at({axis.name}=...) before")
    order += [at for at in range(len(axes)) if at not in order]
    along = axes[order[0]]
    curves = axes[order[1]].shown if by is not None else ("",)
    middle, low, high = (
        array.transpose(order).reshape(len(along), len(curves))
        for array in (estimates.estimate, estimates.low, estimates.high)
    )
    places = np.arange(len(along)) if along.numbers is None else np.array(along.numbers)
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        if ax is None:
            ax = plt.figure(figsize=(IEEE_WIDTH_IN[columns], 2.4), facecolor="white").add_subplot()
        for at, curve in enumerate(curves):
            # One seed has no interval: its infinite bounds are no bar.
            bars = np.array([middle[:, at] - low[:, at], high[:, at] - middle[:, at]])
            bars[~np.isfinite(bars)] = 0
            # Between words there is no line; what stands at one of them stands side by side.
            beside, line = (0.0, "-") if along.numbers is not None else (0.12 * (at - (len(curves) - 1) / 2), "none")
            ax.errorbar(
                places + beside, middle[:, at], bars,
                linestyle=line, marker=MARKERS[at % len(MARKERS)], markersize=3.5, capsize=2, label=curve,
            )  # fmt: skip
        if along.numbers is None:
            ax.set_xticks(places, along.shown)
        else:
            ax.locator_params(axis="x", nbins=4 * columns)  # a tick with its unit is wide
        for name, unit, ruler in ((x, along.unit, ax.xaxis), (estimates.name, estimates.unit, ax.yaxis)):
            prefixed = unit in PREFIXED
            ruler.set_label_text(name.replace("_", " ") + (f" [{unit}]" if unit and not prefixed else ""))
            if prefixed:
                ruler.set_major_formatter(EngFormatter(unit))
        if by is not None:
            title = by.replace("_", " ")
            ax.legend(
                title=title, title_fontsize=9, alignment="left", ncols=3 * columns, columnspacing=1,
                loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2,
            )  # fmt: skip
    return ax
