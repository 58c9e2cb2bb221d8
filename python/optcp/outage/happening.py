"""Failures of an outage study by kind, and failures that are excluded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.errors import InputError
from optcp.outage import events, study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.outage.events import Event
    from optcp.outage.network import Network

LINKS, NODES, FIBRES, DUCTS, RISKS, DOUBLES = KINDS = ("links", "nodes", "fibres", "ducts", "risks", "doubles")
"""Kinds of failures."""
SINGLE = (LINKS, FIBRES)
"""Kinds whose failures happen in proportion to their length."""
OPTICAL = (FIBRES, DUCTS)
"""Kinds of failures below the links, in networks with fibres."""
PAIRS = 50
"""Number of drawn pairs of links."""
DRAWN_WITH = 1
"""Seed of this draw."""
NO_RISKS = "the network has no shared risks, such as a column `risks` of links"
NO_FIBRES = "the network has no fibres, such as `fibres.csv` with a column `over` of links"


def default(network: Network) -> str:
    """Return the kind of failures of a network without a given one: fibres, or else links."""
    return FIBRES if network.layers else LINKS


def failures_of(network: Network, kind: str) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """Return the failures of a kind, and the names of excluded ones, which no mechanism can replace.

    Raises
    ------
    InputError
        If the network has no such failures.
    """
    found, left_out = _found(network, kind)
    if not found:
        why = {
            LINKS: "every link is a bridge, which no mechanism can replace",
            FIBRES: "every fibre is a bridge, which no mechanism can replace",
            RISKS: NO_RISKS,
            DUCTS: "every duct is a bridge, which no mechanism can replace"
            if left_out
            else "no two links of a node leave in the same direction",
        }.get(kind, "there is one link")
        raise InputError(f"{network.reference}: {why}; choose other --failures")
    # Of duplicate pairs only the first.
    return tuple({one.name: one for one in reversed(found)}.values())[::-1], left_out


def _found(network: Network, kind: str) -> tuple[Sequence[Event], tuple[str, ...]]:
    if kind in OPTICAL and network.layers and (kind == FIBRES or network.layers.ducts):
        every = (events.fibres if kind == FIBRES else events.ducts_of_file)(network.layers)
        lasting = [one.name for one in every if _disconnects(network, one)]
        return [one for one in every if one.name not in lasting], tuple(lasting)
    if kind == LINKS:
        bridges = events.bridges(network)
        return study.cut(network), tuple(own for name, own in network.shown_links.items() if name in bridges)
    if kind == NODES:
        return events.nodes(network), ()
    if kind == FIBRES:
        raise InputError(f"{network.reference}: {NO_FIBRES}; expected --failures {LINKS}, {NODES} or {DOUBLES}")
    if kind == RISKS:
        return events.risks(network), ()
    if kind == DUCTS:
        if not network.has_places():
            raise InputError(
                f"{network.reference}: node positions are unknown, so links in the same duct cannot be found"
            )
        return events.ducts(network), ()
    return events.doubles(network, PAIRS, DRAWN_WITH) if len(network.links) > 1 else [], ()


def _disconnects(network: Network, event: Event) -> bool:
    """Whether a failure of fibres disconnects nodes, even after optical restoration."""
    restored = network.layers.recovered(event.fibres) if network.layers else set()
    return network.without(*(set(event.links) - restored)).parts() > network.parts()
