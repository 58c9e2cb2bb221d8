"""CSV: a file of links, with ``nodes.csv``, ``demands.csv`` and ``fibres.csv`` next to it.

# Model

The first line has the names of the columns, with their units in parentheses, such as ``rate (Gbps)``. Columns ``from``
and ``to`` are required. A column ``reverse rate`` has the values from ``to`` to ``from``; without it, both directions
have the value of ``rate``. ``risks`` and ``aliases`` separate names by semicolons. Without ``nodes.csv``, nodes are
the ends of links.

``fibres.csv`` has the fibres between optical nodes: ``from``, ``to``, ``length``, and optionally ``name``, ``duct`` and
``wavelengths``. Nodes of both files with the same name are at the same site. The column ``over`` of a link lists the
optical nodes of its path, separated by semicolons. The name of a fibre stands between two nodes where several connect
them. ``shortest`` is the path of minimum length.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from optcp.common import rows
from optcp.errors import InputError, closest
from optcp.topology import units
from optcp.topology.arcs import paired
from optcp.topology.base import FIELDS, Format
from optcp.topology.fibres import with_lengths
from optcp.topology.model import Demand, Fibre, Link, Network, Node, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.topology.base import Head, Source
    from optcp.topology.model import Both

FROM = ("from", "source", "src", "node a", "a")
TO = ("to", "target", "destination", "dst", "node z", "node b", "z", "b")
NODE = ("name", "node", "id", "city")
LONGITUDE, LATITUDE = ("longitude", "lon", "lng"), ("latitude", "lat")
RATE = ("rate", "capacity", "bandwidth", "speed")
DELAY, LENGTH, COST, LOSS = ("delay", "latency"), ("length", "distance"), ("cost", "metric"), ("loss", "loss ratio")
OVER, DUCT, WAVELENGTHS = ("over",), ("duct",), ("wavelengths",)
RISKS, ALIASES, NAME = ("risks", "risk", "srlg", "srlgs"), ("aliases",), ("name", "link")
DIRECTED = ("directed",)
SPECIAL = re.compile(r"[\",;#\t]")
"""Characters because of which a field needs quotes."""

VOLUME, WEIGHT = ("volume", "demand", "traffic", "rate"), ("weight", "volume", "demand", "traffic", "value")
"""Names of columns."""

MOST_WAVELENGTHS = 10_000
"""Maximum number of wavelengths of a fibre."""

MOST = {"cost": Decimal(10) ** 18, "loss": Decimal(1)}


@dataclass(frozen=True)
class Cell:
    """Field of a row, with its place for messages."""

    file: str
    line: int
    column: str
    unit: str
    text: str

    def wrong(self, expected: str) -> InputError:
        """Return the error of this field."""
        return InputError(
            f"`{self.file}`, line {self.line}: column `{rows.short(self.column)}`: expected {expected}, "
            f"found `{rows.short(self.text)}`"
        )

    def quantity(self, dimension: str) -> int:
        """Return a value in base units."""
        value = units.quantity(dimension, self.text, self.unit or None)
        if value is None:
            hint = (
                ""
                if self.unit
                else f", or a unit in the heading: `{self.column} ({units.EXAMPLES[dimension].split()[1]})`"
            )
            raise self.wrong(f"a {dimension} such as `{units.EXAMPLES[dimension]}`{hint}")
        return value

    def number(self, what: str = "number", most: Decimal | None = None) -> Decimal:
        """Return a number of zero or more."""
        text = self.text
        percent = text.endswith("%") and what == "loss"
        value = units.decimal(text.removesuffix("%").strip() if percent else text)
        if value is None or value < 0 or (most is not None and (value / 100 if percent else value) > most):
            raise self.wrong("a ratio from 0 to 1" if what == "loss" else "a number of zero or more")
        return value / 100 if percent or (what == "loss" and self.unit == "%") else value


Row = dict[str, Cell]
"""Fields of a row by column name in lower case, without empty fields."""


def _table(file: str, content: bytes) -> tuple[list[str], list[Row]]:
    """Return the names of the columns and the rows of a CSV file."""
    try:
        text = rows.decoded(content)
    except ValueError as error:
        raise InputError(f"cannot read `{file}`: {error}") from None
    columns: list[tuple[str, str, str]] = []
    found: list[Row] = []
    try:
        for number, fields in rows.rows(text):
            if not columns:
                columns = [(field, *units.heading(field)) for field in fields]
                words = [word for _, word, _ in columns]
                if "" in words or len(set(words)) < len(words):
                    raise ValueError(f"line {number}: expected a name for each column, no two alike")
                continue
            if len(fields) != len(columns):
                raise ValueError(f"line {number}: {len(fields)} fields, and {len(columns)} columns in the first line")
            cells = zip(columns, fields, strict=True)
            found.append({word: Cell(file, number, name, unit, field) for (name, word, unit), field in cells if field})
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"`{file}`, {error}") from None
    return [word for _, word, _ in columns], found


def _first(row: Row, words: Sequence[str]) -> Cell | None:
    return next((row[word] for word in words if word in row), None)


def _need(file: str, columns: Sequence[str], words: Sequence[str]) -> None:
    if not set(words) & set(columns):
        close = closest(words[0], columns)
        suggestion = f"did you mean `{close}`?" if close else f"columns: {', '.join(f'`{one}`' for one in columns)}"
        raise InputError(f"`{file}`: no column `{words[0]}`; {suggestion[:200]}")


def detects(head: Head) -> bool:
    """Return whether the first line names both ends of links."""
    text = head.text.lstrip("\ufeff")
    first = next((line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    try:
        fields = next(iter(rows.rows(first)), (0, []))[1]
    except ValueError:
        return False
    words = {units.heading(field)[0] for field in fields}
    return bool(words & set(FROM)) and bool(words & set(TO))


def read(source: Source) -> Network:
    """Read a file of links, and the files next to it."""
    columns, links = _table(source.file, source.content)
    for words in (FROM, TO):
        _need(source.file, columns, words)
    ignored = [f"link: `{name}`" for name in _unused(columns, _link_words())]
    nodes: dict[str, Node] = {}
    if (content := source.beside("nodes.csv")) is not None:
        file = posixpath.join(posixpath.dirname(source.file), "nodes.csv")
        names, table = _table(file, content)
        _need(file, names, NODE)
        ignored += [f"node: `{name}`" for name in _unused(names, (*NODE, *LONGITUDE, *LATITUDE, *ALIASES))]
        for row in table:
            node = _node(file, row)
            if node.label in nodes:
                raise InputError(f"`{file}`: node `{rows.short(node.label)}` is declared twice")
            nodes[node.label] = node
    declared = bool(nodes)
    for row in links:
        for words in (FROM, TO):
            cell = _end(source.file, row, words)
            if not declared:
                nodes.setdefault(cell.text, Node(cell.text, cell.text))
    index = {name: at for at, name in enumerate(nodes)}
    found = [_link(source.file, row, columns, index) for row in links]
    demands: list[Demand] = []
    notes: list[str] = []
    if (content := source.beside("demands.csv")) is not None:
        file = posixpath.join(posixpath.dirname(source.file), "demands.csv")
        names, table = _table(file, content)
        _need(file, names, FROM)
        _need(file, names, TO)
        _need(file, names, VOLUME if set(VOLUME) & set(names) else WEIGHT)
        if "time" in names:
            notes.append("`demands.csv` has times of day: `optcp outage` reads such a file with `--demands`")
        else:
            demands = [_demand(file, row, index) for row in table]
    fibres = _fibres(source)
    found, unused = _laid(found, [_first(row, OVER) for row in links], fibres, list(nodes))
    notes += unused
    assumed = []
    if any(demand.weight is not None for demand in demands):
        assumed.append("demands without a unit are weights")
    reading = Reading("csv", tuple(ignored))
    network = Network(tuple(nodes.values()), tuple(found), tuple(demands), reading=reading, fibres=fibres)
    return paired(source.file, network.noted(assumed=tuple(assumed), notes=tuple(notes)))


def _link_words() -> tuple[str, ...]:
    both = (*RATE, *DELAY, *COST, *LOSS)
    return (*FROM, *TO, *NAME, *LENGTH, *RISKS, *OVER, *DIRECTED, *both, *(f"reverse {word}" for word in both))


def _unused(columns: Sequence[str], known: Sequence[str]) -> list[str]:
    return [name for name in columns if name not in known]


def _end(file: str, row: Row, words: Sequence[str]) -> Cell:
    cell = _first(row, words)
    if cell is None:
        line = next((one.line for one in row.values()), 0)
        raise InputError(f"`{file}`, line {line}: column `{words[0]}`: expected a node, found nothing")
    return cell


def _node(file: str, row: Row) -> Node:
    name = _end(file, row, NODE)
    place = None
    degrees = [_first(row, LONGITUDE), _first(row, LATITUDE)]
    if degrees[0] is not None and degrees[1] is not None:
        values = []
        for cell, most in zip(degrees, (360, 90), strict=True):
            value = None if cell is None else units.decimal(cell.text)
            if cell is not None and (value is None or abs(value) > most):
                raise cell.wrong(f"degrees from -{most} to {most}")
            values.append(float(value or 0))
        place = values[0], values[1]
    elif alone := degrees[0] or degrees[1]:
        raise alone.wrong("longitude and latitude")
    aliases = _first(row, ALIASES)
    parts = () if aliases is None else tuple(part.strip() for part in aliases.text.split(";") if part.strip())
    return Node(name.text, name.text, place, parts)


def _index(cell: Cell, index: Mapping[str, int]) -> int:
    if cell.text not in index:
        close = closest(cell.text, index)
        raise cell.wrong("a node of `nodes.csv`" + (f"; did you mean `{close}`?" if close else ""))
    return index[cell.text]


def _link(file: str, row: Row, columns: Sequence[str], index: Mapping[str, int]) -> Link:
    ends = _index(_end(file, row, FROM), index), _index(_end(file, row, TO), index)

    def quantities(words: Sequence[str], dimension: str) -> Both[int]:
        there, back = (None if cell is None else cell.quantity(dimension) for cell in _two(row, columns, words))
        return there, back

    def numbers(words: Sequence[str], what: str) -> Both[Decimal]:
        there, back = (None if cell is None else cell.number(what, MOST[what]) for cell in _two(row, columns, words))
        return there, back

    length, risks, name, directed = (_first(row, words) for words in (LENGTH, RISKS, NAME, DIRECTED))
    rates = quantities(RATE, "rate")
    return Link(
        ends,
        name="" if name is None else name.text,
        rates=(rates[0] or None, rates[1] or None),
        length_mm=None if length is None else replace(length, unit=length.unit or "km").quantity("length"),
        delays=quantities(DELAY, "delay"),
        costs=numbers(COST, "cost"),
        losses=numbers(LOSS, "loss"),
        risks=() if risks is None else tuple(part.strip() for part in risks.text.split(";") if part.strip()),
        directed=directed is not None and directed.text.lower() in ("yes", "true", "1"),
        attributes={cell.column: f"{cell.text} {cell.unit}".strip() for cell in row.values()},
    )


def _fibres(source: Source) -> tuple[Fibre, ...]:
    """Return the fibres of ``fibres.csv``; none without the file."""
    if (content := source.beside("fibres.csv")) is None:
        return ()
    file = posixpath.join(posixpath.dirname(source.file), "fibres.csv")
    names, table = _table(file, content)
    for words in (FROM, TO):
        _need(file, names, words)
    found = []
    for row in table:
        length, delay = _first(row, LENGTH), _first(row, DELAY)
        if (length is None) == (delay is None):
            raise _end(file, row, FROM).wrong("a fibre with either a length or a delay")
        wavelengths, name, duct = (_first(row, words) for words in (WAVELENGTHS, NAME, DUCT))
        count = None if wavelengths is None else wavelengths.number("number of wavelengths")
        if wavelengths is not None and (not count or count % 1 or count > MOST_WAVELENGTHS):
            raise wavelengths.wrong(f"a whole number from 1 to {MOST_WAVELENGTHS}")
        found.append(
            Fibre(
                (_end(file, row, FROM).text, _end(file, row, TO).text),
                "" if name is None else name.text,
                None if length is None else replace(length, unit=length.unit or "km").quantity("length"),
                None if delay is None else delay.quantity("delay"),
                "" if duct is None else duct.text,
                None if count is None else int(count),
            )
        )
    return tuple(found)


def _laid(
    links: Sequence[Link], cells: Sequence[Cell | None], fibres: Sequence[Fibre], nodes: Sequence[str]
) -> tuple[list[Link], list[str]]:
    """Return the links with their paths over fibres, and notes."""
    if not fibres:
        note = "column `over` is not used: there is no `fibres.csv` next to the file"
        return list(links), [note] if any(cells) else []
    laid = [
        link if cell is None else replace(link, over=_over(cell, fibres))
        for link, cell in zip(links, cells, strict=True)
    ]
    return with_lengths(laid, fibres, nodes), []


def _over(cell: Cell, fibres: Sequence[Fibre]) -> tuple[str, ...]:
    """Return the path of a link over fibres; empty for the shortest path."""
    if cell.text.lower() == "shortest":
        return ()
    parts = tuple(part.strip() for part in cell.text.split(";") if part.strip())
    known = {name for one in fibres for name in (*one.ends, one.name)}
    for part in parts:
        if part not in known:
            close = closest(part, known)
            raise cell.wrong(
                "optical nodes and fibres of `fibres.csv`" + (f"; did you mean `{close}`?" if close else "")
            )
    return parts


def _two(row: Row, columns: Sequence[str], words: Sequence[str]) -> tuple[Cell | None, Cell | None]:
    there = _first(row, words)
    reverse = [f"reverse {word}" for word in words]
    return (there, _first(row, reverse)) if set(reverse) & set(columns) else (there, there)


def _demand(file: str, row: Row, index: Mapping[str, int]) -> Demand:
    ends = _index(_end(file, row, FROM), index), _index(_end(file, row, TO), index)
    volume = _first(row, VOLUME)
    has_unit = volume is not None and (volume.unit or units.decimal(volume.text) is None)
    if volume is not None and has_unit:
        return Demand(ends, volume.quantity("rate"))
    return Demand(ends, weight=_end(file, row, WEIGHT).number())


def write(network: Network) -> dict[str, bytes]:
    """Return a network as three CSV files."""
    nodes: list[list[object]] = [["name", "longitude", "latitude", "aliases"]]
    for node in network.nodes:
        longitude, latitude = ("", "") if node.place is None else (repr(node.place[0]), repr(node.place[1]))
        nodes.append([node.name, longitude, latitude, ";".join(node.aliases)])
    links: list[list[object]] = [list(WRITTEN)]
    for link in network.links:
        row: list[object] = [network.nodes[link.ends[0]].name, network.nodes[link.ends[1]].name, link.name]
        for way in (0, 1):
            row += [_text(link.rates[way]), _text(link.delays[way]), _text(link.costs[way]), _text(link.losses[way])]
        length = "" if link.length_mm is None else units.plain(Decimal(link.length_mm).scaleb(-6))
        over = "" if link.over is None else ";".join(link.over) or "shortest"
        links.append([*row, length, ";".join(link.risks), "yes" if link.directed else "", over])
    demands: list[list[object]] = [["from", "to", "volume (bps)", "weight"]]
    for demand in network.demands:
        a, b = (network.nodes[end].name for end in demand.ends)
        demands.append([a, b, _text(demand.volume_bps), _text(demand.weight)])
    files = {"nodes.csv": nodes, "links.csv": links}
    if network.demands:
        files["demands.csv"] = demands
    if network.fibres:
        files["fibres.csv"] = [list(FIBRE_COLUMNS)]
        for one in network.fibres:
            length = "" if one.length_mm is None else units.plain(Decimal(one.length_mm).scaleb(-6))
            row = [*one.ends, one.name, length, _text(one.delay_ps), one.duct, _text(one.wavelengths)]
            files["fibres.csv"].append(row)
    return {
        name: "".join(",".join(map(_quoted, row)) + "\n" for row in table).encode() for name, table in files.items()
    }


def _quoted(cell: object) -> str:
    text = str(cell)
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


WRITTEN = ("from", "to", "name", "rate (bps)", "delay (ps)", "cost", "loss", "reverse rate (bps)", "reverse delay (ps)",
           "reverse cost", "reverse loss", "length (km)", "risks", "directed", "over")  # fmt: skip
FIBRE_COLUMNS = ("from", "to", "name", "length (km)", "delay (ps)", "duct", "wavelengths")


def _text(value: Decimal | int | None) -> str:
    return "" if value is None else units.plain(Decimal(value))


def prepare(network: Network) -> Network:
    """Return a network as the format holds it: with unique names."""
    return replace(network, nodes=tuple(replace(node, label=node.id) for node in network.nodes))


FORMAT = Format(
    name="csv",
    title="CSV: `links.csv`, `nodes.csv`, `demands.csv`, `fibres.csv`",
    suffixes=(".csv", ""),
    detects=detects,
    read=read,
    reads="columns `from`, `to`, `name`, `rate`, `delay`, `cost`, `loss`, `length`, `risks`, `directed`, `over`; also "
    "`reverse rate`. Fibres; coordinates and aliases of nodes; demands in a unit or as weights",
    ignores="other columns, unless `rate`, `delay` or `cost` names one",
    write=write,
    holds=frozenset(FIELDS) - {"modules"},
    prepare=prepare,
)
