"""Format of topology files: name, detection, reader, writer, and the parts of a network that it holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree import ElementTree as ET

from optcp.common import rows
from optcp.errors import InputError
from optcp.topology import model, names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from optcp.topology.model import Network

FIELDS = {
    "labels": "names with spaces or special characters",
    "places": "coordinates of nodes",
    "aliases": "other names of nodes",
    "link names": "names of links",
    "rates": "rates",
    "lengths": "lengths",
    "delays": "propagation delays",
    "costs": "routing costs",
    "losses": "loss ratios",
    "risks": "shared risks",
    "fibres": "fibres, and paths of links over them",
    "modules": "capacity modules",
    "directions": "values per direction, and links in one direction",
    "volumes": "demands in bit/s",
    "weights": "demands without a unit",
}
"""Parts of a network that a format can hold, by name; nodes and links are held by all."""


def _no_file(_: str) -> None:
    return None


@dataclass(frozen=True)
class Source:
    """Content of a topology file.

    Attributes
    ----------
    file
        Name for messages.
    content
        Content of the file.
    beside
        Function that returns the content of a file in the same directory, or None.
    """

    file: str
    content: bytes
    beside: Callable[[str], bytes | None] = field(default=_no_file, compare=False)

    def text(self) -> str:
        """Return the content as text.

        Raises
        ------
        InputError
            If it is not valid text.
        """
        try:
            return rows.decoded(self.content)
        except ValueError as error:
            raise InputError(f"cannot read `{self.file}`: {error}") from None

    def wrong(self, message: str) -> NoReturn:
        """Raise an error about this file."""
        raise InputError(f"cannot read `{self.file}`: {message}"[:MOST_SAID])


MOST_SAID = 300
"""Maximum length of a message, because parsers quote the file without limit."""


@dataclass(frozen=True)
class Head:
    """Beginning of a file, from which formats detect their files.

    Attributes
    ----------
    content
        First bytes.
    text
        First characters without leading white space, empty for other than text.
    root
        Local name and namespace of the root element of XML.
    keys
        Keys of the outermost object of JSON.
    """

    content: bytes
    text: str
    root: tuple[str, str] | None
    keys: frozenset[str]


@dataclass(frozen=True)
class Format:
    """Format of topology files.

    Attributes
    ----------
    name
        Name for ``--to``.
    title
        Name in messages and tables.
    suffixes
        Usual file suffixes.
    detects
        Function that returns whether a file has this format.
    read
        Reader.
    write
        Writer: file contents by name, where the empty name is the file itself. None if the format is only read.
    holds
        Names of :data:`FIELDS` that the writer keeps.
    reads, ignores
        Parts of a file that the reader uses and does not use, for tables.
    prepare
        Function that returns the network as the writer keeps it, in addition to `holds`.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    detects: Callable[[Head], bool]
    read: Callable[[Source], Network]
    reads: str
    ignores: str
    write: Callable[[Network], Mapping[str, bytes]] | None = None
    holds: frozenset[str] = frozenset()
    prepare: Callable[[Network], Network] | None = None

    def kept(self, network: Network) -> Network:
        """Return the part of a network that the format holds."""
        network = reduced(network, self.holds)
        return network if self.prepare is None else self.prepare(network)

    def lost(self, network: Network) -> list[str]:
        """Return the parts of a network that the format does not hold, in words."""
        whole, kept = reduced(network, frozenset(FIELDS)), self.kept(network)
        return [words for name, words in FIELDS.items() if self._is_lost(name, whole, kept)]

    def _is_lost(self, name: str, whole: Network, kept: Network) -> bool:
        if name not in self.holds:
            return reduced(whole, frozenset(FIELDS) - {name}) != whole
        own = frozenset((name,))
        names_kept = name == "link names" and all(link.name in ("", one.name) for link, one in _links(whole, kept))
        return name != "directions" and not names_kept and reduced(whole, own) != reduced(kept, own)


def _links(whole: Network, kept: Network) -> Iterator[tuple[model.Link, model.Link]]:
    return zip(whole.links, kept.links, strict=True)


def reduced(network: Network, holds: frozenset[str]) -> Network:
    """Return a network with only the named parts of :data:`FIELDS`."""

    def keep(part: str, value: Any, other: Any) -> Any:  # noqa: ANN401 - any field
        return value if part in holds else other

    labels = names.names_of(network.nodes)
    count = Counter(node.name for node in network.nodes)
    nodes = [
        replace(
            node,
            id=node.name if "labels" in holds and count[node.name] == 1 else label,
            label=keep("labels", node.name, label),
            place=keep("places", node.place, None) if _is_geographic(node) else None,
            aliases=keep("aliases", node.aliases, ()),
        )
        for node, label in zip(network.nodes, labels, strict=True)
    ]
    links = []
    for link in network.links:
        one = replace(
            link,
            name=keep("link names", link.name, ""),
            rates=keep("rates", link.rates, model.NEITHER),
            length_mm=keep("lengths", link.length_mm, None),
            delays=keep("delays", link.delays, model.NEITHER),
            costs=keep("costs", link.costs, model.NO_DECIMALS),
            losses=keep("losses", link.losses, model.NO_DECIMALS),
            risks=keep("risks", link.risks, ()),
            over=keep("fibres", link.over, None),
            modules=keep("modules", link.modules, ()),
        )
        links.append(keep("directions", one, _both_alike(one)))
    demands = [
        replace(
            demand, volume_bps=keep("volumes", demand.volume_bps, None), weight=keep("weights", demand.weight, None)
        )
        for demand in network.demands
    ]
    kept = tuple(demand for demand in demands if demand.volume_bps is not None or demand.weight is not None)
    fibres = keep("fibres", network.fibres, ())
    return replace(network, nodes=tuple(nodes), links=tuple(links), demands=kept, fibres=fibres)


