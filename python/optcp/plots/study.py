"""Plot of a metric of a finished study over a swept parameter."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.files import replacing
from optcp.data.labelled import position, words
from optcp.errors import InputError
from optcp.plots.estimates import IEEE_WIDTH_IN, MAX_CURVES, draw
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
    """Selection of a plot.

    Attributes
    ----------
    y
        Metric.
    x, by
        Axis of the plot, and axis with one curve per value; None uses the defaults of :func:`estimates`.
    at
        Values of other axes.
    of
        Groups, ports or reasons; empty for all.
    minus
        Reference of differences; empty to draw the values themselves.
    columns
        Width in columns of an IEEE page.
    """

    y: str
    x: str | None = None
    by: str | None = None
    at: Mapping[str, str] = field(default_factory=dict)
    of: Sequence[str] = ()
    minus: Mapping[str, str] = field(default_factory=dict)
    columns: int = 1


def estimates(done: StudyResult, asked: Request) -> tuple[Estimates, str, str | None]:
    """Return the estimates, the axis of the plot and the axis of the curves.

    By default, x is the first numeric axis, or else the first with several values; the curves use the only axis left.

    Raises
    ------
    InputError
        If a name or value is unknown, or another axis has several values.
    """
    cells = done.metric(asked.y)
    studied = {axis.name for axis in done.axes}
    if asked.of:
        own = [axis.name for axis in cells.axes if axis.name not in studied]
        if not own:
            raise InputError(f"--of {asked.of[0]}: {asked.y} has one value per run, without groups, ports or reasons")
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
        examples = "; ".join(
            f"--at {shlex.quote(f'{axis.name}={axis.values[0]}')} (one of {len(axis)} values)" for axis in left
        )
        raise InputError(
            f"{asked.y} has {len(left) + 1 + (by is not None)} axes with several values, but a plot shows two: "
            f"fix the others, for example {examples}"
        )
    for axis in cells.axes:
        if axis.name == by and len(axis) > MAX_CURVES:
            raise InputError(f"--by {by}: {len(axis)} curves are too many; select up to {MAX_CURVES} with --of")
    if np.isnan(cells.values).all():
        raise InputError(f"{asked.y} is undefined in all of these runs")
    return cells.mean(), x, by


def _difference(cells: Cells, minus: Mapping[str, str], by: str | None) -> Cells:
    """Return differences from a reference, without the curve of the reference itself."""
    where = ", ".join(f"{words(name)} {value}" for name, value in minus.items())
    name = f"{words(cells.name, cells.unit)}, difference\nfrom {where}"
    found = (cells - cells.at(**minus)).named(name)
    axis = next((axis for axis in cells.axes if axis.name == by and by in minus and len(axis) > 1), None)
    if axis is None:
        return found
    reference = axis.index(minus[axis.name])
    return found.part(**{axis.name: [value for at, value in enumerate(axis.values) if at != reference]})


def first_axis(axes: Sequence[Axis]) -> str:
    """Return the first numeric axis with several values, or else the first axis with several."""
    several = [axis for axis in axes if len(axis) > 1] or list(axes)
    if not several:
        raise InputError("the study has one parameter combination, so there is nothing to plot")
    return next((axis.name for axis in several if axis.numbers is not None), several[0].name)


def check(grid: Grid, asked: Request, out: Path | None) -> None:
    """Check the request against a grid, before tables are read.

    Raises
    ------
    InputError
        If a name or value is unknown, or the suffix of the file is not supported.
    """
    check_observed(grid, asked.y, "--y")
    for option, name in (("--x", asked.x), ("--by", asked.by)):
        check_axes(grid, option, () if name is None else (name,))
    check_values(grid, "--at", asked.at)
    check_values(grid, "--minus", asked.minus)
    if out is not None and out.suffix not in FORMS:
        raise InputError(f"{out}: expected a file that ends in {', '.join(FORMS)}")


def write(done: StudyResult, asked: Request, out: Path | None = None) -> Path:
    """Write the plot to a file, by default in the directory of the study.

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
