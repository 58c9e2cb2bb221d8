"""Topology context of the Transport API (TAPI) in JSON.

# Model

The first topology with links is read. A link joins the two nodes of its edge points. Its rate is the total size of
``total-potential-capacity``; costs and risks are its characteristics. The unit of a latency is not part of the model:
``delay = "attribute:latency ms"`` states one.

References
----------
ONF TR-547, TAPI v2.1.3 Reference Implementation Agreement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.errors import closest
from optcp.topology import units
from optcp.topology.arcs import paired
from optcp.topology.base import Format, Place, json_object
from optcp.topology.model import Link, Network, Node, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.topology.base import Head, Source

UNITS = {"TBPS": "Tbps", "TB": "Tbps", "GBPS": "Gbps", "GB": "Gbps", "MBPS": "Mbps", "MB": "Mbps", "KBPS": "kbps",
         "KB": "kbps"}  # fmt: skip
"""Units of a capacity."""


def detects(head: Head) -> bool:
    """Return whether the JSON object is a context or topology context."""
    plain = {key.rpartition(":")[2] for key in head.keys}
    return bool(plain & {"context", "topology-context"})


def read(source: Source) -> Network:
    """Read a topology context."""
    root = Place(source, json_object(source))
    context = root.get("context") or root
    context = context.get("topology-context") or context
    found = list(context.each("topology"))
    if not found:
        source.wrong("expected `tapi-topology:topology-context` with a list `topology`")
    chosen = next((one for one in found if one.get("link")), found[0])
    nodes: dict[str, Node] = {}
    for item in chosen.each("node"):
        uuid = item.need("uuid").text()
        label = _name(item)
        nodes[uuid] = Node(uuid, label or uuid, aliases=(uuid,) if label and label != uuid else ())
    index = {uuid: at for at, uuid in enumerate(nodes)}
    assumed = []
    if len(found) > 1:
        assumed.append(f"topology `{_name(chosen)}` is read; {len(found) - 1} more in the file are not")
    links = [_link(item, index) for item in chosen.each("link")]
    reading = Reading("tapi", (), tuple(assumed))
    return paired(source.file, Network(tuple(nodes.values()), tuple(links), (), _name(chosen), reading))


def _name(item: Place) -> str:
    return next((value for one in item.each("name") if (value := one.text_of("value"))), "")


def _link(item: Place, index: Mapping[str, int]) -> Link:
    ends = []
    for point in item.each("node-edge-point"):
        node = point.need("node-uuid")
        uuid = node.text()
        if uuid not in index:
            close = closest(uuid, index)
            node.wrong("a node of the topology" + (f"; did you mean `{close}`?" if close else ""))
        ends.append(index[uuid])
    if len(ends) != 2:
        item.wrong("two items of `node-edge-point`")
    attributes: dict[str, object] = {}
    rate = None
    if (size := item.down("total-potential-capacity", "total-size")) is not None:
        unit = size.text_of("unit").rpartition(":")[2].upper()
        rate = units.quantity("rate", size.need("value").text(), UNITS.get(unit))
        if not rate and unit in UNITS:
            size.wrong("a capacity above zero, such as `100` with the unit `GBPS`")
        attributes["capacity"] = f"{size.need('value').text()} {UNITS.get(unit, '')}".strip()
    costs = [units.decimal(one.text_of("cost-value")) for one in item.each("cost-characteristic")]
    cost = next((one for one in costs if one is not None and one >= 0), None)
    for one in item.each("latency-characteristic"):
        attributes.setdefault("latency", one.text_of("fixed-latency-characteristic"))
    risks = [name.text() for one in item.each("risk-characteristic") for name in one.each("risk-identifier-list")]
    return Link(
        (ends[0], ends[1]),
        name=_name(item) or item.text_of("uuid"),
        rates=(rate or None,) * 2,
        costs=(cost,) * 2,
        risks=tuple(dict.fromkeys(risks)),
        directed=item.text_of("direction").upper() == "UNIDIRECTIONAL",
        attributes=attributes,
    )


FORMAT = Format(
    name="tapi",
    title="TAPI topology context, JSON",
    suffixes=(".json",),
    detects=detects,
    read=read,
    reads="nodes and links of the first topology with links; total potential capacity, cost and risk characteristics",
    ignores="node rule groups, edge points, connectivity, latency (its unit is not defined)",
)