def _is_geographic(node: model.Node) -> bool:
    return node.place is not None and abs(node.place[0]) <= 360 and abs(node.place[1]) <= 90


def _both_alike(link: model.Link) -> model.Link:
    return replace(
        link,
        rates=(link.rates[0],) * 2,
        delays=(link.delays[0],) * 2,
        costs=(link.costs[0],) * 2,
        losses=(link.losses[0],) * 2,
        directed=False,
    )


def json_object(source: Source) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises
    ------
    InputError
        If the file is no JSON object; the message names line and column.
    """
    try:
        found = json.loads(source.text(), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        source.wrong(f"no JSON: {error.msg} in line {error.lineno}, column {error.colno}")
    except (ValueError, RecursionError) as error:
        source.wrong(f"no JSON: {error}")
    if not isinstance(found, dict):
        source.wrong("expected a JSON object, such as `{...}`")
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is not a number of JSON")


class Place:
    """Value in a JSON document, with its place for messages."""

    def __init__(self, source: Source, value: Any, where: str = "") -> None:  # noqa: ANN401 - any JSON
        self.source, self.value, self.where = source, value, where

    def wrong(self, expected: str) -> NoReturn:
        """Raise an error about this value."""
        shown = rows.short(json.dumps(self.value, ensure_ascii=False))
        self.source.wrong(f"`{self.where or 'document'}`: expected {expected}, found {shown}")

    def get(self, key: str) -> Place | None:
        """Return the value of a key with any namespace prefix, or None."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
        for name, value in self.value.items():
            if value is not None and (name == key or name.rpartition(":")[2] == key):
                return Place(self.source, value, f"{self.where}.{name}" if self.where else name)
        return None

    def down(self, *keys: str) -> Place | None:
        """Return the value below several keys, or None."""
        found: Place | None = self
        for key in keys:
            found = found and found.get(key)
        return found

    def need(self, key: str) -> Place:
        """Return the value of a key.

        Raises
        ------
        InputError
            If the key is missing; the message names the nearest key.
        """
        found = self.get(key)
        if found is None:
            known = [str(name) for name in self.value]
            close = names_near(key, known)
            self.source.wrong(f"`{self.where or 'document'}`: `{key}` is missing{close}")
        return found

    def each(self, key: str) -> Iterator[Place]:
        """Yield the items of a list; a missing key is an empty list."""
        found = self.get(key)
        if found is None:
            return
        if not isinstance(found.value, list):
            found.wrong("a list")
        for at, item in enumerate(found.value):
            yield Place(self.source, item, f"{found.where}[{at}]")

    def text(self) -> str:
        """Return the value as text."""
        if isinstance(self.value, bool | dict | list) or self.value is None:
            self.wrong("a text")
        return str(self.value)

    def text_of(self, *keys: str) -> str:
        """Return the text below some keys, empty without one."""
        found = self.down(*keys)
        return "" if found is None else found.text()


def names_near(name: str, known: list[str]) -> str:
    """Return a suggestion as the end of a message, empty without one."""
    from optcp.errors import closest

    close = closest(name, known)
    return f"; did you mean `{rows.short(close)}`?" if close else ""


class LinedElement(ET.Element):
    """Element of a file with the line of its start."""

    line: int


def xml_root(source: Source) -> ET.Element:
    """Return the root element, decoded as the file declares, with :class:`LinedElement` below; entities are refused.

    Raises
    ------
    InputError
        If the file is no XML, or declares entities.
    """
    from defusedxml import ElementTree as Safe
    from defusedxml.common import DefusedXmlException, EntitiesForbidden

    try:
        parser = Safe.XMLParser(target=ET.TreeBuilder(lambda *start: _lined(parser.parser.CurrentLineNumber, *start)))
        parser.feed(source.content)
        root: ET.Element = parser.close()
    except EntitiesForbidden:
        source.wrong("it declares entities, which are not supported")
    except DefusedXmlException as error:
        source.wrong(f"no supported XML: {type(error).__name__}")
    except ET.ParseError as error:
        if b"encoding" not in source.content.partition(b"?>")[0]:
            source.text()  # says so if this is the reason
        source.wrong(f"no XML: {error}")
    except (ValueError, LookupError) as error:
        source.wrong(f"no XML: {error}")
    return root


def _lined(line: int, name: str, attributes: dict[str, str]) -> LinedElement:
    element = LinedElement(name, attributes)
    element.line = line
    return element


def at(element: ET.Element) -> str:
    """Return the place of an element for a message, such as "line 7: "; empty if unknown."""
    return f"line {number}: " if (number := line(element)) else ""


def line(element: ET.Element) -> int:
    """Return the line of an element, 0 if unknown."""
    return element.line if isinstance(element, LinedElement) else 0


def tag(element: ET.Element) -> str:
    """Return the local name of an element."""
    return str(element.tag).rpartition("}")[2]


def children(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Yield the children with this local name."""
    return (one for one in element if tag(one) == name)


def child(element: ET.Element, name: str) -> ET.Element | None:
    """Return the first child with this local name."""
    return next(children(element, name), None)


def xml_bytes(root: ET.Element) -> bytes:
    """Return an indented XML document."""
    ET.indent(root)
    body: bytes = ET.tostring(root, encoding="unicode").encode()
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body + b"\n"
