"""Registry of the figures of exhibits."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.papers.registry import exhibits, papers

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp.papers.model import Result


@dataclass(frozen=True)
class Figure:
    """One figure as inline SVG.

    Attributes
    ----------
    caption
        One sentence that says what the figure shows.
    svg
        The ``<svg>`` element.
    """

    caption: str
    svg: str


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_drawers: dict[str, Callable[[Result], list[Figure]]] = {}


def draws(exhibit: str) -> Callable[[Callable[[Result], list[Figure]]], Callable[[Result], list[Figure]]]:
    """Register a function that draws the figures of an exhibit (decorator)."""

    def register(function: Callable[[Result], list[Figure]]) -> Callable[[Result], list[Figure]]:
        _drawers[exhibit] = function
        return function

    return register


def figures(result: Result) -> list[Figure]:
    """Draw the figures of a result; none if its exhibit has no figures or its paper is not installed."""
    paper = result.exhibit.partition("/")[0]
    module = papers().get(paper)
    # The optional module `figures` of a paper registers its drawing functions.
    if module and importlib.util.find_spec(f"{module.__name__}.figures"):
        importlib.import_module(f"{module.__name__}.figures")
    exhibit = exhibits().get(result.exhibit)
    drawer = _drawers.get(result.exhibit) or (exhibit and exhibit.figures)
    return drawer(result) if drawer else []


def curves(result: Result) -> list[Figure]:
    """Draw one figure per name of the curves, with 95 % intervals as bars and the keys as legend."""
    from optcp.plots import intervals
    from optcp.plots.svg import canvas, render

    drawn = []
    for name in dict.fromkeys(curve.name for curve in result.series):
        mine = [curve for curve in result.series if curve.name == name]
        caption = f"{result.title}: {name}" + (", with 95 % intervals." if any(one.ci95 for one in mine) else ".")
        with canvas(5.2, 3.2) as figure:
            panel = figure.subplots()
            for curve, colour in zip(mine, itertools.cycle(COLOURS)):
                label = ", ".join(f"{part} = {value}" for part, value in curve.key.items())
                intervals.line(panel, curve, colour, "-", label, "o")
            for axis, what, unit in (("x", mine[0].x_label, mine[0].x_unit), ("y", mine[0].y_label, mine[0].y_unit)):
                panel.set(**{f"{axis}label": f"{what} ({unit})" if unit else what})
            if len(mine) > 1:
                panel.legend()
            drawn.append(Figure(caption, render(figure, f"{result.exhibit}-{name}", caption)))
    return drawn
