"""Network of a plain graph whose nodes and edges have attributes."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from optcp.topology import attributes as meaning
from optcp.topology import names
from optcp.topology.arcs import paired
from optcp.topology.model import Demand, Link, Network, Node, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Edge = tuple[Any, Any, dict[str, Any]]
"""Two nodes by their identifiers, and the attributes of the link between them."""


class Attributes(dict[str, Any]):
    """Attributes of a node or link, with their line in the file, 0 if unknown."""

    line = 0


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
    demands
        Demands without a unit, by node identifiers.
    title
        Name of the network.
    """

    nodes: dict[Any, dict[str, Any]]
    edges: list[Edge]
    directed: bool
    demands: Mapping[tuple[Any, Any], float] = {}
    title: str = ""


def network(file: str, form: str, graph: Graph) -> Network:
    """Return the network of a graph.

    Raises
    ------
    InputError
        If a name, place or length cannot be read.
    """
    index = {node: at for at, node in enumerate(graph.nodes)}
    plain = [Node(str(node), meaning.label(_place(file, one), node, one)) for node, one in graph.nodes.items()]
    called = names.names_of(plain)
    nodes = [
        Node(node.id, node.label, meaning.position(_place(file, one), name, one), aliases(one), one)
        for node, name, one in zip(plain, called, graph.nodes.values(), strict=True)
    ]
    links = [_link(file, graph, index, called, edge) for edge in graph.edges]
    demands = [Demand((index[a], index[b]), weight=Decimal(repr(much))) for (a, b), much in graph.demands.items()]
    found = Network(tuple(nodes), tuple(links), tuple(demands), graph.title)
    return paired(file, _reported(found, form, [one for *_, one in graph.edges], graph.nodes.values()))


def aliases(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the other names of a node: its attribute ``aliases``, separated by semicolons."""
    parts = meaning.text(attributes.get("aliases") or "").split(";")
    return tuple(name for part in parts if (name := part.strip()))


def _place(file: str, one: Mapping[str, Any]) -> str:
    """Return the place of attributes for messages: the file, and the line if known."""
    return f"`{file}`, line {one.line}: " if isinstance(one, Attributes) and one.line else f"`{file}`: "


def _link(
    file: str,
    graph: Graph,
    index: Mapping[Any, int],
    called: Sequence[str],
    edge: Edge,
) -> Link:
    a, b, one = edge
    ends = index[a], index[b]
    length = meaning.length_km(_place(file, one), f"{called[ends[0]]}-{called[ends[1]]}", one)
    return Link(
        ends,
        name=meaning.name(one),
        rates=(meaning.rate_bps(one),) * 2,
        length_mm=None if length is None else round(length * 1e6),
        delays=(meaning.delay_ps(one),) * 2,
        costs=(meaning.cost(one),) * 2,
        losses=(meaning.loss(one),) * 2,
        risks=meaning.risks(one),
        directed=graph.directed,
        attributes=one,
    )


def _reported(
    found: Network, form: str, edges: Sequence[Mapping[str, Any]], nodes: Iterable[Mapping[str, Any]]
) -> Network:
    rates = meaning.looks_like_rates(edges)
    with_rate = any(rate is not None for link in found.links for rate in link.rates)
    unread = [] if with_rate else list(rates)
    ignored = [f"link: `{name}`" for name in meaning.unused(edges) if name in unread or name not in rates]
    ignored += [f"node: `{name}`" for name in meaning.unused(nodes) if name not in ("pos", "aliases")]
    assumed = []
    bare = [link for link in found.links if link.rates[0] is None and meaning.looks_like_rates([link.attributes])]
    if with_rate and bare:
        count = f"{len(bare)} of {len(found.links)} links"
        assumed.append(f"{count} have a rate without a unit, which is not used")
    if any(meaning.length_km("", "", one) is not None and not _has_unit(one) for one in edges):
        assumed.append("lengths without a unit are in km")
    reading = Reading(form, tuple(ignored), tuple(assumed), (), rates)
    return Network(found.nodes, found.links, found.demands, found.name, reading)


def _has_unit(attributes: Mapping[str, Any]) -> bool:
    return any(
        match[2] or not meaning.text(attributes[name]).replace(".", "").isdigit()
        for name in attributes
        if (match := meaning.LENGTH_NAME.fullmatch(name))
    )
