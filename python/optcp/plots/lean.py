"""Compact SVG of a figure. Matplotlib's SVG is several times as large, and a page has dozens of figures.

Coordinates are rounded to 0.1 points and relative. Elements with equal style are merged, the markers of a curve are one
path, and invisible elements are left out.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
ROOT = {"font-size": "9px", "fill": "currentColor", "text-anchor": "start", "stroke-linejoin": "round"}
"""Style that is set once, at the root element."""
PLAIN = {"stroke": "none", "stroke-width": "1", "stroke-opacity": "1", "fill-opacity": "1", "opacity": "1",
         "stroke-linecap": "butt", "font-weight": "400"}  # fmt: skip
"""Default style, which is left out."""
STEP = re.compile(r"([MLCz])([^MLCz]*)")

Point = tuple[int, int]
"""In tenths of a point."""
Pieces = list[tuple[str, list[Point]]]
"""Commands of a path with their absolute points."""


@dataclass
class Node:
    """An SVG element; paths and markers have ``pieces``."""

    tag: str
    look: dict[str, str]
    pieces: Pieces = field(default_factory=list)
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def alike(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Key that is equal for elements that can be merged."""
        return self.tag, tuple(self.look.items())


class Figure:
    """Compact content of an ``<svg>`` element of matplotlib.

    Parameters
    ----------
    name
        Name that is unique within a page; ids are derived from it.
    ink
        Colour that is replaced by ``currentColor``.
    kept
        Ids of groups to keep, with their attributes.
    """

    def __init__(self, root: Element, name: str, ink: str, kept: Mapping[str, dict[str, str]]) -> None:
        self._prefix = f"f{hashlib.sha256(name.encode()).hexdigest()[:8]}-"
        self._ink, self._kept = ink, kept
        self._shapes = {one.get("id", ""): one for defs in root.iter(f"{SVG}defs") for one in defs.iter(f"{SVG}path")}
        self._clips = {}
        for one in root.iter(f"{SVG}clipPath"):
            x, y, width, height = (round(10 * float(one[0].get(side, "0"))) for side in ("x", "y", "width", "height"))
            self._clips[f"url(#{one.get('id')})"] = (x, y, x + width, y + height)
        self._defs: dict[str, str] = {}
        drawn = "".join(map(self._written, self._joined(list(self._inside(root, "")))))
        self.text = f"<defs>{''.join(self._defs)}</defs>{drawn}"

    def _inside(self, element: Element, clip: str) -> Iterator[Node]:
        for child in element:
            tag = child.tag.removeprefix(SVG)
            around = child.get("clip-path") or clip
            if tag == "g":
                yield from self._group(child, around)
            elif tag == "path":
                yield from self._path(_pieces(child.get("d", "")), self._look(child), around)
            elif tag == "use":
                yield from self._use(child, around)
            elif tag == "text":
                yield self._label(child)

    def _group(self, element: Element, clip: str) -> Iterator[Node]:
        inside = list(self._inside(element, clip))
        name = element.get("id", "")
        if "transform" in element.attrib:
            inside = [Node("g", {"transform": element.get("transform", "")}, children=inside)]
        if name.startswith("matplotlib.axis"):
            # Grid, ticks and tick labels do not overlap, so their order does not matter.
            inside.sort(key=Node.alike)
        if name in self._kept:
            yield Node("g", self._kept[name], children=inside)
        else:
            yield from inside

    def _path(self, pieces: Pieces, look: dict[str, str], clip: str) -> Iterator[Node]:
        if not pieces or (look.get("fill") == "none" and "stroke" not in look):
            return
        yield Node("path", look | self._clipped(pieces, clip), pieces)

    def _clipped(self, pieces: Pieces, clip: str) -> dict[str, str]:
        """The clip path attribute, if any point lies outside."""
        if clip not in self._clips:
            return {}
        left, top, right, bottom = self._clips[clip]
        if all(left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1 for _, points in pieces for x, y in points):
            return {}
        number = list(self._clips).index(clip)
        name = f"{self._prefix}c{number}"
        box = f"M{_numbers((left, top))}H{right / 10:g}V{bottom / 10:g}H{left / 10:g}z"
        self._defs[f'<clipPath id="{name}"><path d="{box}"/></clipPath>'] = name
        return {"clip-path": f"url(#{name})"}

    def _use(self, element: Element, clip: str) -> Iterator[Node]:
        shape = self._shapes[element.get(HREF, "")[1:]]
        look = self._look(shape, element)
        x, y = (round(10 * float(element.get(name, "0"))) for name in ("x", "y"))
        if x == 0:
            # A band, not a marker: its points have absolute positions.
            yield from self._path(_pieces(shape.get("d", ""), y), look, clip)
            return
        pieces: Pieces = [("M", [(x, y)])]
        yield Node("marker", {"d": _d(_pieces(shape.get("d", ""))), **look} | self._clipped(pieces, clip), pieces)

    def _label(self, element: Element) -> Node:
        look = self._look(element)
        x, y = (f"{float(element.get(name, '0')):.1f}" for name in ("x", "y"))
        turn = re.match(r"rotate\((-?[\d.]+)", element.get("transform", ""))
        turned = turn is not None and float(turn[1]) != 0
        at = {"transform": f"translate({x} {y})rotate({turn[1]})"} if turn and turned else {"x": x, "y": y}
        return Node("text", look, children=[Node("text", at, text="".join(element.itertext()))])

    def _look(self, *elements: Element) -> dict[str, str]:
        style: dict[str, str] = {}
        for element in elements:
            parts = (part.partition(":") for part in element.get("style", "").split(";") if part.strip())
            style |= {name.strip(): value.strip() for name, _, value in parts}
        style.pop("font-family", None)
        if elements[0].tag == f"{SVG}text":
            style.setdefault("text-anchor", "start")
        if style.get("stroke", "none") == "none":
            style = {name: value for name, value in style.items() if not name.startswith("stroke")}
        said = {
            name: value.replace(self._ink, "currentColor") for name, value in style.items() if PLAIN.get(name) != value
        }
        return {name: value for name, value in sorted(said.items()) if ROOT.get(name) != value}

    def _joined(self, nodes: Sequence[Node]) -> list[Node]:
        """Merge adjacent elements of equal style."""
        found = []
        for _, group in itertools.groupby(nodes, Node.alike):
            first, *others = group
            for other in others:
                first.pieces += other.pieces
                first.children += other.children
            if first.tag == "g":
                first.children = self._joined(first.children)
            found.append(first)
        return found

    def _written(self, node: Node) -> str:
        if node.tag == "path":
            return f'<path d="{_d(node.pieces)}"{_attributes(node.look)}/>'
        if node.tag == "marker":
            return self._marked(node)
        if node.tag == "text" and node.text:
            return f"<text{_attributes(node.look)}>{html.escape(node.text, quote=False)}</text>"
        if node.tag == "text" and not node.children:
            return ""
        return f"<g{_attributes(node.look)}>{''.join(map(self._written, node.children))}</g>"

    def _marked(self, node: Node) -> str:
        """An invisible path with a marker at each of its points."""
        clip = {name: node.look.pop(name) for name in ("clip-path",) if name in node.look}
        shape = f"<path{_attributes(node.look)}/></marker>"
        known = next((name for text, name in self._defs.items() if text.endswith(shape)), "")
        name = known or f"{self._prefix}m{len(self._defs)}"
        if not known:
            self._defs[f'<marker id="{name}" markerUnits="userSpaceOnUse" overflow="visible">{shape}'] = name
        points: Pieces = [("L" if at else "M", piece[1]) for at, piece in enumerate(node.pieces)]
        ends = {f"marker-{where}": f"url(#{name})" for where in ("start", "mid", "end")}
        if len(points) == 1:
            # A path needs a line, so a single point gets one of length zero.
            points, ends = [*points, ("L", points[0][1])], {"marker-start": ends["marker-start"]}
        return f'<path d="{_d(points)}"{_attributes({"fill": "none", **ends, **clip})}/>'


