"""GNPy's JSON: optical elements and their connections; ROADMs become nodes and fibre routes links.

# Model

A ROADM is a node, as is a fused junction with several next elements and a transceiver without a ROADM. Fibres,
amplifiers and other elements in line are one link from node to node, whose length is the sum of its fibres. A
transceiver at a ROADM is another name of its node. The node is called after its transceiver or city.

# Limitations

- The file has no rates and no demands.
- Opposite routes of different lengths are one link with the length of the first, and a delay per direction.

References
----------
GNPy documentation, "JSON input files", https://gnpy.readthedocs.io.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from optcp.errors import closest
from optcp.topology import units
from optcp.topology.arcs import opposite, paired
from optcp.topology.base import Format, Place, json_object
from optcp.topology.model import Link, Network, Node, Reading

if TYPE_CHECKING:
    from optcp.topology.base import Head, Source
    from optcp.topology.model import Position

PS_PER_KM = 5_000_000
"""Propagation delay of fibre in ps per km, as in scenarios."""

FIBRES = ("Fiber", "RamanFiber")
IN_LINE = (*FIBRES, "Edfa", "Multiband_amplifier", "Fused")
TYPES = (*IN_LINE, "Roadm", "Transceiver")
PREFIXES = ("trx ", "roadm ")
MOST_KM = Decimal(10) ** 6


def detects(head: Head) -> bool:
    """Return whether the JSON object has elements and connections."""
    return {"elements", "connections"} <= head.keys or "gnpy-network-topology:topology" in head.keys


def read(source: Source) -> Network:
    """Read a file of GNPy."""
    root = Place(source, json_object(source))
    root = root.get("topology") or root
    root.need("elements")
    root.need("connections")
    elements: dict[str, Place] = {}
    kinds: dict[str, str] = {}
    for element in root.each("elements"):
        uid = element.need("uid").text()
        kind = element.need("type").text()
        if kind not in TYPES:
            close = closest(kind, TYPES)
            element.need("type").wrong(f"one of {', '.join(TYPES)}" + (f"; did you mean `{close}`?" if close else ""))
        if uid in elements:
            source.wrong(f"element `{uid}` is declared twice")
        elements[uid], kinds[uid] = element, kind
    after: dict[str, list[str]] = defaultdict(list)
    before: Counter[str] = Counter()
    for connection in root.each("connections"):
        ends = [connection.need(end).text() for end in ("from_node", "to_node")]
        for end in ends:
            if end not in elements:
                close = closest(end, elements)
                connection.wrong("two elements" + (f"; did you mean `{close}`?" if close else ""))
        after[ends[0]].append(ends[1])
        before[ends[1]] += 1
    return _network(source, elements, kinds, after, before)


def _network(
    source: Source,
    elements: dict[str, Place],
    kinds: dict[str, str],
    after: dict[str, list[str]],
    before: Counter[str],
) -> Network:
    at_roadm: dict[str, list[str]] = defaultdict(list)
    sites = []
    for uid, kind in kinds.items():
        roadms = [one for one in after[uid] if kinds[one] == "Roadm"]
        if kind == "Transceiver" and roadms:
            at_roadm[roadms[0]].append(uid)
        elif kind in ("Roadm", "Transceiver") or (kind == "Fused" and (len(after[uid]) > 1 or before[uid] > 1)):
            sites.append(uid)
    found = [_site(uid, elements[uid], at_roadm[uid]) for uid in sites]
    count = Counter(node.label for node in found)
    nodes = [node if count[node.label] == 1 else replace(node, label=node.id) for node in found]
    index = {uid: at for at, uid in enumerate(sites)}
    links = []
    for uid in sites:
        for start in after[uid]:
            if kinds[start] == "Transceiver" and start not in index:
                continue
            if (link := _route(source, uid, start, (elements, kinds, after, index))) is not None:
                links.append(link)
    assumed = ["ROADMs are nodes; fibres and amplifiers between them are one link with the sum of their lengths"]
    if not any(node.place for node in nodes):
        assumed.append("locations 0, 0 are unknown places")
    other = {key for uid in elements for key in elements[uid].value if key not in ("uid", "type", "metadata", "params")}
    ignored = tuple(f"element: `{key}`" for key in sorted({*other, "params"} & {*other, *_params(elements, kinds)}))
    network = Network(tuple(nodes), tuple(links), reading=Reading("gnpy", ignored, tuple(assumed)))
    return _delays(paired(source.file, network, any_length=True), links)


def _params(elements: dict[str, Place], kinds: dict[str, str]) -> set[str]:
    return {"params"} if any(elements[uid].get("params") for uid in kinds if kinds[uid] not in FIBRES) else set()


def _site(uid: str, element: Place, transceivers: list[str]) -> Node:
    where = element.down("metadata", "location")
    city = "" if where is None else where.text_of("city")
    place: Position | None = None
    if where is not None and where.get("latitude") and where.get("longitude"):
        degrees = [units.decimal(where.text_of(key)) for key in ("longitude", "latitude")]
        for key, value, most in zip(("longitude", "latitude"), degrees, (360, 90), strict=True):
            if value is None or abs(value) > most:
                where.need(key).wrong(f"degrees from -{most} to {most}")
        if any(degrees):
            place = float(degrees[0] or 0), float(degrees[1] or 0)
    label = _bare(transceivers[0]) if len(transceivers) == 1 else city or _bare(uid)
    others = dict.fromkeys(name for name in (uid, *transceivers, city) if name and name != label)
    return Node(uid, label, place, tuple(others))


def _bare(uid: str) -> str:
    prefix = next((prefix for prefix in PREFIXES if uid.lower().startswith(prefix)), "")
    return uid[len(prefix) :].strip() or uid


def _route(
    source: Source,
    uid: str,
    start: str,
    graph: tuple[dict[str, Place], dict[str, str], dict[str, list[str]], dict[str, int]],
) -> Link | None:
    """Return the arc from a node over elements in line to the next node, or None if it ends elsewhere."""
    elements, kinds, after, index = graph
    length = Decimal(0)
    at, seen = start, {uid}
    fibres = 0
    while at not in index:
        if at in seen or len(after[at]) != 1:
            return None
        seen.add(at)
        if kinds[at] in FIBRES:
            length += _length_km(elements[at])
            fibres += 1
        at = after[at][0]
    if length > MOST_KM:
        source.wrong(f"the route from `{uid}` to `{at}` is longer than {MOST_KM:,} km")
    name = start if fibres else ""
    return Link((index[uid], index[at]), name=name, length_mm=round(length * 10**6), directed=True)


def _length_km(fibre: Place) -> Decimal:
    params = fibre.need("params")
    written = params.need("length")
    value = units.decimal(written.value)
    unit = params.text_of("length_units") or "km"
    if unit not in ("km", "m"):
        params.need("length_units").wrong("`km` or `m`")
    if value is None or value < 0 or value > MOST_KM * 1000:
        written.wrong("a length such as `80.0`")
    return value if unit == "km" else value / 1000


def _delays(network: Network, arcs: list[Link]) -> Network:
    """Set a delay per direction where opposite routes have different lengths."""
    lengths = {arc.name: arc.length_mm for arc in arcs if arc.name}
    by_ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    for arc in arcs:
        by_ends[arc.ends].append(arc.length_mm or 0)
    links = []
    uneven = 0
    used: Counter[tuple[int, int]] = Counter()
    for link in network.links:
        a, b = link.ends
        there = lengths.get(link.name, link.length_mm) or 0
        back = by_ends[b, a][used[a, b] : used[a, b] + 1]
        used[a, b] += 1
        if not link.directed and back and back[0] != there:
            uneven += 1
            delays = tuple(round(mm * PS_PER_KM / 10**6) for mm in (there, back[0]))
            link = replace(link, delays=(delays[0], delays[1]))  # noqa: PLW2901
        links.append(link)
    found = replace(network, links=tuple(links))
    if not uneven:
        return found
    return found.noted(assumed=(f"{uneven} links have a delay per direction: their two routes differ in length",))


def write(network: Network) -> dict[str, bytes]:
    """Return a network as a file of GNPy: a transceiver and a ROADM per node, a fibre per direction."""
    called = [node.name for node in network.nodes]
    elements: list[dict[str, Any]] = []
    connections = []
    for name, node in zip(called, network.nodes, strict=True):
        longitude, latitude = node.place or (0.0, 0.0)
        location = {"city": name, "region": "", "latitude": latitude, "longitude": longitude}
        for kind, prefix in (("Transceiver", "trx"), ("Roadm", "roadm")):
            elements.append({"uid": f"{prefix} {name}", "type": kind, "metadata": {"location": location}})
        connections += [(f"trx {name}", f"roadm {name}"), (f"roadm {name}", f"trx {name}")]
    for at, arc in enumerate(opposite(network.links)):
        a, b = (called[end] for end in arc.ends)
        uid = f"fiber ({a} → {b})-{at}"
        length = float(Decimal(arc.length_mm or 0).scaleb(-6))
        params = {"length": length, "length_units": "km", "loss_coef": 0.2, "con_in": None, "con_out": None}
        elements.append({"uid": uid, "type": "Fiber", "type_variety": "SSMF", "params": params})
        connections += [(f"roadm {a}", uid), (uid, f"roadm {b}")]
    document = {
        "elements": elements,
        "connections": [{"from_node": a, "to_node": b} for a, b in connections],
    }
    return {"": (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()}


def prepare(network: Network) -> Network:
    """Return a network as the format holds it: unique names, a length for each link, no place at 0, 0."""
    nodes = tuple(
        replace(node, label=node.id, place=node.place if node.place and any(node.place) else None)
        for node in network.nodes
    )
    links = tuple(replace(link, length_mm=link.length_mm or 0) for link in network.links)
    return replace(network, nodes=nodes, links=links)


FORMAT = Format(
    name="gnpy",
    title="GNPy, JSON",
    suffixes=(".json",),
    detects=detects,
    read=read,
    reads="ROADMs and transceivers as nodes with coordinates; fibres and amplifiers between them as one link with the "
    "sum of the lengths",
    ignores="amplifier, ROADM and fibre parameters other than the length; the file has no rates and no demands",
    write=write,
    holds=frozenset(("labels", "places", "lengths")),
    prepare=prepare,
)
