"""Network design problems of SNDlib, in the common part of its native and XML formats.

# Model

Capacities and demands have the unit of the file's ``unit``, such as MBITPERSEC. Without it, a capacity is no rate, and
a demand is a weight. Capacities, modules and costs stay attributes of the link: ``preInstalledCapacity``,
``moduleCapacity``, ``moduleCost`` (first module), ``moduleCapacity2`` and so on.

# Limitations

Admissible paths and limits on their length are ignored.

References
----------
Orlowski, Pioro, Tomaszewski, Wessaely, "SNDlib 1.0 - Survivable Network Design Library", Networks 55(3), 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from optcp.errors import closest
from optcp.topology import units
from optcp.topology.model import NEITHER, Demand, Link, Module, Network, Node, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.topology.base import Source
    from optcp.topology.model import Position

UNITS = {
    f"{prefix}{bits}PERSEC": Decimal(10) ** power
    for prefix, power in (("", 0), ("K", 3), ("M", 6), ("G", 9), ("T", 12))
    for bits in ("BIT", "BITS")
}
"""Values of ``unit``, in bit/s."""

CAPACITIES = ("preInstalledCapacity", *(f"moduleCapacity{at}" for at in ("", 2, 3, 4)))
"""Link attributes with capacities."""

HOLDS = frozenset(("link names", "places", "rates", "modules", "costs", "volumes", "weights"))


class End(NamedTuple):
    """Node at the end of a link or demand.

    Attributes
    ----------
    name
        Name as written.
    place
        Place for messages, such as "line 3: "; empty if unknown.
    """

    name: str
    place: str


Ends = tuple[End, End]


@dataclass
class Design:
    """Contents of a file, as texts and numbers.

    Attributes
    ----------
    links
        Name, ends, and values by name.
    demands
        Ends and value.
    """

    unit: str = ""
    title: str = ""
    pixels: bool = False
    nodes: list[tuple[str, Position | None]] = field(default_factory=list)
    links: list[tuple[str, Ends, dict[str, Decimal], list[Module]]] = field(default_factory=list)
    demands: list[tuple[str, Ends, Decimal]] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)


def unit_bps(unit: str) -> Decimal | None:
    """Return the unit of a file in bit/s, or None if it states none that is known."""
    word = unit.strip()
    return UNITS.get(word.upper().replace("_", "")) or (units.factor("rate", word) if word else None)


def network(source: Source, form: str, design: Design) -> Network:
    """Return the network of a design problem.

    Raises
    ------
    InputError
        If a link or demand names an unknown node.
    """
    index: dict[str, int] = {}
    for name, _ in design.nodes:
        if name in index:
            source.wrong(f"node `{name}` is declared twice")
        index[name] = len(index)
    scale = unit_bps(design.unit)
    on_earth = not design.pixels and all(
        place is None or (abs(place[0]) <= 360 and abs(place[1]) <= 90) for _, place in design.nodes
    )
    nodes = [Node(name, name, place if on_earth else None) for name, place in design.nodes]
    links = [
        _link(name, _ends(source, index, f"link `{name}`", ends), values, modules, scale)
        for name, ends, values, modules in design.links
    ]
    demands = []
    for name, pair, value in design.demands:
        ends = _ends(source, index, f"demand `{name}`", pair)
        demands.append(Demand(ends, round(value * scale)) if scale else Demand(ends, weight=value))
    return Network(tuple(nodes), tuple(links), tuple(demands), design.title, _reading(form, design, links, on_earth))


def _ends(source: Source, index: Mapping[str, int], what: str, ends: Ends) -> tuple[int, int]:
    for end, place in ends:
        if end not in index:
            close = closest(end, index)
            meant = f"; did you mean `{close}`?" if close else ""
            source.wrong(f"{place}{what}: no node `{end}` is declared{meant}")
    return index[ends[0].name], index[ends[1].name]


def _link(
    name: str, ends: tuple[int, int], values: dict[str, Decimal], modules: Sequence[Module], scale: Decimal | None
) -> Link:
    attributes = {key: units.plain(value) for key, value in values.items()}
    for at, module in enumerate(modules):
        number = "" if at == 0 else str(at + 1)
        attributes[f"moduleCapacity{number}"] = units.plain(module.capacity)
        attributes[f"moduleCost{number}"] = units.plain(module.cost)
    capacity = values.get("preInstalledCapacity", Decimal(0))
    rate = round(capacity * scale) if scale and capacity else None
    cost = values.get("routingCost") or None
    return Link(
        ends,
        name=name,
        rates=(rate or None, rate or None),
        costs=(cost, cost),
        modules=tuple(Module(one.capacity * (scale or 1), one.cost) for one in modules),
        attributes=attributes,
    )


def _reading(form: str, design: Design, links: Sequence[Link], on_earth: bool) -> Reading:
    assumed = []
    if unit_bps(design.unit) is None:
        stated = f"the unit `{design.unit}` is not known" if design.unit else "the file states no unit"
        with_capacity = next((name for name in CAPACITIES if any(name in link.attributes for link in links)), None)
        if design.demands or with_capacity:
            assumed.append(f"{stated}: demands are weights, and capacities are no rates")
        if with_capacity:
            assumed.append(f'`rate = "attribute:{with_capacity} Mbps"` in a scenario states the unit of capacities')
    if any(link.rates[0] for link in links):
        assumed.append("the rate of a link is its pre-installed capacity, in each direction")
    if not on_earth:
        assumed.append("coordinates are places in a drawing and are not used")
    rates = tuple(name for name in CAPACITIES if any(name in link.attributes for link in links))
    with_rate = any(link.rates[0] for link in links)
    return Reading(form, tuple(design.ignored), tuple(assumed), (), () if with_rate else rates)


def unit(network: Network) -> str:
    """Return the unit that a writer states: none if a demand has none, because the unit applies to all values."""
    has_weights = any(demand.weight is not None for demand in network.demands)
    has_rates = any(link.rates[0] is not None for link in network.links)
    return "BITPERSEC" if not has_weights and (has_rates or network.demands) else ""


def prepare(network: Network) -> Network:
    """Return a network as the formats hold it: with a unit for all values, or for none."""
    stated = unit(network)
    demands = tuple(
        demand if stated else replace(demand, volume_bps=None, weight=demand.amount) for demand in network.demands
    )
    links = tuple(
        replace(
            link,
            name=link.name or f"L{at}",
            rates=link.rates if stated else NEITHER,
            costs=(link.costs[0] or None, link.costs[1] or None),
        )
        for at, link in enumerate(network.links)
    )
    nodes = tuple(replace(node, label=node.id) for node in network.nodes)
    return replace(network, nodes=nodes, demands=demands, links=links)
