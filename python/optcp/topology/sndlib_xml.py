"""SNDlib's XML format: a ``network`` with ``networkStructure`` and ``demands``."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from optcp.common import rows
from optcp.topology import sndlib, units
from optcp.topology.base import Format, at, child, children, names_near, tag, xml_bytes, xml_root
from optcp.topology.model import Module

if TYPE_CHECKING:
    from optcp.topology.base import Head, Source
    from optcp.topology.model import Network, Position

NAMESPACE = "http://sndlib.zib.de/network"


def detects(head: Head) -> bool:
    """Return whether the root element is ``network``."""
    return head.root is not None and head.root[0] == "network"


def read(source: Source) -> Network:
    """Read a file in the XML format."""
    root = xml_root(source)
    structure = child(root, "networkStructure")
    if structure is None:
        source.wrong(
            "its outermost element is `network`: expected `networkStructure` in it, as in SNDlib, or `graphml` as "
            "outermost element"
        )
    design = sndlib.Design()
    meta = child(root, "meta")
    if meta is not None:
        design.unit = _text(source, meta, "unit", "meta", "")
    nodes = child(structure, "nodes")
    if nodes is not None:
        design.pixels = nodes.get("coordinatesType", "geographical") != "geographical"
        design.nodes = [(_id(source, node, "a node"), _place(source, node)) for node in children(nodes, "node")]
    for group in children(structure, "links"):
        for link in children(group, "link"):
            design.links.append(_link(source, link, design))
    for group in children(root, "demands"):
        for demand in children(group, "demand"):
            design.demands.append(_demand(source, demand, design))
    if not design.nodes:
        source.wrong("expected at least one `node` in `networkStructure`")
    return sndlib.network(source, "sndlib-xml", design)


def _id(source: Source, element: ET.Element, what: str) -> str:
    value = element.get("id")
    if not value:
        source.wrong(f"{at(element)}{what} has no `id`{names_near('id', list(element.keys()))}")
    return value


def _text(source: Source, element: ET.Element, name: str, what: str, default: str | None = None) -> str:
    found = child(element, name)
    if found is None:
        if default is not None:
            return default
        source.wrong(f"{at(element)}{what} has no `{name}`{names_near(name, [tag(one) for one in element])}")
    return (found.text or "").strip()


def _number(source: Source, element: ET.Element, name: str, what: str, default: str | None = None) -> Decimal:
    written = _text(source, element, name, what, default)
    value = units.decimal(written)
    if value is None:
        place = at(next(children(element, name), element))
        source.wrong(f"{place}{what}: `{name}`: expected a number, found `{rows.short(written)}`")
    return value


def _place(source: Source, node: ET.Element) -> Position | None:
    place = child(node, "coordinates")
    if place is None:
        return None
    what = f"node `{node.get('id')}`"
    return float(_number(source, place, "x", what)), float(_number(source, place, "y", what))


def _ends(source: Source, element: ET.Element, what: str) -> sndlib.Ends:
    a, b = (
        sndlib.End(_text(source, element, name, what), at(next(children(element, name), element)))
        for name in ("source", "target")
    )
    return a, b


def _link(
    source: Source, link: ET.Element, design: sndlib.Design
) -> tuple[str, sndlib.Ends, dict[str, Decimal], list[Module]]:
    name = _id(source, link, "a link")
    what = f"link `{name}`"
    values = {key: _number(source, link, key, what, "0") for key in ("routingCost", "setupCost")}
    installed = child(link, "preInstalledModule")
    if installed is not None:
        values["preInstalledCapacity"] = _number(source, installed, "capacity", what)
        values["preInstalledCapacityCost"] = _number(source, installed, "cost", what, "0")
    more = child(link, "additionalModules")
    modules = [
        Module(_number(source, one, "capacity", what), _number(source, one, "cost", what, "0"))
        for one in children(more if more is not None else ET.Element("none"), "addModule")
    ]
    values = {key: value for key, value in values.items() if value}
    design.ignored |= {f"link: `{key}`": None for key in ("setupCost", "preInstalledCapacityCost") if key in values}
    return name, _ends(source, link, what), values, modules


def _demand(source: Source, demand: ET.Element, design: sndlib.Design) -> tuple[str, sndlib.Ends, Decimal]:
    name = _id(source, demand, "a demand")
    what = f"demand `{name}`"
    value = _number(source, demand, "demandValue", what) * _number(source, demand, "routingUnit", what, "1")
    design.ignored |= {
        f"demand: `{key}`": None for key in ("maxPathLength", "admissiblePaths") if child(demand, key) is not None
    }
    return name, _ends(source, demand, what), value


def write(network: Network) -> dict[str, bytes]:
    """Return a network in the XML format."""
    unit = sndlib.unit(network)
    root = ET.Element("network", {"xmlns": NAMESPACE, "version": "1.0"})
    if unit:
        _add(ET.SubElement(root, "meta"), "unit", unit)
    structure = ET.SubElement(root, "networkStructure")
    nodes = ET.SubElement(structure, "nodes", {"coordinatesType": "geographical"})
    for node in network.nodes:
        element = ET.SubElement(nodes, "node", {"id": node.name})
        if node.place is not None:
            place = ET.SubElement(element, "coordinates")
            _add(place, "x", repr(node.place[0]))
            _add(place, "y", repr(node.place[1]))
    links = ET.SubElement(structure, "links")
    for link in network.links:
        element = ET.SubElement(links, "link", {"id": link.name})
        for key, end in zip(("source", "target"), link.ends, strict=True):
            _add(element, key, network.nodes[end].name)
        if link.rates[0] is not None:
            _module(ET.SubElement(element, "preInstalledModule"), Module(Decimal(link.rates[0]), Decimal(0)))
        if link.costs[0] is not None:
            _add(element, "routingCost", units.plain(link.costs[0]))
        more = ET.SubElement(element, "additionalModules")
        for module in link.modules:
            _module(ET.SubElement(more, "addModule"), module)
    demands = ET.SubElement(root, "demands")
    for number, demand in enumerate(network.demands):
        element = ET.SubElement(demands, "demand", {"id": f"D{number}"})
        for key, end in zip(("source", "target"), demand.ends, strict=True):
            _add(element, key, network.nodes[end].name)
        _add(element, "demandValue", units.plain(demand.amount))
    return {"": xml_bytes(root)}


def _add(element: ET.Element, name: str, text: str) -> None:
    ET.SubElement(element, name).text = text


def _module(element: ET.Element, module: Module) -> None:
    _add(element, "capacity", units.plain(module.capacity))
    _add(element, "cost", units.plain(module.cost))


FORMAT = Format(
    name="sndlib-xml",
    title="SNDlib, XML",
    suffixes=(".xml",),
    detects=detects,
    read=read,
    reads="as the native format",
    ignores="costs of installed capacity, set-up costs, maximum path lengths, admissible paths",
    write=write,
    holds=sndlib.HOLDS | {"labels"},
    prepare=sndlib.prepare,
)
