"""Figures of a finished study: a metric along an axis of its grid."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.files import replacing
from optcp.data.labelled import position, words
from optcp.errors import InputError
from optcp.plots.estimates import IEEE_WIDTH_IN, MOST_CURVES, draw
from optcp.plots.svg import canvas, save
from optcp.study.asked import check_axes, check_observed, check_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from optcp.data.axes import Axis
    from optcp.data.cells import Cells
    from optcp.data.estimates import Estimates
    from optcp.study.done import StudyResult
    from optcp.study.grid import Grid

FORMS = (".svg", ".pdf", ".png")
HEIGHT_IN = 2.4


@dataclass(frozen=True)
class Request:
    """What a figure shows.

    Attributes
    ----------
    y
        A metric.
    x, by
        The axis along which it is drawn, and the one whose values are curves; None: see :func:`estimates`.
    at
        Values of other axes.
    of
        Which groups, ports or reasons; empty: all.
    minus
        The cell to which differences are drawn; empty: the values themselves.
    columns
        The width, in columns of an IEEE page.
    """

    y: str
    x: str | None = None
    by: str | None = None
    at: Mapping[str, str] = field(default_factory=dict)
    of: Sequence[str] = ()
    minus: Mapping[str, str] = field(default_factory=dict)
    columns: int = 1


def estimates(done: StudyResult, asked: Request) -> tuple[Estimates, str, str | None]:
    """What is drawn, along which axis, and with a curve for each value of which.

    Left out, the first is that of numbers, or else the first with several values; the second the only one left.

    Raises
    ------
    InputError
        If a name or value is unknown, or an axis with several values is left.
    """
    cells = done.metric(asked.y)
    studied = {axis.name for axis in done.axes}
    if asked.of:
        own = [axis.name for axis in cells.axes if axis.name not in studied]
        if not own:
            raise InputError(f"--of {asked.of[0]}: {asked.y} is one value a run, not one each of several")
        cells = cells.part(**{own[0]: asked.of})
    if asked.minus:
        cells = _difference(cells, asked.minus, asked.by)
    cells = cells.at(**asked.at)
    for name in (asked.x, asked.by):
        if name is not None:
            position(cells.axes, name)
    x = first_axis(cells.axes) if asked.x is None else asked.x
    cells = cells.at(
        **{axis.name: axis.values[0] for axis in cells.axes if len(axis) == 1 and axis.name not in (x, asked.by)}
    )
    left = [axis for axis in cells.axes if axis.name not in (x, asked.by)]
    by = left.pop().name if asked.by is None and len(left) == 1 else asked.by
    if left:
        ways = "; ".join(
            f"--at {shlex.quote(f'{axis.name}={axis.values[0]}')} (one of {len(axis)} values)" for axis in left
        )
        raise InputError(
            f"{asked.y} has {len(left) + 1 + (by is not None)} axes with several values, a figure --x and --by: "
            f"take one value of each other, for example {ways}"
        )
    for axis in cells.axes:
        if axis.name == by and len(axis) > MOST_CURVES:
            raise InputError(
                f"--by {by}: {len(axis)} curves are too many for a figure; choose up to {MOST_CURVES} by --of"
            )
    if np.isnan(cells.values).all():
        raise InputError(f"{asked.y} is defined in none of these runs")
    return cells.mean(), x, by


def _difference(cells: Cells, minus: Mapping[str, str], by: str | None) -> Cells:
    """Differences from a cell; its own curve would be zero throughout."""
    where = ", ".join(f"{words(name)} {value}" for name, value in minus.items())
    name = f"{words(cells.name, cells.unit)}, difference\nto {where}"
    found = (cells - cells.at(**minus)).named(name)
    axis = next((axis for axis in cells.axes if axis.name == by and by in minus and len(axis) > 1), None)
    if axis is None:
        return found
    reference = axis.index(minus[axis.name])
    return found.part(**{axis.name: [value for at, value in enumerate(axis.values) if at != reference]})


def first_axis(axes: Sequence[Axis]) -> str:
    """The first axis of numbers with several values, or else the first one with several."""
    several = [axis for axis in axes if len(axis) > 1] or list(axes)
    if not several:
        raise InputError("there is one cell, and so nothing to draw along an axis")
    return next((axis.name for axis in several if axis.numbers is not None), several[0].name)


def check(grid: Grid, asked: Request, out: Path | None) -> None:
    """Refuse what no study of a grid can show, before its tables are read.

    Raises
    ------
    InputError
        If a name or value is unknown, or the file's name has another ending.
    """
    check_observed(grid, asked.y, "--y")
    for option, name in (("--x", asked.x), ("--by", asked.by)):
        check_axes(grid, option, () if name is None else (name,))
    check_values(grid, "--at", asked.at)
    check_values(grid, "--minus", asked.minus)
    if out is not None and out.suffix not in FORMS:
        raise InputError(f"{out}: a figure is a file {', '.join(FORMS)}")


def write(done: StudyResult, asked: Request, out: Path | None = None) -> Path:
    """Draw a figure into a file, by default in the study's directory.

    Raises
    ------
    InputError
        As for :func:`check` and :func:`estimates`.
    """
    check(done.grid, asked, out)
    found, x, by = estimates(done, asked)
    what = "-".join([asked.y, *(["difference"] if asked.minus else []), x, *([by] if by else [])])
    path = out or done.store.written("plots") / f"{what}.svg"
    with canvas(IEEE_WIDTH_IN[asked.columns], HEIGHT_IN) as figure:
        panel = draw(found, x, by, asked.columns, figure.add_subplot())
        if asked.minus:
            panel.axhline(0, color="#888888", linewidth=0.8, zorder=0)
        with replacing(path) as file:
            save(figure, file, path.suffix[1:])
    return path
