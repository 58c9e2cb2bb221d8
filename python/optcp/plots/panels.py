"""Building blocks for figures of exhibits: pages of panels, and series of rows and curves grouped by a key."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from optcp.papers.model import Row
from optcp.plots import bars, intervals
from optcp.plots.registry import Figure
from optcp.plots.svg import canvas, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from numpy.typing import NDArray

    from optcp.papers.model import Result, Series

    Item = TypeVar("Item", Row, Series)
    Side = Literal["outside upper left", "outside upper center", "outside upper right", "outside right center"]

GREY = "#888888"
"""Colour of published values, and of lines that mark an event or zero."""
Label = str | Callable[[Any], str]
"""A format string with ``{}`` for the value, or a function of the value."""


@dataclass
class Page:
    """A figure under construction: panels in rows and columns.

    Attributes
    ----------
    drawn
        The finished figure, after the block of :func:`page`.
    """

    canvas: Canvas
    panels: NDArray[Any]
    drawn: list[Figure] = field(default_factory=list)

    @property
    def panel(self) -> Axes:
        """The first panel."""
        found: Axes = self.panels.flat[0]
        return found

    @property
    def all(self) -> list[Axes]:
        """All panels, row by row."""
        return self.panels.ravel().tolist()

    def label(self, *, x: str = "", y: str = "", middle: bool = False) -> None:
        """Label the bottom and the left panels; with ``middle``, only the middle one of the left panels."""
        for panel in self.panels[-1] if x else ():
            panel.set_xlabel(x)
        left = self.panels[:, 0]
        for panel in (left[len(left) // 2 :][:1] if middle else left) if y else ():
            panel.set_ylabel(y)

    def legend(self, columns: int = 1, at: Side = "outside upper right", of: Axes | None = None) -> None:
        """Add a legend next to the panels, with each label of the first (or another) panel once."""
        named = dict(zip(*reversed((of or self.panel).get_legend_handles_labels()), strict=True))
        self.canvas.legend(list(named.values()), list(named), loc=at, ncols=columns)


@contextlib.contextmanager
def page(
    result: Result,
    caption: str,
    size: tuple[float, float],
    rows: int = 1,
    columns: int = 1,
    *,
    part: str = "",
    **shared: Any,  # noqa: ANN401 - of matplotlib's Figure.subplots
) -> Iterator[Page]:
    """Create a figure of a result: draw within the block, and use ``drawn`` after it.

    Parameters
    ----------
    size
        Width and height in inches.
    part
        Suffix of the name, if the result has several figures.
    """
    with canvas(*size) as figure:
        made = Page(figure, figure.subplots(rows, columns, squeeze=False, **shared))
        yield made
        name = f"{result.exhibit}-{part}" if part else result.exhibit
        made.drawn.append(Figure(caption, render(figure, name, caption)))


def where(items: Iterable[Item], name: str | None = None, /, **key: object) -> list[Item]:
    """Select rows by metric, or curves by name, and by values of their keys."""
    return [
        one
        for one in items
        if name in (None, one.metric if isinstance(one, Row) else one.name)
        and all(one.key.get(part) == value for part, value in key.items())
    ]


def distinct(items: Iterable[Row | Series], part: str) -> list[Any]:
    """Distinct values of a part of the keys, in order of appearance."""
    return list(dict.fromkeys(one.key[part] for one in items if part in one.key))


def each(items: Sequence[Item], part: str, styles: Mapping[Any, Any]) -> list[tuple[Any, Any, list[Item]]]:
    """Group items by a part of their keys: value, style and items, in the order of the styles."""
    found = [(value, style, where(items, **{part: value})) for value, style in styles.items()]
    return [one for one in found if one[-1]]


def said(label: Label, value: object) -> str:
    """Text of a value in a legend."""
    return label.format(value) if isinstance(label, str) else label(value)


def bands(
    panel: Axes, curves: Sequence[Series], by: str, colours: Mapping[Any, str], label: Label = "{}", *,
    style: str = "-", width: float = 1.1,
) -> None:  # fmt: skip
    """Draw curves with their intervals as bands, one colour per value of ``by``."""
    for curve in curves:
        value = curve.key[by]
        intervals.band(panel, curve, colours[value], said(label, value), style, width=width)


def marks(
    panel: Axes, rows: Sequence[Row], by: str, colours: Mapping[Any, str], label: Label = "{}", *,
    apart: float = 0.2, aside: float = 0.0, styles: Mapping[Any, str] | None = None,
) -> None:  # fmt: skip
    """Draw values with intervals at x = 0, 1, ..., with one marker per value of ``by`` side by side."""
    kinds = each(rows, by, colours)
    for number, (value, colour, mine) in enumerate(kinds):
        shift = apart * (number - (len(kinds) - 1) / 2) + aside
        style = (styles or {}).get(value, "o")
        intervals.marks(panel, [at + shift for at in range(len(mine))], mine, colour, said(label, value), style)


def grouped(panel: Axes, rows: Sequence[Row], by: str, colours: Mapping[Any, str], label: Label = "{}") -> None:
    """Draw bars at x = 0, 1, ..., with one bar per value of ``by`` side by side."""
    kinds = each(rows, by, colours)
    for number, (value, colour, mine) in enumerate(kinds):
        bars.group(panel, mine, number, len(kinds), colour, said(label, value))


def printed(panel: Axes, rows: Sequence[Row], size: float = 6) -> None:
    """Draw published values as grey diamonds at x = 0, 1, ..., if there are any."""
    known = [(at, one.paper) for at, one in enumerate(rows) if one.paper is not None]
    panel.plot(
        [at for at, _ in known], [value for _, value in known], "D", color=GREY, label="published", markersize=size
    )


def places(panel: Axes, values: Iterable[object], label: str = "") -> None:
    """Label x = 0, 1, ... with these values."""
    names = [str(value) for value in values]
    panel.set_xticks(range(len(names)), names)
    if label:
        panel.set_xlabel(label)


def ticks(panel: Axes, axis: str, values: Sequence[float]) -> None:
    """Set the ticks of an axis to exactly these values."""
    of = panel.xaxis if axis == "x" else panel.yaxis
    of.set_ticks(values, [f"{value:g}" for value in values])
    of.set_ticks([], minor=True)


def zero(panel: Axes, at: float = 0) -> None:
    """Draw a thin horizontal line at zero or another value."""
    panel.axhline(at, color=GREY, linewidth=0.6)


def events(panel: Axes, *at_s: float) -> None:
    """Draw dashed vertical lines at these times."""
    for instant in at_s:
        panel.axvline(instant, color=GREY, linestyle="--", linewidth=0.8)
