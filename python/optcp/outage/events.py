"""Failure events of a network: links, nodes, fibres, ducts, shared risks, and pairs of links in sequence."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core

if TYPE_CHECKING:
    from optcp.outage.layers import Layers
    from optcp.outage.network import Network
    from optcp.scenarios.scenario import Settings

LIKELY_DEGREES = 30.0
"""Links of a node whose bearings differ by at most this angle probably share a duct."""


@dataclass(frozen=True)
class Event:
    """A failure event.

    Attributes
    ----------
    name
        Name in results, with the names of nodes in the file.
    links
        Names of the links that fail, as in scenarios.
    nodes
        Names of the nodes that fail, as in scenarios.
    later_s
        Delay of the second of two links after the first, in seconds.
    km
        Length of the cut cable in km, to which the frequency of cuts is proportional; zero for nodes.
    risk
        Name of the fibre or duct that fails, as in scenarios; empty for others.
    fibres
        Numbers of the fibres that fail.
    """

    name: str
    links: tuple[str, ...]
    nodes: tuple[str, ...]
    later_s: float
    km: float
    risk: str = ""
    fibres: tuple[int, ...] = ()

    def settings(self, at_s: float) -> Settings:
        """Scenario settings of the event, which begins 0 to 100 ms after ``at_s``."""
        common = {"at": f"{at_s:g} s", "later": "uniform(0 s, 100 ms)"}
        if self.nodes:
            return {"failures": [{"node": self.nodes[0], **common}]}
        if self.risk:
            return {"failures": [{"risk": self.risk, **common}]}
        if self.later_s:
            first, second = self.links
            after = {**common, "at": f"{at_s + self.later_s:.4f} s"}
            return {"failures": [{"link": first, **common}, {"link": second, **after}]}
        return {"failures": [{"links": self.links, **common}]}


def ports(network: Network, event: Event) -> frozenset[str]:
    """Ports of the links of an event, in both directions, as named in results."""
    return frozenset(port for port, link in network.ports().items() if link in event.links)


def links(network: Network) -> list[Event]:
    """One event per link."""
    shown = network.shown_links.items()
    return [Event(own, (name,), (), 0.0, link[3]) for (name, own), link in zip(shown, network.links, strict=True)]


def bridges(network: Network) -> set[str]:
    """Bridges: links whose failure disconnects the network."""
    return {name for name, alone in zip(network.link_names(), network.graph().bridges(), strict=True) if alone}


def nodes(network: Network) -> list[Event]:
    """One event per node; a node fails with all of its links."""
    return [Event(network.own_names.node(name), (), (name,), 0.0, 0.0) for name in network.nodes]


def risks(network: Network) -> list[Event]:
    """One event per shared risk of the file; all links of a risk fail at once."""
    km = dict(zip(network.link_names(), (link[3] for link in network.links), strict=True))
    return [Event(risk, links, (), 0.0, max(km[name] for name in links)) for risk, links in network.risks().items()]


def fibres(layers: Layers) -> list[Event]:
    """One event per fibre that carries links; a fibre fails with all links over it."""
    found = (
        Event(one.shown, layers.links_over([at]), (), 0.0, one.km, one.name, (at,))
        for at, one in enumerate(layers.fibres)
    )
    return [one for one in found if one.links]


def ducts_of_file(layers: Layers) -> list[Event]:
    """One event per duct of the file that carries links; all fibres of a duct fail at once."""
    found = []
    for duct, name in layers.ducts.items():
        members = layers.in_duct(duct)
        longest_km = max(layers.fibres[at].km for at in members)
        found.append(Event(duct, layers.links_over(members), (), 0.0, longest_km, name, members))
    return [one for one in found if one.links]


def doubles(network: Network, count: int, seed: int) -> list[Event]:
    """Random pairs of links; the second fails up to two seconds after the first."""
    drawn = random.Random(seed)  # noqa: S311 - not for cryptography
    found = []
    km = dict(zip(network.link_names(), (link[3] for link in network.links), strict=True))
    for _ in range(count):
        first, second = drawn.sample(list(km), 2)
        later_s = round(drawn.uniform(0.1, 2.0), 4)
        shown = ", then ".join(network.shown_links[name] for name in (first, second))
        found.append(Event(shown, (first, second), (), later_s, km[first]))
    return found


def ducts(network: Network, within_degrees: float = 360.0) -> list[Event]:
    """Pairs of links with similar bearings at a node (``leaving`` of ``[[risks]]``).

    Parameters
    ----------
    within_degrees
        Maximum difference of their bearings.
    """
    a, b, *_ = network.links[0]
    reference = json.dumps(network.reference, ensure_ascii=False)
    text = (
        f'stop = "1 s"\n[topology]\n{network.kind} = {reference}\nrate = "1 Gbps"\nqueue = "1 packets"\n'
        f'[[risks]]\nname = "duct"\nleaving = "every"\nwithin_degrees = {within_degrees:g}\n'
        f'[[risks]]\nname = "first"\nlinks = [["{a}", "{b}"]]\n[[failures]]\nrisk = "first"\nat = "0.5 s"\n'
        '[sweep]\n"failures.0.risk" = "every"\n'
    )
    # `every` skips links without traffic, so each link gets a flow.
    for one, two, own, _ in network.links:
        way = f'"{one}", "{own}", "{two}"' if own else f'"{one}", "{two}"'
        text += f'[[flows]]\ngroup = "each"\npath = [{way}]\n'
    world = _core.Scenario.parse(text, "ducts.toml")
    km = dict(zip(network.link_names(), (link[3] for link in network.links), strict=True))
    found = []
    for risk in dict(world.axes)["failures.0.risk"]:
        if risk != "first":
            failed = json.loads(world.override([("failures.0.risk", risk)]).resolved())["failures"]
            of = tuple(one["link"] for one in failed)
            shown = " and ".join(network.shown_links[name] for name in of)
            found.append(Event(shown, of, (), 0.0, max(km[name] for name in of)))
    return found
