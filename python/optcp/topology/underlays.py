"""Fibres of RFC 8345: the networks under a network, and the paths of links over them.

# Model

A link has supporting links in the networks below, which may have supporting links in turn. Links without any are
fibres. Their delay is ``te-delay-metric``. Without it, their length is the great-circle distance of their ends. The
first of ``te-srlgs`` is the duct of a fibre.

# Limitations

Supporting links must form one path. Opposite links of a network below are one fibre.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optcp.errors import nearest
from optcp.topology import names
from optcp.topology.attributes import great_circle_mm
from optcp.topology.fibres import with_lengths
from optcp.topology.model import Fibre

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from optcp.topology.base import Place
    from optcp.topology.model import Link, Node

Reference = tuple[str, str]
"""Identifiers of a network and of a link in it."""

DUCT = "srlg "
"""Prefix of the names of ducts, so that they differ from the risks of links."""


def top(networks: Sequence[Place]) -> Place:
    """Return the first network with links that supports no other network; else the first with links, or the first."""
    with_links = [one for one in networks if one.get("link")]
    below = {ref.text_of("network-ref") for one in networks for ref in one.each("supporting-network")}
    above = (one for one in with_links if one.text_of("network-id") not in below)
    return next(above, (with_links or networks)[0])


@dataclass(frozen=True)
class Laid:
    """Links of a network over fibres.

    Attributes
    ----------
    links
        Links with their paths.
    fibres
        Fibres; empty without supporting links.
    networks
        Identifiers of the networks that were used.
    notes
        Sentences on supporting links that are not used.
    """

    links: list[Link]
    fibres: tuple[Fibre, ...] = ()
    networks: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def laid(
    networks: Sequence[Place], upper: Place, links: Sequence[Link], nodes: Sequence[Node],
    parts: Callable[[Place], tuple[dict[str, Node], list[Link]]],
) -> Laid:  # fmt: skip
    """Return the arcs of the upper network with their paths over fibres.

    Parameters
    ----------
    links, nodes
        Arcs of the upper network in the order of the file, and its nodes.
    parts
        Function that reads the nodes and arcs of a network.

    Raises
    ------
    InputError
        If a supporting link does not exist or supports itself.
    """
    items = list(upper.each("link"))
    supports = _Supports(networks)
    paths = [supports.fibres(item) if item.get("supporting-link") else None for item in items]
    used = dict.fromkeys(network for path in paths for network, _ in path or ())
    if not used:
        return Laid(list(links))
    read = {id_: parts(supports.networks[id_]) for id_ in used}
    fibres, place, unknown = _fibres(read)
    if unknown:
        shown = names.few(unknown)
        note = f"supporting links are not used: no `te-delay-metric`, and no coordinates at the ends: {shown}"
        return Laid(list(links), notes=(note,))
    over, broken = [], []
    for link, path in zip(links, paths, strict=True):
        arcs = [place[one] for one in path or () if one in place]
        found = _path(arcs, fibres, nodes[link.ends[0]].name) if path and len(arcs) == len(path) else None
        over.append(replace(link, over=found))
        broken += [link.name] if path is not None and found is None else []
    notes = (f"supporting links of these links are no path: {names.few(broken)}",) if broken else ()
    called = [node.name for node in nodes]
    return Laid(with_lengths(over, fibres, called), tuple(fibres), supports.passed, notes)


class _Supports:
    """Supporting links of a file."""

    def __init__(self, networks: Sequence[Place]) -> None:
        self.networks = {one.text_of("network-id"): one for one in networks}
        self.passed: frozenset[str] = frozenset()
        self._links: dict[str, dict[str, Place]] = {}
        self._known: dict[Reference, tuple[Reference, ...]] = {}
        self._open: set[Reference] = set()

    def fibres(self, item: Place) -> tuple[Reference, ...]:
        """Return the links without supporting links below a link."""
        found: dict[Reference, None] = {}
        for ref in item.each("supporting-link"):
            found.update(dict.fromkeys(self._below(ref)))
        return tuple(found)

    def _below(self, ref: Place) -> tuple[Reference, ...]:
        at = ref.need("network-ref").text(), ref.need("link-ref").text()
        if at not in self._known:
            link = self._link(ref, *at)
            if at in self._open or len(self._open) > MOST_LAYERS:
                ref.wrong(f"a link of at most {MOST_LAYERS} layers that does not support itself")
            self._open.add(at)
            self.passed |= {at[0]}
            self._known[at] = self.fibres(link) or (at,)
            self._open.remove(at)
        return self._known[at]

    def _link(self, ref: Place, network: str, link: str) -> Place:
        if network not in self.networks:
            ref.need("network-ref").wrong(f"a network of the file ({nearest(network, self.networks)})")
        if network not in self._links:
            items = self.networks[network].each("link")
            self._links[network] = {item.need("link-id").text(): item for item in items}
        links = self._links[network]
        if link not in links:
            ref.need("link-ref").wrong(f"a link of `{network}` ({nearest(link, links)})")
        return links[link]


MOST_LAYERS = 20
"""Maximum number of layers below a network."""


def _fibres(
    read: Mapping[str, tuple[dict[str, Node], list[Link]]],
) -> tuple[list[Fibre], dict[Reference, tuple[int, bool]], list[str]]:
    """Return the fibres, the number and direction (opposite or not) of the fibre of each arc, and unknown lengths."""
    count = Counter(node.name for nodes, _ in read.values() for node in nodes.values())
    links = Counter(arc.name for _, arcs in read.values() for arc in arcs)
    fibres: list[Fibre] = []
    place: dict[Reference, tuple[int, bool]] = {}
    unknown: list[str] = []
    for network, (nodes, arcs) in read.items():
        each = list(nodes.values())
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for arc in arcs:
            a, b = arc.ends
            if a == b:
                continue
            if back := waiting[b, a]:
                place[network, arc.name] = back.pop(0), True
                continue
            waiting[a, b].append(len(fibres))
            place[network, arc.name] = len(fibres), False
            ends = each[a], each[b]
            length = None if arc.delays[0] is not None else great_circle_mm((ends[0].place, ends[1].place))
            unknown += [arc.name] if length is None and arc.delays[0] is None else []
            called = tuple(node.name if count[node.name] == 1 else node.id for node in ends)
            duct = f"{DUCT}{arc.risks[0]}" if arc.risks else ""
            name = arc.name if links[arc.name] == 1 else f"{network} {arc.name}"
            fibres.append(Fibre((called[0], called[1]), name, length, arc.delays[0], duct))
    return fibres, place, unknown


def _path(arcs: Iterable[tuple[int, bool]], fibres: Sequence[Fibre], source: str) -> tuple[str, ...] | None:
    """Return the nodes of a path over some fibres, with the names of parallel fibres; None if they are no path."""
    arcs = list(dict(arcs).items())
    joined: dict[str, list[int]] = defaultdict(list)
    for at, _ in arcs:
        for end in fibres[at].ends:
            joined[end].append(at)
    ends = [end for end, those in joined.items() if len(those) == 1]
    if len(ends) != 2 or any(len(those) > 2 for those in joined.values()):
        return None
    tails = [fibres[at].ends[opposite] for at, opposite in arcs]
    start = source if source in ends else next((end for end in ends if end in tails), ends[0])
    between = Counter(frozenset(one.ends) for one in fibres)
    path, node, left = [start], start, [at for at, _ in arcs]
    while left:
        onward = [at for at in joined[node] if at in left]
        if not onward:
            return None
        at = onward[0]
        left.remove(at)
        if between[frozenset(fibres[at].ends)] > 1:
            path.append(fibres[at].name)
        (node,) = {*fibres[at].ends} - {node}
        path.append(node)
    return tuple(path)
