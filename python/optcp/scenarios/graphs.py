"""Reader of GML and GraphML files: nodes, edges and their attributes.

# Model

Every attribute keeps the value of the file; a GraphML key with a default applies to each node or edge without a
value. Ports of GraphML are ignored, because an edge still names its node.

# Limitations

- Hyperedges, nested graphs and several graphs in one file are refused.
- GML has no encoding declaration; without a byte order mark, the text is UTF-8.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from optcp.common import rows
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMATS = (".gml", ".graphml")
"""Supported file suffixes."""

LENGTHS = ("dist", "linklength", "length", "distance")
"""Lower-case attributes with the length of a link, in order of precedence."""

UNITS_KM = {"km": 1.0, "m": 0.001, "mi": 1.609344}
"""Units of a length, in km."""

LENGTH_NAME = re.compile(rf"({'|'.join(LENGTHS)})(?:[ _]?\(?({'|'.join(UNITS_KM)})\)?)?", re.IGNORECASE)
NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?"
LENGTH = re.compile(rf"({NUMBER})\s*({'|'.join(UNITS_KM)})?")
DEGREES = re.compile(rf"[-+]?(?:{NUMBER})")

LONGITUDES = ("longitude", "lon", "lng")
LATITUDES = ("latitude", "lat")
"""Lower-case attributes with the coordinates of a node, in degrees."""

LABELS = ("name", "label")
"""Attributes with the name of a node."""

RATES = frozenset(
    f"{prefix}{word}{suffix}"
    for prefix in ("", "link", "edge", "max")
    for word in ("speed", "rate", "capacity", "bandwidth", "bw", "datarate", "bitrate")
    for suffix in ("", "raw", "bps", "kbps", "mbps", "gbps", "tbps")
)
"""Attributes with the rate of a link, in lower case without separators."""

MOST_KM = 1e6
"""Maximum length of a link: 25 times the circumference of the earth."""

MOST_SAID = 300
"""Maximum length of a message, because parsers quote the file without limit."""

Edge = tuple[Any, Any, dict[str, Any]]
"""Two nodes by their identifiers, and the attributes of the link between them."""

Position = tuple[float, float]
"""Longitude and latitude in degrees."""


class Graph(NamedTuple):
    """Graph as in the file.

    Attributes
    ----------
    nodes
        Attributes of each node by its identifier.
    edges
        Edges with their attributes, by node.
    directed
        Whether each edge leads from its first node to the second one only.
    """

    nodes: dict[Any, dict[str, Any]]
    edges: list[Edge]
    directed: bool


def read(file: str, content: bytes) -> Graph:
    """Read a graph.

    Parameters
    ----------
    file
        File name; the suffix determines the format.
    content
        Content of the file.

    Raises
    ------
    InputError
        If it cannot be read; the message names the file.
    """
    form = Path(file).suffix.lower()
    if form not in FORMATS:
        raise InputError(f"`{file}`: unsupported file format; expected .gml or .graphml")
    try:
        graph = _gml(content) if form == ".gml" else _graphml(content)
    except Exception as error:  # noqa: BLE001 - the parsers let anything through for a file that is damaged
        raise InputError(f"cannot read `{file}`: {error}"[:MOST_SAID]) from None
    return Graph(dict(graph.nodes(data=True)), list(graph.edges(data=True)), graph.is_directed())


GML_TOKEN = re.compile(r'"[^"]*"|#[^\n]*|[\[\]]|[A-Za-z][0-9A-Za-z_]*')


def _gml(content: bytes) -> Any:  # noqa: ANN401 - networkx ships no types
    import networkx as nx

    graph = nx.parse_gml(_plain_gml(rows.decoded(content)), label="id")
    for node, attributes in graph.nodes(data=True):
        if "graph" in attributes:
            raise ValueError(f"node {node} contains a graph; nested graphs are not supported")
    return graph


def _plain_gml(text: str) -> str:
    """Return the text without comments, with quoted texts on one line and ``multigraph 1``.

    networkx misreads quotes in comments, and refuses parallel links without ``multigraph 1``. Line numbers stay the
    same.
    """
    parts: list[str] = []
    end = depth = 0
    previous = ""
    for match in GML_TOKEN.finditer(text):
        word = match[0]
        parts.append(text[end : match.start()])
        end = match.end()
        if word.startswith("#"):
            continue
        parts.append(word.replace("\n", " ") + "\n" * word.count("\n"))
        if word == "[":
            if depth == 0 and previous == "graph":
                parts.append(" multigraph 1 ")
            depth += 1
        elif word == "]":
            depth -= 1
        previous = word
    return "".join([*parts, text[end:]])


def _graphml(content: bytes) -> Any:  # noqa: ANN401 - networkx ships no types
    """Return a GraphML file as a networkx graph; its order of edges determines the names of links."""
    import networkx as nx

    root = _xml(content)
    if _tag(root) != "graphml":
        raise ValueError(f"its outermost element is `{_tag(root)}`, and that of GraphML is `graphml`")
    graphs = [one for one in root.iter() if _tag(one) == "graph"]
    if len(graphs) != 1 or graphs[0] not in list(root):
        raise ValueError(f"expected one graph, found {len(graphs)}; nested graphs are not supported")
    keys = _keys(root)
    directed = graphs[0].get("edgedefault") == "directed"
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for element in _children(graphs[0], "node"):
        node = _named(element, "id", "a node")
        if node in graph:
            raise ValueError(f"node `{node}` is declared twice")
        graph.add_node(node, **_attributes(element, keys, f"node `{node}`"))
    for element in graphs[0]:
        if _tag(element) == "hyperedge":
            raise ValueError("it has a hyperedge, and only edges between two nodes are read")
    for element in _children(graphs[0], "edge"):
        ends = [_named(element, end, "an edge") for end in ("source", "target")]
        what = f"the edge from `{ends[0]}` to `{ends[1]}`"
        for end in ends:
            if end not in graph:
                raise ValueError(f"{what}: no node `{end}` is declared{_meant(end, graph)}")
        if element.get("directed", str(directed).lower()) != str(directed).lower():
            raise ValueError(f"{what} is directed in another way than the graph; expected all edges alike")
        graph.add_edges_from([(*ends, _attributes(element, keys, what))])
    return graph


def _xml(content: bytes) -> ET.Element:
    """Return the root element, decoded as the file declares."""
    try:
        return ET.fromstring(content)  # noqa: S314 - expat limits entity expansion
    except ET.ParseError as error:
        if b"encoding" not in content.partition(b"?>")[0]:
            rows.decoded(content)  # says so if this is the reason
        raise ValueError(f"no XML: {error}") from None


def _tag(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _children(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    return (one for one in element if _tag(one) == tag)


def _named(element: ET.Element, name: str, what: str) -> str:
    value = element.get(name)
    if value is None:
        raise ValueError(f"{what} has no `{name}`")
    return value


def _meant(name: str, known: Any) -> str:  # noqa: ANN401 - a graph of networkx
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


class _Keys(NamedTuple):
    """Declared attributes of a GraphML file: names by identifier, and defaults by name for nodes and edges."""

    names: dict[str, str]
    defaults: dict[str, dict[str, str]]


def _keys(root: ET.Element) -> _Keys:
    keys = _Keys({}, {"node": {}, "edge": {}})
    for element in _children(root, "key"):
        key = _named(element, "id", "a key")
        if key in keys.names:
            raise ValueError(f"key `{key}` is declared twice")
        keys.names[key] = element.get("attr.name", key)
        for default in _children(element, "default"):
            for kind, names in keys.defaults.items():
                if element.get("for", "all") in (kind, "all"):
                    names[keys.names[key]] = default.text or ""
    return keys


def _attributes(element: ET.Element, keys: _Keys, what: str) -> dict[str, str]:
    """Return the attributes of a node or edge, including defaults."""
    given: dict[str, str] = {}
    for data in _children(element, "data"):
        key = _named(data, "key", f"a value of {what}")
        if key not in keys.names:
            raise ValueError(f"{what} has a value of key `{key}`, which is not declared")
        name = keys.names[key]
        if name in given:
            raise ValueError(f"{what} has `{name}` twice")
        given[name] = data.text or ""
    return keys.defaults[_tag(element)] | given


def label(file: str, node: Any, attributes: Mapping[str, Any]) -> str:  # noqa: ANN401 - identifiers are of any type
    """Return the name of a node in the file, or an empty text.

    Raises
    ------
    InputError
        If it has several names.
    """
    found = next((attributes[key] for key in LABELS if attributes.get(key)), "")
    if isinstance(found, list | dict):
        raise InputError(f"`{file}`: node {rows.short(node)} has several names: expected one text")
    return str(found)


def length_km(file: str, link: str, attributes: Mapping[str, Any]) -> float | None:
    """Return the length of a link from its attributes, or None.

    Raises
    ------
    InputError
        If the attribute is not a length.
    """
    known: dict[str, tuple[str, str]] = {}
    for name in attributes:
        if attributes[name] is not None and (match := LENGTH_NAME.fullmatch(name)):
            known.setdefault(match[1].lower(), (name, (match[2] or "km").lower()))
    chosen = next((known[word] for word in LENGTHS if word in known), None)
    if chosen is None:
        return None
    name, unit = chosen
    written = attributes[name]
    match = LENGTH.fullmatch(_text(written))
    length = float(match[1]) * UNITS_KM[match[2] or unit] if match else math.nan
    if not length < math.inf:
        comma = "; the decimal sign is a point, and thousands have none" if "," in str(written) else ""
        raise InputError(
            f"`{file}`: the link {rows.short(link)} has `{rows.short(name)}` = `{rows.short(written)}`: "
            f"expected a length such as `12.5` (in km), `12.5 km`, `800 m` or `7 mi`{comma}"
        )
    if length > MOST_KM:
        raise InputError(f"`{file}`: the link {rows.short(link)} is {length:g} km long; at most are {MOST_KM:g} km")
    return length


def position(file: str, node: str, attributes: dict[str, Any]) -> Position | None:
    """Return longitude and latitude of a node in degrees, or None.

    Raises
    ------
    InputError
        If one of them is missing, or an attribute is not a number of degrees.
    """
    pair = attributes.get("pos")
    if isinstance(pair, list | tuple) and len(pair) == 2:
        found = _number(pair[0]), _number(pair[1])
        if math.isfinite(found[0]) and abs(found[1]) <= 90:
            return found  # TopoHub: degrees, but a place in a drawing of generated networks
    by_word = {name.lower(): name for name in reversed(attributes) if attributes[name] is not None}
    longitude = next((by_word[word] for word in LONGITUDES if word in by_word), None)
    latitude = next((by_word[word] for word in LATITUDES if word in by_word), None)
    if longitude is None and latitude is None:
        return None
    if longitude is None or latitude is None:
        raise InputError(
            f"`{file}`: node `{node}` has `{longitude or latitude}` alone: expected longitude and latitude"
        )
    return (
        _degrees(file, node, longitude, attributes[longitude], 360),
        _degrees(file, node, latitude, attributes[latitude], 90),
    )


def _degrees(file: str, node: str, name: str, written: object, most: int) -> float:
    value = _number(written)
    if not -most <= value <= most:
        raise InputError(
            f"`{file}`: node `{rows.short(node)}` has `{rows.short(name)}` = `{rows.short(written)}`: "
            f"expected degrees from -{most} to {most}"
        )
    return value


def _number(written: object) -> float:
    text = _text(written)
    return float(text) if DEGREES.fullmatch(text) else math.nan


def _text(written: object) -> str:
    """Return a number or text as text; empty for other values."""
    return str(written).strip() if isinstance(written, int | float | str) and not isinstance(written, bool) else ""


def rates(edges: list[Edge]) -> list[str]:
    """Return the names of attributes that look like the rate of a link, in the order of the file."""
    names = dict.fromkeys(name for *_, attributes in edges for name in attributes)
    return [name for name in names if re.sub("[^a-z]", "", name.lower()) in RATES]