def _pieces(text: str, dy: int = 0) -> Pieces:
    """Parse the commands of a path of matplotlib, moved down by ``dy``."""
    pieces: Pieces = []
    for command, numbers in STEP.findall(text):
        values = [round(10 * float(number)) for number in numbers.split()]
        pieces.append((command, [(x, y + dy) for x, y in zip(values[::2], values[1::2], strict=True)]))
    return pieces


def _d(pieces: Pieces) -> str:
    """Text of a path with relative coordinates; repeated points are left out."""
    parts: list[str] = []
    at, start, before = (0, 0), (0, 0), ""
    for command, points in pieces:
        ways = [(x - at[0], y - at[1]) for x, y in points]
        as_written = command
        if command == "z":
            parts.append("z")
            at = start
        elif command == "M":
            parts.append(f"M{_numbers(points[0])}")
            at = start = points[0]
        elif command == "C":
            as_written = "c"
            parts.append(_after("c", before, "".join(_apart(_numbers(way)) for way in ways)))
            at = points[-1]
        elif ways[0] != (0, 0):
            x, y = ways[0]
            as_written, numbers = (
                ("v", _number(y)) if x == 0 else ("h", _number(x)) if y == 0 else ("l", _numbers((x, y)))
            )
            parts.append(_after(as_written, before, _apart(numbers)))
            at = points[0]
        elif before == "M":
            # A line of length zero, which round caps draw as a dot.
            as_written = "h"
            parts.append("h0")
        before = as_written
    return "".join(parts)


def _after(command: str, before: str, numbers: str) -> str:
    return numbers if command == before else command + numbers.lstrip()


def _apart(numbers: str) -> str:
    return numbers if numbers.startswith("-") else f" {numbers}"


def _numbers(point: Point) -> str:
    return _number(point[0]) + _apart(_number(point[1]))


def _number(tenths: int) -> str:
    text = f"{tenths / 10:g}" if abs(tenths) < 1_000_000 else str(tenths // 10)
    return re.sub(r"^(-?)0\.", r"\1.", text)


def _attributes(look: dict[str, str]) -> str:
    return "".join(f' {name}="{html.escape(value)}"' for name, value in look.items())
