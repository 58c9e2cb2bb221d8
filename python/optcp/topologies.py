"""Networks by name and from files, for ``[topology]`` of scenarios: nodes, links and their lengths.

Names such as ``sndlib/germany50`` are those of TopoHub. Files are GML or GraphML, as of the Topology Zoo. Parallel
links are kept. A link without a length gets the great-circle distance of its ends, in whole metres: the last digits
differ between machines.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import errno
import functools
import io
import itertools
import math
import os
import re
import warnings
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EARTH_KM = 6371.0
"""Mean radius of the earth."""

LENGTHS = ("dist", "LinkLength", "length", "distance")
"""Attributes of a link that hold its length in km."""

LABELS = ("name", "label")
"""Attributes of a node that hold its name."""

POSITIONS = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"))
"""Attributes of a node that hold its place in degrees."""

MOST_KM = 1e6
"""No link is longer: twenty-five times around the earth."""

Edge = tuple[Any, Any, dict[str, Any]]
"""Two nodes by their identifiers, and the attributes of what is between them."""

Graph = tuple[dict[Any, dict[str, Any]], list[Edge]]
"""The attributes of each node by its identifier, and the links."""

Position = tuple[float, float]
"""Longitude and latitude in degrees."""

Link = tuple[int, int, str | None, int | None]
"""Two nodes by index, the link's name if it needs one, its length in mm if that is known."""


Place = tuple[int, int]
"""Longitude and latitude in millionths of a degree."""

Demand = tuple[int, int, int]
"""Two nodes by index, and how much the first sends to the second, in thousandths of the unit of the network."""


Found = tuple[list[str], list[Link], list[Demand], list[Place | None]]
"""Nodes by name, links, demands, and places of the nodes."""

Answers = dict[str, dict[str, Any]]
"""What scenarios were told, as crates/web takes it: by "names", "graphs", "matrix", "values", "table", then by name."""

T = TypeVar("T")

_noted: ContextVar[dict[str, bytes] | None] = ContextVar("noted", default=None)
_answered: ContextVar[Answers | None] = ContextVar("answered", default=None)
_given: ContextVar[Mapping[str, bytes] | None] = ContextVar("given", default=None)


def find(kind: str, reference: str, scenario: str) -> Found:
    """Return nodes by name, links, demands (none where it comes without) and places of the nodes of a topology.

    Parameters
    ----------
    kind
        "name" or "file".
    reference
        The name in TopoHub, or the path of the file from the scenario's directory.
    scenario
        The scenario file.

    Raises
    ------
    InputError
        If there is no such topology, or the file cannot be read.
    """
    if kind == "name":
        return _answer("names", reference, _found_by_name(reference))
    nodes, edges = _file(reference, scenario)
    return _answer("graphs", reference, _as_found(reference, nodes, edges, {}))


@functools.cache
def _found_by_name(name: str) -> Found:
    """Thousands of worlds of a study are of one network."""
    nodes, edges, demands = _named(name)
    return _as_found(name, nodes, edges, demands)


def _as_found(
    reference: str,
    nodes: dict[Any, dict[str, Any]],
    edges: Iterable[Edge],
    demands: Mapping[tuple[Any, Any], float],
) -> Found:
    names = _names(nodes)
    index = {node: place for place, node in enumerate(nodes)}
    positions = [_position(attributes) for attributes in nodes.values()]
    links: list[Link] = []
    free = _Names()
    for a, b, attributes in edges:
        at_a, at_b = index[a], index[b]
        plain, back = f"{names[at_a]}-{names[at_b]}", f"{names[at_b]}-{names[at_a]}"
        length_km = _length(attributes, positions[at_a], positions[at_b])
        if length_km is not None and length_km > MOST_KM:
            raise InputError(f"`{reference}`: the link {plain} is {length_km:g} km long; at most are {MOST_KM:g} km")
        length_mm = None if length_km is None else round(length_km * 1e6)
        name = free.numbered(plain) if free.has(plain) or free.has(back) else None
        free.take(name or plain)
        links.append((at_a, at_b, name, length_mm))
    at = [None if place is None else (round(place[0] * 1e6), round(place[1] * 1e6)) for place in positions]
    return names, links, [(index[a], index[b], round(1000 * much)) for (a, b), much in demands.items()], at


