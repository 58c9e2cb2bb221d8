"""Lengths of links from the fibres under them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx

    from optcp.topology.model import Fibre, Link

PS_A_MM = 5
"""Propagation delay in fibre, in ps per mm."""


def with_lengths(links: Sequence[Link], fibres: Sequence[Fibre], nodes: Sequence[str]) -> list[Link]:
    """Return links whose missing lengths are the sums of the fibres on their paths.

    Parameters
    ----------
    nodes
        Names of the nodes.
    """
    import networkx as nx

    graph = nx.MultiGraph()
    for one in fibres:
        length = one.length_mm if one.length_mm is not None else round((one.delay_ps or 0) / PS_A_MM)
        graph.add_edge(*one.ends, key=one.name or "-".join(one.ends), length=length)

    def length_mm(link: Link) -> int | None:
        if link.over is None or link.length_mm is not None:
            return link.length_mm
        try:
            if not link.over:
                return int(nx.shortest_path_length(graph, *(nodes[end] for end in link.ends), weight="length"))
            return _listed(graph, link.over)
        except (nx.NetworkXException, KeyError):
            return None

    return [replace(link, length_mm=length_mm(link)) for link in links]


def _listed(graph: nx.MultiGraph, path: Sequence[str]) -> int:
    """Return the length of a listed path: nodes, with the names of fibres between some of them."""
    total, before, fibre = 0, "", ""
    for name in path:
        if name not in graph:
            fibre = name
            continue
        if before:
            between = graph[before][name]
            total += int((between[fibre] if fibre else next(iter(between.values())))["length"])
        before, fibre = name, ""
    return total
