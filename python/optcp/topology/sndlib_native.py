"""SNDlib's native format: sections ``NODES ( ... )``, ``LINKS``, ``DEMANDS`` and ``META`` of text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from optcp.topology import sndlib, units
from optcp.topology.base import Format
from optcp.topology.model import Module
from optcp.topology.names import unique

if TYPE_CHECKING:
    from decimal import Decimal

    from optcp.topology.base import Head, Source
    from optcp.topology.model import Network

HEADER = "?SNDlib native format"
TOKEN = re.compile(r"[()]|[^\s()]+")
NESTING = {"(": 1, ")": -1}
LINK_VALUES = ("preInstalledCapacity", "preInstalledCapacityCost", "routingCost", "setupCost")
IGNORED = {
    "preInstalledCapacityCost": "link: `preInstalledCapacityCost`",
    "setupCost": "link: `setupCost`",
}


def detects(head: Head) -> bool:
    """Return whether the text has the header of the format."""
    return head.text.startswith("?") and "sndlib" in head.text[:80].lower()


class _Tokens:
    """Words and parentheses with their line numbers, without comments."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.items = [
            (number, match[0])
            for number, line in enumerate(source.text().split("\n"), 1)
            if not line.lstrip().startswith("?")
            for match in TOKEN.finditer(line.partition("#")[0])
        ]
        self.at = 0

    @property
    def line(self) -> int:
        """Line of the last token."""
        return self.items[self.at - 1][0]

    def peek(self) -> str:
        """Return the next token, empty at the end."""
        return self.items[self.at][1] if self.at < len(self.items) else ""

    def next(self, expected: str) -> str:
        """Return the next token and move on."""
        if self.at == len(self.items):
            self.source.wrong(f"the file ends where {expected} was expected")
        self.at += 1
        return self.items[self.at - 1][1]

    def sign(self, sign: str) -> None:
        """Skip a parenthesis."""
        if (found := self.next(f"`{sign}`")) != sign:
            self.wrong(f"`{sign}`", found)

    def word(self, what: str) -> str:
        """Return the next word."""
        found = self.next(what)
        if found in "()":
            self.wrong(what, found)
        return found

    def number(self, what: str) -> Decimal:
        """Return the next number."""
        found = self.next(what)
        value = units.decimal(found)
        if value is None:
            self.wrong(f"a number ({what})", found)
        return value

    def wrong(self, expected: str, found: str) -> NoReturn:
        """Raise an error at the last token."""
        self.source.wrong(f"line {self.line}: expected {expected}, found `{found}`")


def read(source: Source) -> Network:
    """Read a file in the native format."""
    tokens = _Tokens(source)
    design = sndlib.Design()
    sections = {"META": _meta, "NODES": _nodes, "LINKS": _links, "DEMANDS": _demands}
    while tokens.peek():
        name = tokens.next("a section")
        if name == "(":
            tokens.wrong("the name of a section", name)
        if name in sections:
            tokens.sign("(")
            sections[name](tokens, design)
            tokens.sign(")")
        else:
            _skip(tokens, design, name)
    if not design.nodes:
        source.wrong("expected a section `NODES ( ... )`")
    return sndlib.network(source, "sndlib-native", design)


def _skip(tokens: _Tokens, design: sndlib.Design, name: str) -> None:
    tokens.sign("(")
    depth = 1
    while depth:
        depth += NESTING.get(tokens.next("`)`"), 0)
    design.ignored[f"section `{name}`"] = None


def _meta(tokens: _Tokens, design: sndlib.Design) -> None:
    words: list[str] = []
    depth = 0
    while depth or tokens.peek() != ")":
        words.append(tokens.next("`)`"))
        depth += NESTING.get(words[-1], 0)
    for at, word in enumerate(words):
        if word.lower() == "unit" and words[at + 1 : at + 2] == ["="] and len(words) > at + 2:
            design.unit = words[at + 2]


def _nodes(tokens: _Tokens, design: sndlib.Design) -> None:
    while tokens.peek() != ")":
        name = tokens.word("a node")
        place = None
        if tokens.peek() == "(":
            tokens.sign("(")
            place = float(tokens.number("longitude")), float(tokens.number("latitude"))
            tokens.sign(")")
        design.nodes.append((name, place))


def _links(tokens: _Tokens, design: sndlib.Design) -> None:
    while tokens.peek() != ")":
        name = tokens.word("a link")
        ends = _ends(tokens)
        values = {key: tokens.number(key) for key in LINK_VALUES}
        tokens.sign("(")
        modules = []
        while tokens.peek() != ")":
            modules.append(Module(tokens.number("capacity of a module"), tokens.number("cost of a module")))
        tokens.sign(")")
        design.links.append((name, ends, {key: value for key, value in values.items() if value}, modules))
        design.ignored |= dict.fromkeys(IGNORED[key] for key in IGNORED if values[key])


def _demands(tokens: _Tokens, design: sndlib.Design) -> None:
    while tokens.peek() != ")":
        name = tokens.word("a demand")
        ends = _ends(tokens)
        routing_unit, value = tokens.number("routing unit"), tokens.number("demand value")
        if routing_unit != 1:
            value *= routing_unit
        if tokens.word("maximum path length").upper() != "UNLIMITED":
            design.ignored["demand: `maxPathLength`"] = None
        design.demands.append((name, ends, value))


def _ends(tokens: _Tokens) -> sndlib.Ends:
    tokens.sign("(")
    a, b = (sndlib.End(tokens.word("a node"), f"line {tokens.line}: ") for _ in range(2))
    tokens.sign(")")
    return a, b


def prepare(network: Network) -> Network:
    """Return a network as the format holds it: also with link names without spaces and special characters."""
    called = unique((link.name for link in network.links), "L")
    links = tuple(replace(link, name=called[link.name]) if link.name else link for link in network.links)
    return sndlib.prepare(replace(network, links=links))


def write(network: Network) -> dict[str, bytes]:
    """Return a network in the native format."""
    unit = sndlib.unit(network)
    lines = [f"{HEADER}; type: network; version: 1.0", ""]
    lines += ["META (", f"  unit = {unit}", ")", ""] if unit else []
    lines.append("NODES (")
    for node in network.nodes:
        place = "" if node.place is None else f" ( {node.place[0]!r} {node.place[1]!r} )"
        lines.append(f"  {node.name}{place}")
    lines += [")", "", "LINKS ("]
    for link in network.links:
        a, b = (network.nodes[end].name for end in link.ends)
        modules = " ".join(f"{units.plain(one.capacity)} {units.plain(one.cost)}" for one in link.modules)
        cost = "0" if link.costs[0] is None else units.plain(link.costs[0])
        lines.append(f"  {link.name} ( {a} {b} ) {link.rates[0] or 0} 0 {cost} 0 ( {modules} )")
    lines += [")", "", "DEMANDS ("]
    for at, demand in enumerate(network.demands):
        a, b = (network.nodes[end].name for end in demand.ends)
        lines.append(f"  D{at} ( {a} {b} ) 1 {units.plain(demand.amount)} UNLIMITED")
    return {"": "\n".join([*lines, ")", ""]).encode()}


FORMAT = Format(
    name="sndlib-native",
    title="SNDlib, native",
    suffixes=(".snd",),
    detects=detects,
    read=read,
    reads="nodes with coordinates, pre-installed capacities, modules and their costs, routing costs, demands; rates "
    "and volumes if `unit` is known",
    ignores="costs of installed capacity, set-up costs, maximum path lengths, admissible paths",
    write=write,
    holds=sndlib.HOLDS,
    prepare=prepare,
)