def places(settings: Mapping[str, str], scenario: str) -> dict[str, Position]:
    """Longitude and latitude of the nodes of a scenario's topology, by name; of those that have them.

    Parameters
    ----------
    settings
        Key paths and values as written: :meth:`optcp._core.Scenario.settings`.
    scenario
        The scenario file.
    """
    for kind in ("name", "file"):
        written = settings.get(f"topology.{kind}")
        if written is None:
            continue
        reference = settings.get(f"parameters.{written[1:]}", written) if written.startswith("$") else written
        try:
            nodes = _named(reference)[0] if kind == "name" else _file(reference, scenario)[0]
        except InputError:
            return {}
        found = zip(_names(nodes), map(_position, nodes.values()), strict=True)
        return {name: place for name, place in found if place is not None}
    return {}


def matrix(file: str, scenario: str) -> list[tuple[str, str, int]]:
    """Return what a CSV file says of pairs of nodes: source, destination, weight in thousandths.

    Lines are ``from,to,weight``; a first line without a number in the third place is a heading, and ``#`` begins a
    comment.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no pair with a weight.
    """
    found = []
    for number, line in _lines(file, scenario):
        fields = [field.strip() for field in line.split(",")]
        try:
            a, b, weight = fields
            thousandths = round(1000 * float(weight))
        except (ValueError, OverflowError):
            if number == 1 and len(fields) == 3:
                continue
            raise InputError(f"`{file}`, line {number}: expected `from,to,weight`") from None
        if not 0 <= thousandths < 2**63:
            raise InputError(f"`{file}`, line {number}: a weight is a number from 0 to 9e15")
        found.append((a, b, thousandths))
    return _answer("matrix", file, found)


def values(file: str, scenario: str) -> list[str]:
    """Return the values in a file: one a line; ``#`` begins a comment.

    Raises
    ------
    InputError
        If the file cannot be read, or a line holds more than a value.
    """
    found = []
    for number, line in _lines(file, scenario):
        if "," in line:
            raise InputError(
                f"`{file}`, line {number}: expected one value, such as `12.5 ms`, or `12.5` with a unit apart"
            )
        found.append(line)
    return _answer("values", file, found)


def table(file: str, scenario: str) -> list[tuple[int, list[tuple[str, str]]]]:
    """Return the lines of a CSV file: their numbers, and what is not empty by the names that its first line has.

    ``#`` begins a comment. A name such as ``delay (ms)`` gives its column a unit.

    Raises
    ------
    InputError
        If the file cannot be read, its first line has a name twice, or another one more fields than the first.
    """
    found: list[tuple[int, list[tuple[str, str]]]] = []
    names: list[str] = []
    units: list[str] = []
    for number, line in _lines(file, scenario):
        fields = [field.strip() for field in next(csv.reader([line], skipinitialspace=True))]
        if not names:
            headings = [re.fullmatch(r"(.*?)(?:\s*\((.+)\))?", field) for field in fields]
            names = [heading[1] for heading in headings if heading]
            units = [f" {heading[2]}" if heading and heading[2] else "" for heading in headings]
            if len(set(names)) < len(names) or "" in names:
                raise InputError(f"`{file}`, line {number}: expected a name for each column, no two alike")
            continue
        if len(fields) > len(names):
            raise InputError(
                f"`{file}`, line {number}: {len(fields)} fields, and {len(names)} columns in the first line"
            )
        said = zip(names, fields, units, strict=False)
        found.append((number, [(name, field + unit) for name, field, unit in said if field]))
    return _answer("table", file, found)


