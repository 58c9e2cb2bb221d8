"""Node-link JSON: networks of TopoHub, by name and as files."""

from __future__ import annotations

import difflib
import functools
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.errors import InputError, nearest
from optcp.topology import graph
from optcp.topology.base import Format, Place, Source, json_object

if TYPE_CHECKING:
    from optcp.topology.base import Head
    from optcp.topology.model import Network


def detects(head: Head) -> bool:
    """Return whether the JSON object has nodes and links."""
    return "nodes" in head.keys and bool({"links", "edges"} & head.keys)


def read(source: Source) -> Network:
    """Read a node-link file."""
    return graph.network(source.file, "node-link", _graph(source))


def _graph(source: Source) -> graph.Graph:
    root = Place(source, json_object(source))
    nodes: dict[Any, dict[str, Any]] = {}
    for item in root.each("nodes"):
        id_ = _hashable(item.need("id"))
        if id_ in nodes:
            source.wrong(f"node `{id_}` is declared twice")
        nodes[id_] = item.value
    edges: list[graph.Edge] = []
    for item in root.each("edges" if root.get("edges") else "links"):
        ends = []
        for key in ("source", "target"):
            end = item.need(key)
            if _hashable(end) not in nodes:
                end.wrong("the `id` of a node")
            ends.append(end.value)
        edges.append((ends[0], ends[1], item.value))
    demands = {}
    if (table := root.down("graph", "demands")) is not None:
        by_text = {str(node): node for node in nodes}
        for a, row in _items(table):
            for b, much in _items(row):
                if a not in by_text or b not in by_text:
                    table.wrong("the `id` of nodes")
                demands[by_text[a], by_text[b]] = _number(much)
    directed = root.get("directed")
    title = root.text_of("graph", "name") if root.get("graph") else ""
    return graph.Graph(nodes, edges, directed is not None and directed.value is True, demands, title)


def _hashable(place: Place) -> Any:  # noqa: ANN401 - a number or text
    if isinstance(place.value, bool | dict | list):
        place.wrong("a number or text")
    return place.value


def _items(place: Place) -> list[tuple[str, Place]]:
    if not isinstance(place.value, dict):
        place.wrong("an object")
    return [(key, Place(place.source, value, f"{place.where}.{key}")) for key, value in place.value.items()]


def _number(place: Place) -> float:
    if isinstance(place.value, bool) or not isinstance(place.value, int | float) or not 0 <= place.value < 1e60:
        place.wrong("a number of zero or more")
    return place.value


@functools.cache
def networks() -> dict[str, list[str]]:
    """Return the names of the networks of TopoHub by collection."""
    import topohub

    data = Path(topohub.__file__).parent / "data"
    found: dict[str, list[str]] = {}
    for path in sorted(data.rglob("*.json")):
        name = path.relative_to(data).as_posix().removesuffix(".json")
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


@functools.cache
def named(name: str) -> Network:
    """Return a network of TopoHub; cached, because thousands of scenarios of a study share it.

    Raises
    ------
    InputError
        If there is no such network.
    """
    import topohub

    known = networks()
    if name not in known.get(name.partition("/")[0], ()):
        raise InputError(f"no topology `{name}`; {_suggestion(name, known)}")
    content = (Path(topohub.__file__).parent / "data" / f"{name}.json").read_bytes()
    return graph.network(name, "node-link", _graph(Source(name, content)))


def _suggestion(name: str, known: dict[str, list[str]]) -> str:
    """Return a suggestion for an unknown network, also if the collection is missing or wrong."""
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


FORMAT = Format(
    name="node-link",
    title="node-link JSON (TopoHub, networkx)",
    suffixes=(".json",),
    detects=detects,
    read=read,
    reads="as GML; demands without a unit in `graph.demands`",
    ignores="other attributes, unless `rate`, `delay` or `cost` names one",
)
