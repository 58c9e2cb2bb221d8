"""GraphML: graphs in XML, also as drawn by yEd.

# Model

A key with a default applies to each node or edge without a value. Ports are ignored, because an edge still names its
node. The label that yEd draws in a node or at an edge is its name.

# Limitations

Hyperedges, nested graphs and several graphs in one file are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from optcp.errors import closest
from optcp.topology import graph
from optcp.topology.arcs import is_alike, opposite
from optcp.topology.base import FIELDS, Format, at, children, line, tag, xml_bytes, xml_root
from optcp.topology.written import link_attributes, node_attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.topology.base import Head, Source
    from optcp.topology.model import Network

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def detects(head: Head) -> bool:
    """Return whether the root element is ``graphml``."""
    return head.root is not None and head.root[0] == "graphml"


def read(source: Source) -> Network:
    """Read a GraphML file."""
    root = xml_root(source)
    try:
        found = _graph(root)
    except ValueError as error:
        source.wrong(str(error))
    return graph.network(source.file, "graphml", found)


def _graph(root: ET.Element) -> graph.Graph:
    if tag(root) != "graphml":
        raise ValueError(f"its outermost element is `{tag(root)}`, and that of GraphML is `graphml`")
    graphs = [one for one in root.iter() if tag(one) == "graph"]
    if len(graphs) != 1 or graphs[0] not in list(root):
        raise ValueError(f"expected one graph, found {len(graphs)}; nested graphs are not supported")
    keys = _keys(root)
    directed = graphs[0].get("edgedefault") == "directed"
    nodes: dict[str, dict[str, Any]] = {}
    for element in children(graphs[0], "node"):
        node = _named(element, "id", "a node")
        if node in nodes:
            raise ValueError(f"{at(element)}node `{node}` is declared twice")
        nodes[node] = _attributes(element, keys, f"node `{node}`")
    for element in graphs[0]:
        if tag(element) == "hyperedge":
            raise ValueError(f"{at(element)}it has a hyperedge, and only edges between two nodes are read")
    edges: list[graph.Edge] = []
    for element in children(graphs[0], "edge"):
        a, b = (_named(element, end, "an edge") for end in ("source", "target"))
        what = f"the edge from `{a}` to `{b}`"
        for end in (a, b):
            if end not in nodes:
                close = closest(end, nodes)
                meant = f"; did you mean `{close}`?" if close else ""
                raise ValueError(f"{at(element)}{what}: no node `{end}` is declared{meant}")
        if element.get("directed", str(directed).lower()) != str(directed).lower():
            raise ValueError(f"{at(element)}{what} is directed in another way than the graph; expected all edges alike")
        edges.append((a, b, _attributes(element, keys, what)))
    about = {keys.names.get(data.get("key", ""), ""): data.text or "" for data in children(graphs[0], "data")}
    return graph.Graph(nodes, _in_order(nodes, edges, directed=directed), directed, {}, about.get("Network", ""))


def _in_order(nodes: Iterable[str], edges: list[graph.Edge], *, directed: bool) -> list[graph.Edge]:
    """Return the edges in the order of networkx, which determines the names of links."""
    import networkx as nx

    found: Any = nx.MultiDiGraph() if directed else nx.MultiGraph()
    found.add_nodes_from(nodes)
    for number, (a, b, _) in enumerate(edges):
        found.add_edge(a, b, number=number)
    return [(a, b, edges[one["number"]][2]) for a, b, one in found.edges(data=True)]


def _named(element: ET.Element, name: str, what: str) -> str:
    value = element.get(name)
    if value is None:
        raise ValueError(f"{at(element)}{what} has no `{name}`")
    return value


class _Keys(NamedTuple):
    """Declared attributes of a GraphML file: names by identifier, and defaults by name for nodes and edges."""

    names: dict[str, str]
    defaults: dict[str, dict[str, str]]


def _keys(root: ET.Element) -> _Keys:
    keys = _Keys({}, {"node": {}, "edge": {}})
    for element in children(root, "key"):
        key = _named(element, "id", "a key")
        if key in keys.names:
            raise ValueError(f"{at(element)}key `{key}` is declared twice")
        keys.names[key] = element.get("attr.name", key)
        for default in children(element, "default"):
            for kind, names in keys.defaults.items():
                if element.get("for", "all") in (kind, "all"):
                    names[keys.names[key]] = default.text or ""
    return keys


def _attributes(element: ET.Element, keys: _Keys, what: str) -> dict[str, Any]:
    """Return the attributes of a node or edge, including defaults."""
    given: dict[str, Any] = {}
    drawn = ""
    for data in children(element, "data"):
        key = _named(data, "key", f"a value of {what}")
        if key not in keys.names:
            raise ValueError(f"{at(data)}{what} has a value of key `{key}`, which is not declared")
        name = keys.names[key]
        if name in given:
            raise ValueError(f"{at(data)}{what} has `{name}` twice")
        if len(data):
            drawn = drawn or _drawn(data)  # yEd
            continue
        given[name] = data.text or ""
    found = graph.Attributes(keys.defaults[tag(element)] | given)
    found.line = line(element)
    if drawn and not any(found.get(name) for name in ("name", "label")):
        found["label"] = drawn
    return found


def _drawn(data: ET.Element) -> str:
    """Return the label that yEd draws in a node or at an edge."""
    labels = (one for one in data.iter() if tag(one) in ("NodeLabel", "EdgeLabel"))
    return next((words for one in labels if (words := " ".join((one.text or "").split()))), "")


def write(network: Network) -> dict[str, bytes]:
    """Return a network as GraphML."""
    directed = not all(is_alike(link) for link in network.links)
    nodes = [node_attributes(node) for node in network.nodes]
    arcs = opposite(network.links) if directed else list(network.links)
    edges = [link_attributes(link) for link in arcs]
    root = ET.Element("graphml", {"xmlns": NAMESPACE})
    for kind, group in (("node", nodes), ("edge", edges)):
        for name in dict.fromkeys(name for one in group for name in one):
            ET.SubElement(root, "key", {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": "string"})
    body = ET.SubElement(root, "graph", {"edgedefault": "directed" if directed else "undirected"})
    for number, one in enumerate(nodes):
        _data(ET.SubElement(body, "node", {"id": str(number)}), "node", one)
    for link, one in zip(arcs, edges, strict=True):
        a, b = link.ends
        _data(ET.SubElement(body, "edge", {"source": str(a), "target": str(b)}), "edge", one)
    return {"": xml_bytes(root)}


def _data(element: ET.Element, kind: str, attributes: Mapping[str, object]) -> None:
    for name, value in attributes.items():
        ET.SubElement(element, "data", {"key": f"{kind}-{name}"}).text = str(value)


FORMAT = Format(
    name="graphml",
    title="GraphML (also yEd and the Topology Zoo)",
    suffixes=(".graphml",),
    detects=detects,
    read=read,
    reads="as GML; labels drawn by yEd; `LinkSpeedRaw`, or `LinkSpeed` with `LinkSpeedUnits`",
    ignores="other attributes, unless `rate`, `delay` or `cost` names one; drawings; nested graphs are refused",
    write=write,
    holds=frozenset(FIELDS) - {"fibres", "modules", "volumes", "weights"},
)