@contextlib.contextmanager
def noted(into: dict[str, bytes]) -> Iterator[None]:
    """Put every file that scenarios read meanwhile into a dictionary, by its path as they name it."""
    token = _noted.set(into)
    try:
        yield
    finally:
        _noted.reset(token)


@contextlib.contextmanager
def answered(into: Answers) -> Iterator[None]:
    """Put everything that scenarios are told meanwhile into a dictionary: what a browser has no files for."""
    token = _answered.set(into)
    try:
        yield
    finally:
        _answered.reset(token)


@contextlib.contextmanager
def given(files: Mapping[str, bytes]) -> Iterator[None]:
    """Let scenarios find these files meanwhile, and no others: those of another machine, as it has noted them."""
    token = _given.set(files)
    try:
        yield
    finally:
        _given.reset(token)


def _answer(kind: str, name: str, answer: T) -> T:
    if (into := _answered.get()) is not None:
        into.setdefault(kind, {})[name] = answer
    return answer


def _text(file: str, scenario: str, encoding: str) -> str:
    """A file beside a scenario."""
    files, into = _given.get(), _noted.get()
    if files is not None:
        if file not in files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        content = files[file]
    else:
        content = (Path(scenario).parent / file).read_bytes()
    if into is not None:
        into[file] = content
    # As a file that is read as text: all ends of lines become one.
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding).read()


def _lines(file: str, scenario: str) -> list[tuple[int, str]]:
    """The lines of a file beside a scenario that say something, with their numbers."""
    try:
        text = _text(file, scenario, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read `{file}`: {reason}") from None
    said = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in said if line]


@functools.cache
def networks() -> dict[str, list[str]]:
    """The names of TopoHub's networks by collection."""
    import topohub

    data = Path(topohub.__file__).parent / "data"
    found: dict[str, list[str]] = {}
    for path in sorted(data.rglob("*.json")):
        name = path.relative_to(data).as_posix().removesuffix(".json")
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _named(name: str) -> tuple[dict[Any, dict[str, Any]], list[Edge], dict[tuple[Any, Any], float]]:
    import topohub

    known = networks()
    if name not in known.get(name.partition("/")[0], ()):
        raise InputError(f"no topology `{name}`; {_suggestion(name, known)}")
    found = topohub.get(name)
    nodes = {node["id"]: node for node in found["nodes"]}
    demands = {(a, b): much for a, row in found["graph"].get("demands", {}).items() for b, much in row.items()}
    return (
        nodes,
        _links([(edge["source"], edge["target"], edge) for edge in found["edges"]], found["directed"]),
        demands,
    )


def _suggestion(name: str, known: dict[str, list[str]]) -> str:
    """The network that was meant, or where to look: the collection may be left out or wrong."""
    collection, _, rest = name.rpartition("/")
    members = known.get(collection.partition("/")[0])
    if members:
        return nearest(name, members)
    by_rest: dict[str, list[str]] = {}
    for one in itertools.chain.from_iterable(known.values()):
        by_rest.setdefault(one.partition("/")[2].lower(), []).append(one)
    if close := difflib.get_close_matches(rest.lower(), by_rest, n=1):
        return f"did you mean {' or '.join(map(repr, by_rest[close[0]]))}?"
    return f"there are: {', '.join(f'{one}/...' for one in known)}; `optcp list topologies` says more"


MOST_SAID = 300
"""Characters of a message: the parsers quote what they found, however long."""


def _file(written: str, scenario: str) -> Graph:
    import networkx as nx

    try:
        text = _text(written, scenario, "utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read `{written}`: {reason}") from None
    form = Path(written).suffix.lower()
    if form not in (".gml", ".graphml"):
        raise InputError(f"`{written}` is neither a .gml nor a .graphml file")
    try:
        graph = nx.parse_gml(_as_multigraph(text), label="id") if form == ".gml" else _parse_graphml(text)
    except Exception as error:  # noqa: BLE001 - the parsers let anything through for a file that is damaged
        raise InputError(f"cannot read `{written}`: {error}"[:MOST_SAID]) from None
    return dict(graph.nodes(data=True)), _links(list(graph.edges(data=True)), graph.is_directed())


