"""What everything with labelled axes shares: its cells in order, tidy columns, and tables for people."""

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
"""Units that are shown with a prefix: "50 ms"."""
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
EXTRAS = {"matplotlib": "plot", "pandas": "frames", "xarray": "frames", "sgp4": "tle"}
"""What brings a library that not every command needs: an extra of the package."""
SUFFIXES = {"s": "_s", "bit/s": "_bps", "B": "_bytes"}
"""Of names; figures say the unit in its own place."""
MOST_ROWS = 60
"""A table for people shows no more rows than these."""


def label(one: Cells | Samples | Estimates) -> None:
    """Convert the axes of labelled values, which are frozen, and check their name and unit.

    Raises
    ------
    InputError
        If one of them is something else.
    """
    from optcp.data.axes import Axis

    if type(one.axes) is not tuple or not all(type(axis) is Axis for axis in one.axes):
        axes = arguments.several(one.axes, "axes", "a list of axes")
        object.__setattr__(one, "axes", tuple(arguments.one_of(axis, Axis, "axes", "an Axis") for axis in axes))
    arguments.text(one.name, "name")
    arguments.text(one.unit, "unit")


def position(axes: Sequence[Axis], name: str) -> int:
    """Find an axis by its name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    names = [axis.name for axis in axes]
    if arguments.text(name, "axis") not in names:
        known = nearest(name, names) if names else "there is none"
        raise InputError(f"no axis {name!r}; {known}")
    return names.index(name)


def cells_of(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], dict[str, str]]]:
    """Each cell's position and its values as written, by axis; the last axis varies fastest."""
    for at in np.ndindex(*(len(axis) for axis in axes)):
        yield at, {axis.name: axis.values[i] for axis, i in zip(axes, at, strict=True)}


def tidy(coordinates: Mapping[str, Sequence[Any]], **values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A column for each axis and each array of values over them, a row a cell."""
    rows = list(itertools.product(*coordinates.values()))
    columns = {name: np.array([row[at] for row in rows]) for at, name in enumerate(coordinates)}
    return columns | {name: array.ravel() for name, array in values.items()}


def missing(module: str) -> str:
    """Say that a library which OpTCP does without is not there, and which extra brings it; empty where it is there."""
    try:
        importlib.import_module(module)
    except ImportError:
        return f"{module} is not installed: pip install 'optcp[{EXTRAS[module]}]'"
    return ""


def optional(module: str) -> Any:  # noqa: ANN401 - a module that may lack types
    """Import a library that OpTCP does without.

    Raises
    ------
    InputError
        If it is not installed; the message names the extra.
    """
    if sentence := missing(module):
        raise InputError(sentence)
    return importlib.import_module(module)


def words(name: str, unit: str = "") -> str:
    """A name as figures show it: "goodput_bps" is a goodput."""
    return name.removesuffix(SUFFIXES.get(unit, "")).replace("_", " ")


def prefixed(largest: float, unit: str) -> tuple[float, str]:
    """By what to divide numbers of an SI unit, so that the largest is easily read, and the unit that they then have.

    >>> prefixed(16.9e6, "bit/s"), prefixed(0.05, "s"), prefixed(400, "packets")
    ((1000000.0, 'Mbit/s'), (0.001, 'ms'), (1.0, 'packets'))
    """
    if unit in PREFIXED and np.isfinite(largest) and largest > 0:
        known = [one for one in PREFIXES if unit != "s" or one[0] <= 1]
        factor, prefix = next((one for one in known if largest >= one[0] * (1 - 1e-9)), known[-1])
        return factor, prefix + unit
    return 1.0, unit


def number(value: float) -> str:
    """A number as tables show it: four digits, and a dash where it is undefined or infinite."""
    return f"{value:.4g}" if np.isfinite(value) else "-"


def censored(value: float, at_least: float | None, text: Callable[[float], str] = number) -> str:
    """A number as tables show it; an infinite one by its lower bound.

    >>> censored(2.5, None), censored(float("inf"), 0.06)
    ('2.5', '> 0.06')
    """
    return f"> {text(at_least)}" if np.isinf(value) and at_least is not None else text(value)


def _shown(rows: Sequence[Sequence[str]]) -> tuple[Sequence[Sequence[str]], str]:
    left = len(rows) - MOST_ROWS
    return rows[:MOST_ROWS], f"... and {left} more" if left > 0 else ""


def text_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned table under its title."""
    shown, more = _shown(rows)
    widths = [max(map(len, column)) for column in zip(head, *shown, strict=True)]
    lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in (head, *shown)]
    return "\n".join([title, *lines, *([more] if more else [])])


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same table for a notebook."""
    shown, more = _shown(rows)

    def line(row: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"

    body = "".join(line(row, "td") for row in shown)
    caption = f"<caption>{html.escape(title)}</caption>"
    return f"<table>{caption}<thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{more}"
