"""Estimates of a study against one of its axes, with intervals as error bars."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from optcp.errors import InputError
from optcp.labelled import position

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from optcp.estimates import Estimates

IEEE_WIDTH_IN = {1: 3.5, 2: 7.16}
"""The width of one and of two columns of a page of an IEEE journal."""
MARKERS = "os^Dv*"


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
            marker = MARKERS[at % len(MARKERS)]
            ax.errorbar(places, middle[:, at], bars, marker=marker, markersize=3.5, capsize=2, label=curve)
        if along.numbers is None:
            ax.set_xticks(places, along.shown)
        for name, unit, put in (
            (x, along.unit, ax.set_xlabel),
            (estimates.name, estimates.unit, ax.set_ylabel),
        ):
            put(name.replace("_", " ") + (f" [{unit}]" if unit else ""))
        if by is not None:
            ax.legend(title=by.replace("_", " "), title_fontsize=9)
    return ax