def _parse_graphml(text: str) -> Any:  # noqa: ANN401 - networkx ships no types
    import networkx as nx

    with warnings.catch_warnings():
        # Of attributes without a type; only those are read whose type makes no difference.
        warnings.simplefilter("ignore")
        return nx.parse_graphml(text, force_multigraph=True)


def _as_multigraph(text: str) -> str:
    """Let a GML file have parallel links: without its leave networkx refuses the second one."""
    if re.search(r"^\s*multigraph\s", text, re.MULTILINE):
        return text
    return re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1\n", text, count=1)


def _names(nodes: dict[Any, dict[str, Any]]) -> list[str]:
    """Names as scenarios may have them: no spaces, none twice."""
    found = _Names()
    for node, attributes in nodes.items():
        label = next((str(attributes[key]) for key in LABELS if attributes.get(key)), "")
        name = _plain(label) or f"n{_plain(str(node))}"
        found.take(found.numbered(name) if found.has(name) else name)
    return list(found.taken)


def _plain(label: str) -> str:
    return "".join(c for c in re.sub(r"\s+", "-", label.strip()) if c.isalnum() or c in "_-.")


class _Names:
    """Names that are taken, in order, and the next number for those that are taken already."""

    def __init__(self) -> None:
        self.taken: dict[str, None] = {}
        self._next: dict[str, int] = {}

    def has(self, name: str) -> bool:
        return name in self.taken

    def take(self, name: str) -> None:
        self.taken[name] = None

    def numbered(self, name: str) -> str:
        """The name with the least number from 2 on that is free."""
        number = self._next.get(name, 2)
        while f"{name}-{number}" in self.taken:
            number += 1
        self._next[name] = number
        return f"{name}-{number}"


def _links(edges: list[Edge], directed: bool) -> list[Edge]:
    """Links in the order of the file; two arcs there and back are one, and a loop at a node is none."""
    edges = [edge for edge in edges if edge[0] != edge[1]]
    if not directed:
        return edges
    kept: list[Edge] = []
    unmatched: dict[tuple[Any, Any], int] = {}
    for a, b, attributes in edges:
        if unmatched.get((b, a), 0):
            unmatched[b, a] -= 1
            continue
        unmatched[a, b] = unmatched.get((a, b), 0) + 1
        kept.append((a, b, attributes))
    return kept


def _length(link: dict[str, Any], a: Position | None, b: Position | None) -> float | None:
    """Length in km as written, or the great-circle distance of the ends; None if neither is known."""
    for key in LENGTHS:
        try:
            length = float(link[key])
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if math.isfinite(length) and length >= 0:
            return length
    return None if a is None or b is None else round(great_circle_km(*a, *b), 3)


def _position(node: dict[str, Any]) -> Position | None:
    """Longitude and latitude in degrees; None if they are not written, or are no place on earth."""
    known = [node["pos"]] if "pos" in node else []
    known += [
        (node[longitude], node[latitude]) for longitude, latitude in POSITIONS if {longitude, latitude} <= set(node)
    ]
    for written in known:
        try:
            longitude, latitude = map(float, written)
        except (TypeError, ValueError, OverflowError):
            continue
        if math.isfinite(longitude) and abs(latitude) <= 90:
            return longitude, latitude
    return None


def great_circle_km(longitude_a: float, latitude_a: float, longitude_b: float, latitude_b: float) -> float:
    """Distance in km of two places, in degrees, on a sphere (haversine formula)."""
    a, b = math.radians(latitude_a), math.radians(latitude_b)
    half = math.sin((b - a) / 2) ** 2
    half += math.cos(a) * math.cos(b) * math.sin(math.radians(longitude_b - longitude_a) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(half))
