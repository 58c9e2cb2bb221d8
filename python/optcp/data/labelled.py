"""Common functions of labelled arrays: iteration over cells, tidy columns, and text and HTML tables."""

from __future__ import annotations

import html
import importlib
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.data.axes import Axis
    from optcp.data.cells import Cells
    from optcp.data.estimates import Estimates
    from optcp.data.samples import Samples

PREFIXED = ("s", "bit/s", "B")
"""Units that are shown with an SI prefix, such as "50 ms"."""
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
EXTRAS = {
    "gymnasium": "gym",
    "matplotlib": "plot",
    "anywidget": "widget",
    "mcp": "mcp",
    "openpyxl": "sheets",
    "pandas": "frames",
    "perfetto": "perfetto",
    "sgp4": "tle",
    "xarray": "frames",
}
"""Extra of the package that installs an optional library."""
SUFFIXES = {"s": "_s", "bit/s": "_bps", "B": "_bytes"}
"""Suffixes of names by unit; plots omit the suffix and show the unit instead."""
MOST_ROWS = 60
"""Maximum number of rows of a displayed table."""


def label(one: Cells | Samples | Estimates) -> None:
    """Convert the axes of a frozen labelled array, and check its name and unit.

    Raises
    ------
    InputError
        If one of them has another type.
    """
    from optcp.data.axes import Axis

    if type(one.axes) is not tuple or not all(type(axis) is Axis for axis in one.axes):
        axes = arguments.several(one.axes, "axes", "a list of axes")
        object.__setattr__(one, "axes", tuple(arguments.one_of(axis, Axis, "axes", "an Axis") for axis in axes))
    arguments.text(one.name, "name")
    arguments.text(one.unit, "unit")


def position(axes: Sequence[Axis], name: str) -> int:
    """Return the index of an axis.

    Raises
    ------
    InputError
        If it does not exist.
    """
    names = [axis.name for axis in axes]
    if arguments.text(name, "axis") not in names:
        known = nearest(name, names) if names else "there is none"
        raise InputError(f"no axis {name!r}; {known}")
    return names.index(name)


def cells_of(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], dict[str, str]]]:
    """Yield the position of each cell and its values as written, by axis; the last axis varies fastest."""
    for at in np.ndindex(*(len(axis) for axis in axes)):
        yield at, {axis.name: axis.values[i] for axis, i in zip(axes, at, strict=True)}


def tidy(coordinates: Mapping[str, Sequence[Any]], **values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return one column per axis and array, with one row per cell."""
    rows = list(itertools.product(*coordinates.values()))
    columns = {name: np.array([row[at] for row in rows]) for at, name in enumerate(coordinates)}
    return columns | {name: array.ravel() for name, array in values.items()}


def missing(module: str) -> str:
    """Return a message on a missing optional library and its extra; empty if it is installed."""
    try:
        importlib.import_module(module)
    except ImportError:
        return f"{module} is not installed: pip install 'optcp[{EXTRAS[module]}]'"
    return ""


def optional(module: str) -> Any:  # noqa: ANN401 - a module that may lack types
    """Import an optional library.

    Raises
    ------
    InputError
        If it is not installed; the message names the extra.
    """
    if sentence := missing(module):
        raise InputError(sentence)
    return importlib.import_module(module)


def words(name: str, unit: str = "") -> str:
    """Return a name without unit suffix for plots, such as "goodput" for "goodput_bps"."""
    return name.removesuffix(SUFFIXES.get(unit, "")).replace("_", " ")


def prefixed(largest: float, unit: str) -> tuple[float, str]:
    """Return the divisor and the prefixed unit that suit the largest number.

    >>> prefixed(16.9e6, "bit/s"), prefixed(0.05, "s"), prefixed(400, "packets")
    ((1000000.0, 'Mbit/s'), (0.001, 'ms'), (1.0, 'packets'))
    """
    if unit in PREFIXED and np.isfinite(largest) and largest > 0:
        known = [one for one in PREFIXES if unit != "s" or one[0] <= 1]
        factor, prefix = next((one for one in known if largest >= one[0] * (1 - 1e-9)), known[-1])
        return factor, prefix + unit
    return 1.0, unit


def number(value: float) -> str:
    """Return a number with four digits, or "-" if undefined or infinite."""
    return f"{value:.4g}" if np.isfinite(value) else "-"


def censored(value: float, at_least: float | None, text: Callable[[float], str] = number) -> str:
    """Return a number as text; an infinite number shows its lower bound.

    >>> censored(2.5, None), censored(float("inf"), 0.06)
    ('2.5', '> 0.06')
    """
    return f"> {text(at_least)}" if np.isinf(value) and at_least is not None else text(value)


def _shown(rows: Sequence[Sequence[str]]) -> tuple[Sequence[Sequence[str]], str]:
    left = len(rows) - MOST_ROWS
    return rows[:MOST_ROWS], f"... and {left} more" if left > 0 else ""


def text_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned text table with its title."""
    shown, more = _shown(rows)
    widths = [max(map(len, column)) for column in zip(head, *shown, strict=True)]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in (head, *shown)]
    return "\n".join([title, *lines, *([more] if more else [])])


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same table as HTML for a notebook."""
    shown, more = _shown(rows)

    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "".join(line(row, "td") for row in shown)
    caption = f"<caption>{html.escape(title)}</caption>"
    return f"<table>{caption}<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{more}"
