"""Attributes that writers of GML and GraphML give to nodes and links; the readers understand them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from optcp.topology import units

if TYPE_CHECKING:
    from optcp.topology.model import Link, Node

Value = int | float | str


def node_attributes(node: Node) -> dict[str, Value]:
    """Return name, coordinates and other names of a node."""
    found: dict[str, Value] = {"label": node.name}
    if node.place is not None:
        found |= {"Longitude": node.place[0], "Latitude": node.place[1]}
    return found | ({"aliases": ";".join(node.aliases)} if node.aliases else {})


def link_attributes(link: Link) -> dict[str, Value]:
    """Return the values of a link from its first end to the second."""
    texts = {
        "label": link.name or None,
        "rate_bps": link.rates[0],
        "length": None if link.length_mm is None else units.plain(Decimal(link.length_mm).scaleb(-6)) + " km",
        "delay_ps": link.delays[0],
        "cost": None if link.costs[0] is None else units.plain(link.costs[0]),
        "loss": None if link.losses[0] is None else units.plain(link.losses[0]),
        "risks": ";".join(link.risks) or None,
    }
    return {key: str(value) for key, value in texts.items() if value is not None}
