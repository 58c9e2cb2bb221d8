"""Converts matplotlib figures to reproducible SVG elements that follow the colour scheme of a page."""

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
"""Minimum size of the smallest text on a screen."""
MAX_ZOOM = 1.7
"""Maximum number of pixels per point of a figure."""
INK = "#010203"
"""The colour of text and axes in optcp.mplstyle; it becomes ``currentColor``, so that it follows light and dark."""


@contextlib.contextmanager
def canvas(width_in: float, height_in: float) -> Iterator[Figure]:
    """Create an empty figure in the style of OpTCP; draw within the block."""
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        figure = Figure(figsize=(width_in, height_in))
        FigureCanvasSVG(figure)
        yield figure


def save(figure: Figure, file: IO[bytes], form: str) -> None:
    """Save a figure as a file ("png", "pdf" or "svg") with a white background; call within :func:`canvas`."""
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
        Name that is unique within a page; element ids are derived from it.
    label
        Text for screen readers.
    """
    buffer = io.StringIO()
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        mpl.rcParams["svg.hashsalt"] = name
        readable.name(figure)
        plain_powers(figure)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    root = ET.fromstring(text[text.index("<svg") :])  # noqa: S314 - matplotlib wrote it
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    smallest = min(map(float, re.findall(r"font-size: ([\d.]+)px", text)), default=9.0)
    said = "".join(f' {name}="{value}"' for name, value in lean.ROOT.items())
    # Limits that keep text readable but not too large.
    size = f"min-width:{width * LEAST_TEXT_PX / smallest:.0f}px;max-width:{width * MAX_ZOOM:.0f}px"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" style="{size}" '
        f'aria-label="{html.escape(label)}" font-family="DejaVu Sans,Verdana,sans-serif"{said}>'
        f"{lean.Figure(root, name, INK, readable.scales(figure)).text}</svg>"
    )


class _Plain(LogFormatterSciNotation):
    """Labels ticks of a logarithmic axis with plain numbers instead of powers, which need formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def plain_powers(figure: Figure) -> None:
    """Use plain numbers on logarithmic axes."""
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
                if type(formatter) is LogFormatterSciNotation:
                    # Changing the class keeps the choice of labelled ticks.
                    formatter.__class__ = _Plain
