"""From a matplotlib figure to an SVG element that follows the page it is in, the same bytes every time."""

from __future__ import annotations

import contextlib
import html
import io
import re
from importlib import resources
from typing import IO, TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    head, body = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    if box is None:
        raise ValueError("matplotlib wrote an SVG without a viewBox")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{box[0]} role="img" aria-label="{html.escape(label)}"'
    )
    # matplotlib numbers its groups from 1 in every figure; a page with several needs them apart.
    body = re.sub(r'<g id="[^"]*">', "<g>", body)
    return f"{head}>{body}".replace(INK, "currentColor").strip()
