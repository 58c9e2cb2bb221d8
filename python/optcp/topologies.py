"""Networks by name and from files, for ``[topology]`` of scenarios: nodes, links and their lengths.

Names such as ``sndlib/germany50`` are those of TopoHub. Files are GML or GraphML, as of the Topology Zoo. Parallel
links are kept. A link without a length gets the great-circle distance of its ends, in whole metres: the last digits
differ between machines.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from pathlib import Path
from typing import Any

from optcp.errors import InputError, nearest

EARTH_KM = 6371.0
"""Mean radius of the earth."""

LENGTHS = ("dist", "LinkLength", "length", "distance")
"""Attributes of a link that hold its length in km."""

LABELS = ("name", "label")
"""Attributes of a node that hold its name."""

POSITIONS = (("Longitude", "Latitude"), ("longitude", "latitude"), ("lon", "lat"))
"""Attributes of a node that hold its place in degrees."""

Edge = tuple[Any, Any, dict[str, Any]]
"""Two nodes by their identifiers, and the attributes of what is between them."""

Graph = tuple[dict[Any, dict[str, Any]], list[Edge]]
"""The attributes of each node by its identifier, and the links."""

Link = tuple[int, int, str | None, int | None]
"""Two nodes by index, the link's name if it needs one, its length in mm if that is known."""


def find(kind: str, reference: str, scenario: str) -> tuple[list[str], list[Link]]:
    """Return the names of the nodes and the links of a topology.

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
    nodes, edges = _named(reference) if kind == "name" else _file(Path(scenario).parent / reference, reference)
    names = _names(nodes)
    index = {node: place for place, node in enumerate(nodes)}
    links: list[Link] = []
    taken: set[str] = set()
    for a, b, attributes in edges:
        length_km = _length(attributes, nodes[a], nodes[b])
        length_mm = None if length_km is None else round(length_km * 1e6)
        plain, back = f"{names[index[a]]}-{names[index[b]]}", f"{names[index[b]]}-{names[index[a]]}"
        name = None
        if plain in taken or back in taken:
            name = next(one for number in range(2, len(links) + 3) if (one := f"{plain}-{number}") not in taken)
        taken.add(name or plain)
        links.append((index[a], index[b], name, length_mm))
    return names, links


def networks() -> dict[str, list[str]]:
    """The names of TopoHub's networks by collection."""
    import topohub

    data = Path(topohub.__file__).parent / "data"
    found: dict[str, list[str]] = {}
    for path in sorted(data.rglob("*.json")):
        name = path.relative_to(data).as_posix().removesuffix(".json")
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _named(name: str) -> Graph:
    import topohub

    known = networks()
    if name not in known.get(name.partition("/")[0], ()):
        raise InputError(f"no topology `{name}`; {_suggestion(name, known)}")
    found = topohub.get(name)
    nodes = {node["id"]: node for node in found["nodes"]}
    return nodes, _links([(edge["source"], edge["target"], edge) for edge in found["edges"]], found["directed"])


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


def _file(path: Path, written: str) -> Graph:
    import networkx as nx

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot read `{written}`: {reason}") from None
    form = path.suffix.lower()
    if form not in (".gml", ".graphml"):
        raise InputError(f"`{written}` is neither a .gml nor a .graphml file")
    try:
        if form == ".gml":
            graph = nx.parse_gml(_as_multigraph(text), label="id")
        else:
            graph = nx.parse_graphml(text, force_multigraph=True)
    # The parsers let all of these through for files that are not what they should be.
    except (nx.NetworkXException, ValueError, TypeError, KeyError, SyntaxError) as error:
        raise InputError(f"cannot read `{written}`: {error}") from None
    return dict(graph.nodes(data=True)), _links(list(graph.edges(data=True)), graph.is_directed())


def _as_multigraph(text: str) -> str:
    """Let a GML file have parallel links: without its leave networkx refuses the second one."""
    if re.search(r"^\s*multigraph\s", text, re.MULTILINE):
        return text
    return re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1\n", text, count=1)


def _names(nodes: dict[Any, dict[str, Any]]) -> list[str]:
    """Names as scenarios may have them: no spaces, none twice."""
    found: list[str] = []
    for node, attributes in nodes.items():
        label = next((str(attributes[key]) for key in LABELS if attributes.get(key)), "")
        plain = "".join(c for c in re.sub(r"\s+", "-", label.strip()) if c.isalnum() or c in "_-.")
        name = plain or f"n{node}"
        if name in found:
            name = next(one for number in range(2, len(found) + 3) if (one := f"{name}-{number}") not in found)
        found.append(name)
    return found


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


def _length(link: dict[str, Any], a: dict[str, Any], b: dict[str, Any]) -> float | None:
    """Length in km as written, or the great-circle distance of the ends; None if neither is known."""
    for key in LENGTHS:
        try:
            length = float(link[key])
        except (KeyError, TypeError, ValueError):
            continue
        if math.isfinite(length) and length >= 0:
            return length
    ends = _position(a), _position(b)
    return None if ends[0] is None or ends[1] is None else round(great_circle_km(*ends[0], *ends[1]), 3)


def _position(node: dict[str, Any]) -> tuple[float, float] | None:
    if "pos" in node:
        return float(node["pos"][0]), float(node["pos"][1])
    for longitude, latitude in POSITIONS:
        if longitude in node and latitude in node:
            return float(node[longitude]), float(node[latitude])
    return None


def great_circle_km(longitude_a: float, latitude_a: float, longitude_b: float, latitude_b: float) -> float:
    """Distance in km of two places, in degrees, on a sphere (haversine formula)."""
    a, b = math.radians(latitude_a), math.radians(latitude_b)
    half = math.sin((b - a) / 2) ** 2
    half += math.cos(a) * math.cos(b) * math.sin(math.radians(longitude_b - longitude_a) / 2) ** 2
    return 2 * EARTH_KM * math.asin(math.sqrt(half))
