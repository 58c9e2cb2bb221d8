"""Which figures an exhibit has."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.papers.base import PAPERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp.papers.model import Result


@dataclass(frozen=True)
class Figure:
    """One figure as inline SVG.

    Attributes
    ----------
    caption
        What it shows, as a sentence.
    svg
        The ``<svg>`` element.
    """

    caption: str
    svg: str


_drawers: dict[str, Callable[[Result], list[Figure]]] = {}


def draws(exhibit: str) -> Callable[[Callable[[Result], list[Figure]]], Callable[[Result], list[Figure]]]:
    """Register the function that draws an exhibit (decorator)."""

    def register(function: Callable[[Result], list[Figure]]) -> Callable[[Result], list[Figure]]:
        _drawers[exhibit] = function
        return function

    return register


def figures(result: Result) -> list[Figure]:
    """Draw a result; an exhibit without a figure has none."""
    paper = result.exhibit.partition("/")[0]
    if paper in PAPERS:
        importlib.import_module(f"optcp.papers.{paper}.figures")
    drawer = _drawers.get(result.exhibit)
    return drawer(result) if drawer else []
