"""Network topologies of RFC 8345 in JSON, with the traffic engineering attributes of RFC 8795.

# Model

Every link of the model has one direction; two opposite links are one link with values per direction. A link of
``ietf-te-topology`` has a bandwidth in byte/s, a delay metric in µs, a metric, and shared risk link groups. A node has
a name and a geographical location. Layer 3 names and metrics of RFC 8346 are read if the attributes above are missing.
Supporting links give the fibres under links: :mod:`optcp.topology.underlays`.

# Limitations

One network of the file is read: the first one with links that supports no other.

References
----------
RFC 8345, A YANG Data Model for Network Topologies. RFC 8346, layer 3. RFC 8795, traffic engineering. RFC 8776, units.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun
from optcp.errors import closest
from optcp.topology import units
from optcp.topology.arcs import opposite, paired
from optcp.topology.base import Format, Place, json_object
from optcp.topology.model import Link, Network, Node, Reading
from optcp.topology.names import few
from optcp.topology.underlays import laid, top

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.topology.base import Head, Source
    from optcp.topology.model import Position

NETWORKS, TOPOLOGY, TE = "ietf-network:networks", "ietf-network-topology", "ietf-te-topology:te"
HEX = re.compile(r"0[xX]([0-9a-fA-F]{1,16})(?:\.([0-9a-fA-F]{0,16}))?(?:[pP]([-+]?[0-9]{1,3}))?")
MOST_BPS = 10**18
PS_PER_US = 10**6
MOST_METRIC = 2**32 - 1


def detects(head: Head) -> bool:
    """Return whether the JSON object has networks."""
    return any(key.rpartition(":")[2] in ("networks", "network") for key in head.keys)


def read(source: Source) -> Network:
    """Read a file of RFC 8345."""
    root = Place(source, json_object(source))
    holder = root.get("networks") or root
    networks = list(holder.each("network"))
    if not networks:
        source.wrong("expected `ietf-network:networks` with a list `network`")
    chosen = top(networks)
    nodes, arcs = _parts(chosen)
    layers = laid(networks, chosen, arcs, list(nodes.values()), _parts)
    links = layers.links
    assumed = ["`te-delay-metric` is in microseconds"] if any(link.delays[0] is not None for link in links) else []
    id_ = chosen.text_of("network-id")
    if others := len(networks) - 1 - len(layers.networks):
        assumed.append(f"network `{id_}` is read; {count_noun(others, 'other', 'others')} in the file are not")
    if layers.fibres:
        assumed.append(f"the networks under `{id_}` give its fibres: {few(sorted(layers.networks))}")
    ignored = {f"link: `{key}`" for link in links for key in link.attributes if key not in USED}
    reading = Reading("rfc8345", tuple(sorted(ignored)), tuple(assumed))
    network = Network(tuple(nodes.values()), tuple(links), (), id_, reading, layers.fibres)
    return paired(source.file, network.noted(notes=layers.notes))


def _parts(network: Place) -> tuple[dict[str, Node], list[Link]]:
    """Return the nodes of a network by identifier, and its arcs."""
    nodes: dict[str, Node] = {}
    for item in network.each("node"):
        id_ = item.need("node-id").text()
        if id_ in nodes:
            network.source.wrong(f"node `{id_}` is declared twice")
        nodes[id_] = _node(id_, item)
    index = {id_: at for at, id_ in enumerate(nodes)}
    return nodes, [_link(item, index) for item in network.each("link")]


USED = frozenset(("bandwidth", "te-default-metric", "te-delay-metric", "metric1", "metric2"))


def _node(id_: str, item: Place) -> Node:
    te = item.down("te", "te-node-attributes")
    label = "" if te is None else te.text_of("name")
    label = label or item.text_of("l3-node-attributes", "name")
    where = item.down("te", "geolocation") or (te and te.get("geolocation"))
    place: Position | None = None
    if where is not None and where.get("latitude") and where.get("longitude"):
        degrees = []
        for key, most in (("longitude", 360), ("latitude", 90)):
            value = units.decimal(where.need(key).text())
            if value is None or abs(value) > most:
                where.need(key).wrong(f"degrees from -{most} to {most}")
            degrees.append(float(value))
        place = degrees[0], degrees[1]
    return Node(id_, label or id_, place, (id_,) if label and label != id_ else ())


def _link(item: Place, index: Mapping[str, int]) -> Link:
    ends = []
    for side, key in (("source", "source-node"), ("destination", "dest-node")):
        end = item.need(side).need(key)
        name = end.text()
        if name not in index:
            close = closest(name, index)
            end.wrong("a node of the network" + (f"; did you mean `{close}`?" if close else ""))
        ends.append(index[name])
    te = item.down("te", "te-link-attributes")
    l3 = item.get("l3-link-attributes")
    found = dict(_scalars(te)) | dict(_scalars(l3))
    rate = None if te is None else _rate(te)
    delay = None if te is None else _metric(te, "te-delay-metric")
    cost = (te and _metric(te, "te-default-metric")) or (l3 and _metric(l3, "metric1")) or None
    risks: list[str] = []
    if te is not None and (srlgs := te.get("te-srlgs")) is not None:
        risks = [one.text() for one in srlgs.each("value")]
    if rate is not None:
        found["bandwidth"] = f"{rate} bps"
    decimal = None if cost is None else Decimal(cost)
    return Link(
        (ends[0], ends[1]),
        name=item.text_of("link-id"),
        rates=(rate,) * 2,
        delays=(None if delay is None else delay * PS_PER_US,) * 2,
        costs=(decimal,) * 2,
        risks=tuple(dict.fromkeys(risks)),
        directed=True,
        attributes=found,
    )


def _scalars(place: Place | None) -> dict[str, object]:
    value = {} if place is None or not isinstance(place.value, dict) else place.value
    return {key: one for key, one in value.items() if isinstance(one, int | float | str)}


def _metric(attributes: Place, key: str) -> int | None:
    found = attributes.get(key)
    if found is None:
        return None
    value = units.decimal(found.text())
    if value is None or value < 0 or value != int(value) or value > MOST_METRIC:
        found.wrong(f"a whole number from 0 to {MOST_METRIC}")
    return int(value)


def _rate(attributes: Place) -> int | None:
    """Return the maximum bandwidth in bit/s; the file has it in byte/s."""
    found = attributes.down("max-link-bandwidth", "te-bandwidth", "generic") or attributes.down(
        "max-resv-link-bandwidth", "te-bandwidth", "generic"
    )
    if found is None:
        return None
    text = found.text().strip()
    number = units.decimal(text)
    value = None if number is None else Fraction(number)
    if value is None and (match := HEX.fullmatch(text)):
        whole, part, power = match[1], match[2] or "", int(match[3] or 0)
        value = Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** power
    if value is None or value < 0 or value * 8 > MOST_BPS:
        found.wrong("a bandwidth in byte/s such as `0x1p30` or `1250000000`")
    return round(value * 8) or None


def write(network: Network) -> dict[str, bytes]:
    """Return a network as JSON of RFC 8345 and RFC 8795."""
    nodes = [_written_node(node) for node in network.nodes]
    links = []
    for arc, twin in zip(opposite(network.links), _twins(network.links), strict=True):
        a, b = (network.nodes[end].id for end in arc.ends)
        name = f"{arc.name}:reverse" if twin else arc.name
        one: dict[str, Any] = {
            "link-id": name,
            "source": {"source-node": a, "source-tp": f"{name}:{a}"},
            "destination": {"dest-node": b, "dest-tp": f"{name}:{b}"},
        }
        if te := _written_te(arc):
            one[TE] = {"te-link-attributes": te}
        links.append(one)
    body = {
        "network-id": network.name or "network",
        "network-types": {"ietf-te-topology:te-topology": {}},
        "node": nodes,
        f"{TOPOLOGY}:link": links,
    }
    document = {NETWORKS: {"network": [body]}}
    return {"": (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()}


def _twins(links: tuple[Link, ...]) -> list[bool]:
    return [twin for link in links for twin in ((False,) if link.directed else (False, True))]


def _written_node(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {"node-id": node.id}
    te: dict[str, Any] = {}
    if node.label and node.label != node.id:
        te["te-node-attributes"] = {"name": node.label}
    if node.place is not None:
        te["geolocation"] = {"longitude": repr(node.place[0]), "latitude": repr(node.place[1])}
    return found | ({TE: te} if te else {})


def _written_te(arc: Link) -> dict[str, Any]:
    te: dict[str, Any] = {}
    rate, delay, cost = arc.rates[0], arc.delays[0], arc.costs[0]
    if cost is not None:
        te["te-default-metric"] = int(cost)
    if delay is not None:
        te["te-delay-metric"] = delay // PS_PER_US
    if arc.risks:
        te["te-srlgs"] = {"value": [int(risk) for risk in arc.risks]}
    if rate is not None:
        generic = str(rate // 8) if rate % 8 == 0 else f"0x{rate // 8:x}.{rate % 8 * 2:x}p0"
        te["max-link-bandwidth"] = {"te-bandwidth": {"generic": generic}}
    return te


def prepare(network: Network) -> Network:
    """Return a network as the format holds it: numbers for risks, whole µs, whole costs, unique identifiers."""
    named = dict.fromkeys(risk for link in network.links for risk in link.risks)
    free = (number for number in range(1, MOST_METRIC) if str(number) not in named)
    number = {risk: risk if _is_number(risk) else str(next(free)) for risk in named}

    def cost(value: Decimal | None) -> Decimal | None:
        return Decimal(min(math.ceil(value), MOST_METRIC)) if value else None

    def delay(value: int | None) -> int | None:
        return None if value is None else min(round(value / PS_PER_US), MOST_METRIC) * PS_PER_US

    links = tuple(
        replace(
            link,
            name=link.name or f"L{at}",
            costs=(cost(link.costs[0]), cost(link.costs[1])),
            delays=(delay(link.delays[0]), delay(link.delays[1])),
            risks=tuple(number[risk] for risk in link.risks),
        )
        for at, link in enumerate(network.links)
    )
    return replace(network, links=links)


def _is_number(risk: str) -> bool:
    return risk.isascii() and risk.isdigit() and str(int(risk)) == risk and int(risk) <= MOST_METRIC


FORMAT = Format(
    name="rfc8345",
    title="RFC 8345 with RFC 8795, JSON",
    suffixes=(".json",),
    detects=detects,
    read=read,
    reads="nodes with names and locations; links with `max-link-bandwidth`, `te-delay-metric`, `te-default-metric` and "
    "`te-srlgs`, per direction; names and `metric1` of RFC 8346. Fibres and paths over them by `supporting-link`",
    ignores="termination points, supporting nodes, tunnels, other networks in the file",
    write=write,
    holds=frozenset(("labels", "places", "link names", "rates", "delays", "costs", "risks", "directions")),
    prepare=prepare,
)
