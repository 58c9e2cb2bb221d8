"""Metadata with which a page shows values at the pointer: ids of curves and scales of panels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

POINTS_AN_INCH = 72
NEAR = 1e-3
"""Tolerance for rounded tick labels, as a share of the length of the axis."""


def name(figure: Figure) -> None:
    """Set the ids of panels and curves that :func:`scales` refers to."""
    for at, panel in enumerate(figure.axes):
        panel.set_gid(f"panel-{at}")
        for curve, (artists, _) in enumerate(_curves(panel)):
            for artist in artists:
                artist.set_gid(f"curve-{at}-{curve}")


def scales(figure: Figure) -> dict[str, dict[str, str]]:
    """Attributes of each panel and curve of a drawn figure, by id.

    ``data-x`` and ``data-y`` of a panel have the positions of two points of the axis, their values, and the scale:
    "log" or "linear". ``data-x-name`` is the label of the axis, and ``data-x-ticks`` has the names of categories.
    """
    found: dict[str, dict[str, str]] = {}
    for at, panel in enumerate(figure.axes):
        known = {
            f"{side}{what}": text
            for side, axis in (("x", panel.xaxis), ("y", panel.yaxis))
            for what, text in _scale(figure, panel, axis, side == "y").items()
            if text
        }
        found[f"panel-{at}"] = {f"data-{what}": text for what, text in known.items()}
        for curve, (_, label) in enumerate(_curves(panel)):
            found[f"curve-{at}-{curve}"] = {"data-name": label}
    return found


def _curves(panel: Axes) -> Iterator[tuple[list[Artist], str]]:
    """Artists of each curve or set of bars, and its label in the legend."""
    held: dict[int, str] = {}
    for container in panel.containers:
        parts = list(container) if hasattr(container, "patches") else [container[0]]
        label = _label(str(container.get_label()))
        yield [part for part in parts if part is not None], label
        held |= dict.fromkeys(map(id, parts), label)
    for line in panel.get_lines():
        # A line in axes coordinates only marks a position.
        if id(line) not in held and line.get_transform() == panel.transData:
            yield [line], _label(str(line.get_label()))


def _label(text: str) -> str:
    return "" if text.startswith("_") else text


def _scale(figure: Figure, panel: Axes, axis: Axis, up: bool) -> dict[str, str]:
    box, side = panel.bbox, POINTS_AN_INCH / figure.dpi
    height = figure.bbox.height
    places = (height - box.y0, height - box.y1) if up else (box.x0, box.x1)
    low, high = axis.get_view_interval()
    places_of = [place for place in axis.get_majorticklocs() if min(low, high) <= place <= max(low, high)]
    words = axis.get_major_formatter().format_ticks(places_of)
    # Powers of ten are formulas (with $).
    ticks = [(place, text) for place, text in zip(places_of, words, strict=True) if text and "$" not in text]
    # Tick labels may use another unit than the axis. Other labels are names of categories at 0, 1, ...
    factor = next((place / shown for place, text in reversed(ticks) if place and (shown := _number(text))), 1.0)
    names = ""
    if any(
        (shown := _number(text)) is None or abs(shown * factor - place) > NEAR * abs(high - low)
        for place, text in ticks
    ):
        names, factor = "|".join(f"{place:g}={text}" for place, text in ticks), 1.0
    kind = "log" if axis.get_scale() == "log" else "linear"
    numbers = " ".join(f"{value:.6g}" for value in (*(place * side for place in places), low / factor, high / factor))
    return {"": f"{numbers} {kind}", "-name": axis.get_label_text(), "-ticks": names}


def _number(text: str) -> float | None:
    try:
        return float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None
