"""A map of a network, small enough for a notebook: nodes, links, and which of them fail."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, MARGIN = 640, 360, 30
MOST_NODES = 150
"""Of a larger network nothing could be told apart."""


def of_world(resolved: Mapping[str, Any]) -> str:
    """Draw the network of a resolved scenario: :func:`svg`."""
    ends = [tuple(link["ends"]) for link in resolved["links"]]
    failing = {failure["link"] for failure in resolved["failures"] if "link" in failure}
    return svg(resolved["nodes"], ends, [link["name"] in failing for link in resolved["links"]])


def svg(nodes: Sequence[str], links: Sequence[tuple[str, str]], failed: Sequence[bool]) -> str:
    """Draw a network where links are about equally long; links that fail are dashed and red.

    Parameters
    ----------
    nodes
        Their names.
    links
        Two nodes each.
    failed
        One a link.

    Returns
    -------
    str
        SVG text; empty for a network of more than :data:`MOST_NODES` nodes.
    """
    if not nodes or len(nodes) > MOST_NODES:
        return ""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    found = nx.kamada_kawai_layout(graph)
    low = [min(float(place[axis]) for place in found.values()) for axis in (0, 1)]
    high = [max(float(place[axis]) for place in found.values()) for axis in (0, 1)]

    def at(node: str) -> tuple[float, float]:
        x, y = (
            MARGIN + (size - 2 * MARGIN) * (float(found[node][axis]) - low[axis]) / ((high[axis] - low[axis]) or 1)
            for axis, size in ((0, WIDTH), (1, HEIGHT))
        )
        return round(x, 1), round(y, 1)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="map of the network">']
    for (a, b), fails in zip(links, failed, strict=True):
        (x1, y1), (x2, y2) = at(a), at(b)
        style = 'stroke="#c0392b" stroke-dasharray="5 4" stroke-width="2"' if fails else 'stroke="#888"'
        title = f"<title>{html.escape(f'{a} - {b}')}{', fails' if fails else ''}</title>"
        parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}>{title}</line>')
    for node in nodes:
        x, y = at(node)
        name = html.escape(node)
        parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#2c6fbb"><title>{name}</title></circle>')
        parts.append(f'<text x="{x + 6}" y="{y - 6}" font-size="11" fill="currentColor">{name}</text>')
    return "".join([*parts, "</svg>"])
