"""From a matplotlib figure to an SVG element that follows the page it is in, the same bytes every time."""

from __future__ import annotations

import contextlib
import html
import io
import re
from importlib import resources
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from optcp.plots import lean, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_TEXT_PX = 11.2
"""On any screen, of the smallest text."""
MOST_ZOOM = 1.7
"""Pixels of a screen a point of a figure."""
INK = "#010203"
"""The colour of text and axes in optcp.mplstyle; it becomes ``currentColor``, so that it follows light and dark."""


@contextlib.contextmanager
def canvas(width_in: float, height_in: float) -> Iterator[Figure]:
    """Make an empty figure in the project's style; draw inside the block."""
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        figure = Figure(figsize=(width_in, height_in))
        FigureCanvasSVG(figure)
        yield figure


def save(figure: Figure, file: IO[bytes], form: str) -> None:
    """Write a figure as a file of its own ("png", "pdf" or "svg") on white; call it inside :func:`canvas`."""
    forms: dict[str, dict[str, Any]] = {
        "png": {"Software": "optcp"},
        "pdf": {"Creator": "optcp", "Producer": None, "CreationDate": None},
        "svg": {"Creator": "optcp", "Date": None},
    }
    mpl.rcParams["svg.hashsalt"] = "optcp"
    figure.savefig(file, format=form, dpi=150, facecolor="white", metadata=forms[form])


def render(figure: Figure, name: str, label: str) -> str:
    """Turn a figure into an ``<svg>`` element.

    Parameters
    ----------
    name
        Unique in a page: element ids are derived from it instead of from chance.
    label
        What a screen reader says.
    """
    buffer = io.StringIO()
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        mpl.rcParams["svg.hashsalt"] = name
        readable.name(figure)
        _plain_powers(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    root = ET.fromstring(text[text.index("<svg") :])  # noqa: S314 - matplotlib wrote it
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    smallest = min(map(float, re.findall(r"font-size: ([\d.]+)px", text)), default=9.0)
    said = "".join(f' {name}="{value}"' for name, value in lean.ROOT.items())
    # Where it is shown smaller its text could not be read, where larger it would shout.
    size = f"min-width:{width * LEAST_TEXT_PX / smallest:.0f}px;max-width:{width * MOST_ZOOM:.0f}px"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" style="{size}" '
        f'aria-label="{html.escape(label)}" font-family="DejaVu Sans,Verdana,sans-serif"{said}>'
        f"{lean.Figure(root, name, INK, readable.scales(figure)).text}</svg>"
    )


class _Plain(LogFormatterSciNotation):
    """Numbers at the ticks that a logarithmic axis labels: a page has text alone, and no powers."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _plain_powers(figure: Figure) -> None:
    """Let logarithmic axes say numbers."""
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
                if type(formatter) is LogFormatterSciNotation:
                    # Which ticks it labels stays as it was set.
                    formatter.__class__ = _Plain
