"""GML: graphs as nested lists of keys and values, as in the Topology Zoo.

# Model

Every attribute keeps the value of the file. The order of edges determines the names of links.

# Limitations

- Nested graphs and several graphs in one file are refused.
- GML has no encoding declaration; without a byte order mark, the text is UTF-8.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from optcp.topology import graph
from optcp.topology.arcs import is_alike, opposite
from optcp.topology.base import FIELDS, Format
from optcp.topology.written import link_attributes, node_attributes

if TYPE_CHECKING:
    from optcp.topology.base import Head, Source
    from optcp.topology.model import Network

EXPONENT = r"(?<![\w.])[-+]?[0-9]+[eE][-+]?[0-9]+"
"""Number with an exponent and without a point, which GML does not have; other programs write it."""
TOKEN = re.compile(rf'"[^"]*"|#[^\n]*|[\[\]]|{EXPONENT}|[A-Za-z][0-9A-Za-z_]*')
GRAPH = re.compile(r"\bgraph\s*\[")


def detects(head: Head) -> bool:
    """Return whether the text has a graph in the syntax of GML."""
    return GRAPH.search(re.sub(r'"[^"]*"|#[^\n]*', " ", head.text)) is not None


def read(source: Source) -> Network:
    """Read a GML file."""
    import networkx as nx

    try:
        found = nx.parse_gml(_plain(source.text()), label="id")
        for node, attributes in found.nodes(data=True):
            if "graph" in attributes:
                source.wrong(f"node {node} contains a graph; nested graphs are not supported")
    except (nx.NetworkXException, ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        if str(error).startswith("cannot read"):
            raise
        source.wrong(str(error))
    title = str(found.graph.get("Network") or found.graph.get("label") or "")
    nodes, edges = dict(found.nodes(data=True)), list(found.edges(data=True))
    return graph.network(source.file, "gml", graph.Graph(nodes, edges, found.is_directed(), {}, title))


def _plain(text: str) -> str:
    """Return the text without comments, with quoted texts on one line and ``multigraph 1``.

    networkx misreads quotes in comments and numbers such as ``1e-06``, and refuses parallel links without ``multigraph
    1``. Line numbers stay the same.
    """
    parts: list[str] = []
    end = depth = 0
    previous = ""
    for match in TOKEN.finditer(text):
        word = match[0]
        parts.append(text[end : match.start()])
        end = match.end()
        if word.startswith("#"):
            continue
        if re.fullmatch(EXPONENT, word):
            word = _pointed(word)
        parts.append(word.replace("\n", " ") + "\n" * word.count("\n"))
        if word == "[":
            if depth == 0 and previous == "graph":
                parts.append(" multigraph 1 ")
            depth += 1
        elif word == "]":
            depth -= 1
        previous = word
    return "".join([*parts, text[end:]])


def _pointed(number: str) -> str:
    """Return a number with a point before its exponent, as GML requires."""
    return number if "." in number else re.sub("(?=[eE])", ".0", number)


def write(network: Network) -> dict[str, bytes]:
    """Return a network as GML."""
    directed = not all(is_alike(link) for link in network.links)
    lines = ["graph [", f"  directed {int(directed)}"]
    for at, node in enumerate(network.nodes):
        lines.append("  node [")
        lines += [f"    {key} {_value(value)}" for key, value in {"id": at, **node_attributes(node)}.items()]
        lines.append("  ]")
    for link in opposite(network.links) if directed else network.links:
        ends = {"source": link.ends[0], "target": link.ends[1]}
        lines.append("  edge [")
        lines += [f"    {key} {_value(value)}" for key, value in {**ends, **link_attributes(link)}.items()]
        lines.append("  ]")
    return {"": "\n".join([*lines, "]", ""]).encode()}


def _value(value: Any) -> str:  # noqa: ANN401 - a number or text
    if isinstance(value, int | float):
        return _pointed(repr(value))
    text = "".join(f"&#{ord(c)};" if c in '"&' or not c.isprintable() else c for c in str(value))
    return f'"{text}"'


FORMAT = Format(
    name="gml",
    title="GML",
    suffixes=(".gml",),
    detects=detects,
    read=read,
    reads="names, coordinates, lengths, rates and delays with a unit, costs, losses, shared risks, both directions",
    ignores="other attributes, unless `rate`, `delay` or `cost` names one; nested graphs are refused",
    write=write,
    holds=frozenset(FIELDS) - {"fibres", "modules", "volumes", "weights"},
)
