"""What a page needs to say the values under the pointer: which curve is where, and the scales of each panel."""

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
"""Of an axis' length: ticks are rounded."""


def name(figure: Figure) -> None:
    """Give panels and curves ids, by which :func:`scales` describes them."""
    for at, panel in enumerate(figure.axes):
        panel.set_gid(f"panel-{at}")
        for curve, (artists, _) in enumerate(_curves(panel)):
            for artist in artists:
                artist.set_gid(f"curve-{at}-{curve}")


def scales(figure: Figure) -> dict[str, dict[str, str]]:
    """Of a figure that is drawn: the attributes of each panel and curve by its id.

    A panel's ``data-x`` and ``data-y`` are: the places of two points of the axis in the figure, their values, and
    "log" or "linear"; ``data-x-name`` is what the axis is called, ``data-x-ticks`` the words at places of categories.
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
    """What shows values: artists that are one curve or one set of bars, and what the legend calls them."""
    held: dict[int, str] = {}
    for container in panel.containers:
        parts = list(container) if hasattr(container, "patches") else [container[0]]
        label = _label(str(container.get_label()))
        yield [part for part in parts if part is not None], label
        held |= dict.fromkeys(map(id, parts), label)
    for line in panel.get_lines():
        # What spans a panel marks a place and has no values.
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
    # Powers of ten are written as formulas.
    ticks = [(place, text) for place, text in zip(places_of, words, strict=True) if text and "$" not in text]
    # Numbers may be in another unit than the axis; others, and words, are names that stand at places 0, 1, ...
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
