"""Networks by name and from files, for ``[topology]`` of scenarios: nodes, links and their lengths.

Names such as ``sndlib/germany50`` are TopoHub's. Files have any format of :mod:`optcp.topology`. Parallel links are
kept. A link without a length gets the great-circle distance of its ends, in whole metres.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
from collections import Counter
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from optcp.common import rows
from optcp.errors import InputError
from optcp.flows import lists
from optcp.scenarios import weights
from optcp.topology import named, networks, read_with, units
from optcp.topology.attributes import column as column_of
from optcp.topology.attributes import with_distances
from optcp.topology.names import UsedNames, names_of, unique
from optcp.topology.registry import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optcp.topology.model import Both, Network, Position
    from optcp.topology.model import Link as FileLink

__all__ = ["networks"]

Link = tuple[int, int, str | None, int | None]
"""Two nodes by index, the name of the link if needed, and its length in mm if known."""

Place = tuple[int, int]
"""Longitude and latitude in millionths of a degree."""

Demand = tuple[int, int, int]
"""Two nodes by index, and the demand from the first to the second, as in :func:`optcp.scenarios.weights.whole`."""


Fibre = tuple[list[str], str | None, int | None, int | None, str | None, int | None]
"""Two optical nodes by name, name, delay in ps, length in mm, duct, and number of wavelengths."""


class Topology(NamedTuple):
    """A network as scenarios use it.

    Attributes
    ----------
    nodes
        Names of the nodes: no spaces, no duplicates.
    links
        See :data:`Link`.
    demands
        See :data:`Demand`; empty if the network has none.
    places
        Positions of the nodes, None where unknown.
    own_names
        Other names of each node: first the name in the file, empty if it equals the name above or refers to several
        nodes, then aliases.
    rates
        Link attributes that look like rates; they are ignored.
    notes
        Sentences about differences between the file and the network in the scenario.
    """

    nodes: list[str]
    links: list[Link]
    demands: list[Demand]
    places: list[Place | None]
    own_names: list[list[str]]
    rates: list[str]
    notes: list[str]

    def by_name(self) -> dict[str, int]:
        """Return the index of each node by its name and by its name in the file."""
        own = {name: at for at, names in enumerate(self.own_names) for name in names if name}
        return own | {name: at for at, name in enumerate(self.nodes)}


Answers = dict[str, dict[str, Any]]
"""Contents of references in the form of crates/web, by the kind of content (such as "graphs") and the name."""

T = TypeVar("T")

_recorded: ContextVar[dict[str, bytes] | None] = ContextVar("recorded", default=None)
_answered: ContextVar[Answers | None] = ContextVar("answered", default=None)
_provided: ContextVar[Mapping[str, bytes] | None] = ContextVar("provided", default=None)


def find(kind: str, reference: str, scenario: str) -> Topology:
    """Return a topology.

    Parameters
    ----------
    kind
        "name" or "file".
    reference
        The name in TopoHub, or the path of the file from the scenario's directory.
    scenario
        The scenario file.

    Raises
    ------
    InputError
        If there is no such topology, or the file cannot be read.
    """
    _check_kind(kind, reference)
    if kind == "name":
        return _answer("names", reference, _found_by_name(reference))
    return _answer("graphs", reference, _topology(network_of(kind, reference, scenario)))


def _check_kind(kind: str, reference: str) -> None:
    if kind == "name" and reference.lower().endswith(SUFFIXES):
        raise InputError(f"no topology `{reference}`; a file is named by `file`, in place of `name`")


def network_of(kind: str, reference: str, scenario: str) -> Network:
    """Return the network as the file describes it; parameters and errors as in :func:`find`."""
    if kind == "name":
        return with_distances(named(reference))
    return read_with(reference, lambda path: _content(path, scenario))


@functools.cache
def _found_by_name(name: str) -> Topology:
    """Return a network by name; cached, because thousands of scenarios of a study share it."""
    # Notes help only users who can change the file.
    return _topology(with_distances(named(name)))._replace(notes=[])


def _topology(network: Network) -> Topology:
    names = names_of(network.nodes)
    amounts = weights.whole([demand.amount for demand in network.demands])
    own = [node.name for node in network.nodes]
    count = Counter(own) + Counter(alias for node in network.nodes for alias in node.aliases)
    taken = {*names, *(name for name, times in count.items() if times > 1)}
    places = [node.place for node in network.nodes]
    return Topology(
        names,
        _links(names, network.links),
        [(*demand.ends, weight) for demand, weight in zip(network.demands, amounts, strict=True)],
        [None if place is None else (round(place[0] * 1e6), round(place[1] * 1e6)) for place in places],
        [
            ["" if name in taken else name, *(alias for alias in node.aliases if alias not in taken)]
            for name, node in zip(own, network.nodes, strict=True)
        ],
        list(network.reading.rates),
        list(network.reading.notes),
    )


def _links(names: Sequence[str], of_file: Iterable[FileLink]) -> list[Link]:
    links: list[Link] = []
    free = UsedNames()
    for link in of_file:
        a, b = link.ends
        plain, back = f"{names[a]}-{names[b]}", f"{names[b]}-{names[a]}"
        name = free.numbered(plain) if free.has(plain) or free.has(back) else None
        free.take(name or plain)
        links.append((a, b, name, link.length_mm))
    return links


def link_values(kind: str, reference: str, scenario: str, key: str, column: str) -> list[Both[str]]:
    """Return the values of the links of a topology in both directions, as texts with units.

    Parameters
    ----------
    kind, reference, scenario
        See :func:`find`.
    key
        "rate", "delay", "cost" or "loss".
    column
        "file", or "attribute:NAME" with an optional unit.

    Raises
    ------
    InputError
        If the file has no such values, or a value cannot be read.
    """
    network = network_of(kind, reference, scenario)
    names = names_of(network.nodes)
    called = [name or f"{names[a]}-{names[b]}" for a, b, name, _ in _links(names, network.links)]
    if column == "file":
        found = [_values_of(link, key) for link in network.links]
        if not any(value is not None for both in found for value in both):
            raise InputError(_no_values(reference, key, network))
    else:
        found = column_of(reference, network.links, key, column.removeprefix("attribute:"), called)
    return _answer("link_values", f"{reference}\n{key}\n{column}", found)


def rates(network: Network) -> list[Both[int]]:
    """Return the rates of links in bit/s, in both directions."""
    return [_both(link, link.rates) for link in network.links]


def volumes(network: Network) -> list[tuple[int, int, int]] | None:
    """Return the demands in bit/s, as two nodes by index and a volume; None if one has no unit."""
    found = [(*one.ends, one.volume_bps) for one in network.demands if one.volume_bps is not None]
    return found if found and len(found) == len(network.demands) else None


def _both(link: FileLink, values: Both[T]) -> Both[T]:
    """Return values in both directions: a link in one direction of the file has both in scenarios."""
    there, back = values
    return there, there if link.directed and back is None else back


def _values_of(link: FileLink, key: str) -> Both[str]:
    there, back = {
        "rate": [None if rate is None else f"{rate} bps" for rate in link.rates],
        "delay": [None if delay is None else f"{delay} ps" for delay in link.delays],
        "cost": [None if cost is None else units.plain(cost) for cost in link.costs],
        "loss": [None if loss is None else units.plain(loss) for loss in link.losses],
    }[key]
    return _both(link, (there, back))


def _no_values(reference: str, key: str, network: Network) -> str:
    message = f"`{reference}`: the file states no {key} of a link"
    if key == "rate" and network.reading.rates:
        name = network.reading.rates[0]
        return f'{message}; `rate = "attribute:{name} Mbps"` uses an attribute with a unit'
    return message


def link_risks(kind: str, reference: str, scenario: str) -> list[tuple[str, list[int]]]:
    """Return the shared risks of a topology: name, and links by index.

    Parameters
    ----------
    kind, reference, scenario
        See :func:`find`.
    """
    by_risk: dict[str, list[int]] = {}
    for at, link in enumerate(network_of(kind, reference, scenario).links):
        for risk in link.risks:
            by_risk.setdefault(risk, []).append(at)
    called = unique(by_risk, "risk")
    return _answer("link_risks", reference, [(called[risk], links) for risk, links in by_risk.items()])


def fibres(kind: str, reference: str, scenario: str) -> tuple[list[Fibre], list[list[str] | None]]:
    """Return the fibres of a topology, and the path of each link over them.

    A path lists names of optical nodes and fibres. It is empty for the shortest path, and None without fibres.

    Parameters
    ----------
    kind, reference, scenario
        See :func:`find`.
    """
    network = network_of(kind, reference, scenario)
    own = dict(zip((node.name for node in network.nodes), names_of(network.nodes), strict=True))
    sites = [name for one in network.fibres for name in one.ends if name not in own]
    called = own | unique(sites, "site") | unique((one.name for one in network.fibres if one.name), "fibre")
    ducts = unique((one.duct for one in network.fibres if one.duct), "duct")
    found = [
        (
            [called[one.ends[0]], called[one.ends[1]]], called[one.name] if one.name else None, one.delay_ps,
            one.length_mm, ducts.get(one.duct), one.wavelengths,
        )
        for one in network.fibres
    ]  # fmt: skip
    paths = [None if one.over is None else [called.get(name, name) for name in one.over] for one in network.links]
    return _answer("fibres", reference, (found, paths))


def places(settings: Mapping[str, str], scenario: str) -> dict[str, Position]:
    """Return longitude and latitude of the nodes of a topology, by name, where available.

    Parameters
    ----------
    settings
        Key paths and values as written: :meth:`optcp._core.Scenario.settings`.
    scenario
        The scenario file.
    """
    found = _named_in(settings, scenario)
    known = () if found is None else zip(found.nodes, found.places, strict=True)
    return {name: (place[0] / 1e6, place[1] / 1e6) for name, place in known if place is not None}


def own_names(settings: Mapping[str, str], scenario: str) -> dict[str, str]:
    """Return the names of nodes in the topology file, by name in the scenario, where they differ.

    Parameters
    ----------
    settings, scenario
        See :func:`places`.
    """
    found = _named_in(settings, scenario)
    known = () if found is None else zip(found.nodes, found.own_names, strict=True)
    return {name: names[0] for name, names in known if names[0]}


def _named_in(settings: Mapping[str, str], scenario: str) -> Topology | None:
    """Return the topology of a scenario, or None without one that can be read."""
    for kind in ("name", "file"):
        written = settings.get(f"topology.{kind}")
        if written is None:
            continue
        reference = settings.get(f"parameters.{written[1:]}", written) if written.startswith("$") else written
        try:
            return find(kind, reference, scenario)
        except InputError:
            return None
    return None


def times(file: str, scenario: str) -> list[str]:
    """Return the times of day of a CSV file with the columns ``from,to,time,weight``; empty without ``time``.

    Raises
    ------
    InputError
        If the file cannot be read, or a row has no time.
    """
    entries = csv_rows(file, scenario, 3)
    if [field.lower() for field in next(entries, (0, [""]))[1]][2:-1] != ["time"]:
        return []
    return sorted({_time(file, number, fields) for number, fields in entries})


def _time(file: str, number: int, fields: Sequence[str]) -> str:
    """Return the time of day in the third field of a row, as HH:MM."""
    text = fields[2] if len(fields) == 4 else ",".join(fields)
    if match := re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)(:00)?", text, re.ASCII):
        return f"{match[1]:>02}:{match[2]}"
    raise InputError(
        f"`{file}`, line {number}: column `time`: expected a time of day such as `20:00`, found `{rows.short(text)}`"
    )


def matrix(file: str, scenario: str, time: str | None = None) -> weights.Matrix:
    """Return the rows ``from,to,weight`` of a CSV file.

    A first row whose third field is not a number may be a heading; the caller, who knows the nodes, decides.

    Parameters
    ----------
    file, scenario
        The file, and the scenario file next to it.
    time
        One of :func:`times`, whose rows are returned.

    Raises
    ------
    InputError
        If the file cannot be read, or a row is no pair with a weight.
    """
    found: list[tuple[int, str, str]] = []
    written: list[Decimal] = []
    heading: tuple[int, tuple[str, str, str]] | None = None
    column = "weight"
    others: set[int] = set()
    for number, fields in csv_rows(file, scenario, 3):
        if time is not None:
            if heading and _time(file, number, fields) != time:
                others.add(number)
            del fields[2]
        if len(fields) != 3:
            raise InputError(
                f"`{file}`, line {number}: expected `from,to,weight`, found {len(fields)} "
                f"field{'s' if len(fields) > 1 else ''}"
            )
        a, b, text = fields
        if not (found or heading or weights.is_attempted(text)):
            if weights.is_swapped(a):
                raise InputError(
                    f"`{file}`, line {number}: expected `from,to,weight`, found `{rows.short(','.join(fields))}`"
                )
            heading, column = (number, (a, b, text)), text
            continue
        for name, value in (("from", a), ("to", b)):
            if not value:
                raise InputError(f"`{file}`, line {number}: column `{name}`: expected a node, found nothing")
        found.append((number, a, b))
        written.append(weights.parsed(text, f"`{file}`, line {number}: column `{rows.short(column)}`"))
    entries = zip(found, weights.whole(written), strict=True)
    read: weights.Matrix = {
        "heading": heading,
        "rows": [(*row, weight) for row, weight in entries if row[0] not in others],
    }
    return _answer("matrix", file, read)


def matrix_values(file: str, scenario: str) -> dict[int, Decimal]:
    """Return the last column of a matrix as written, by line number; for a file that :func:`matrix` accepts."""
    entries = csv_rows(file, scenario, 3)
    return {number: Decimal(fields[-1]) for number, fields in entries if weights.is_attempted(fields[-1])}


def values(file: str, scenario: str) -> list[tuple[int, str]]:
    """Return the values of a file with their line numbers, one per line.

    Raises
    ------
    InputError
        If the file cannot be read, or a line has more than one value.
    """
    found = []
    for number, fields in csv_rows(file, scenario):
        if len(fields) > 1:
            raise InputError(
                f"`{file}`, line {number}: expected one value, such as `12.5 ms`, or `12.5` with a unit apart"
            )
        found.append((number, fields[0]))
    return _answer("values", file, found)


def flows(file: str, scenario: str) -> lists.Columns:
    """Return the list of flows in a file.

    Raises
    ------
    InputError
        If the file cannot be read, or is not a list of flows.
    """
    return _answer("flows", file, lists.read(file, _content(file, scenario)))


def table(file: str, scenario: str) -> list[tuple[int, list[tuple[str, str]]]]:
    """Return the rows of a CSV file: line number, and (column, value) of non-empty fields.

    A column name such as ``delay (ms)`` includes the unit of its values.

    Raises
    ------
    InputError
        If the file cannot be read, a column name is duplicated, or a row has a wrong number of fields.
    """
    found: list[tuple[int, list[tuple[str, str]]]] = []
    names: list[str] = []
    units: list[str] = []
    for number, fields in csv_rows(file, scenario):
        if not names:
            headings = [re.fullmatch(r"(.*?)(?:\s*\((.+)\))?", field) for field in fields]
            names = [heading[1] for heading in headings if heading]
            units = [f" {heading[2]}" if heading and heading[2] else "" for heading in headings]
            if len(set(names)) < len(names) or "" in names:
                raise InputError(f"`{file}`, line {number}: expected a name for each column, no two alike")
            continue
        if len(fields) != len(names):
            missing = f"; `{names[len(fields)]}` is missing, or its comma" if len(fields) < len(names) else ""
            raise InputError(
                f"`{file}`, line {number}: {len(fields)} fields, and {len(names)} columns in the first line{missing}"
            )
        said = zip(names, fields, units, strict=True)
        found.append((number, [(name, field + unit) for name, field, unit in said if field]))
    return _answer("table", file, found)


@contextlib.contextmanager
def record_files(into: dict[str, bytes]) -> Iterator[None]:
    """Record the files that scenarios read in this context, by the path in the scenario."""
    token = _recorded.set(into)
    try:
        yield
    finally:
        _recorded.reset(token)


@contextlib.contextmanager
def answered(into: Answers) -> Iterator[None]:
    """Record the contents of all references in this context, for browsers without files."""
    token = _answered.set(into)
    try:
        yield
    finally:
        _answered.reset(token)


@contextlib.contextmanager
def use_files(files: Mapping[str, bytes]) -> Iterator[None]:
    """Make scenarios in this context read only these files, as recorded on another machine."""
    token = _provided.set(files)
    try:
        yield
    finally:
        _provided.reset(token)


def _answer(kind: str, name: str, answer: T) -> T:
    if (into := _answered.get()) is not None:
        into.setdefault(kind, {})[name] = answer
    return answer


def _content(file: str, scenario: str) -> bytes:
    """Return the content of a file next to a scenario."""
    files, into = _provided.get(), _recorded.get()
    try:
        if files is None:
            content = (Path(scenario).parent / file).read_bytes()
        elif file in files:
            content = files[file]
        else:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    except (OSError, ValueError) as error:
        # A path with a null byte raises ValueError.
        raise InputError(f"cannot read `{file}`: {getattr(error, 'strerror', None) or error}") from None
    if into is not None:
        into[file] = content
    return content


def csv_rows(file: str, scenario: str, columns: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file next to a scenario, with their line numbers.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no row.
    """
    content = _content(file, scenario)
    try:
        text = rows.decoded(content)
    except ValueError as error:
        raise InputError(f"cannot read `{file}`: {error}") from None
    try:
        yield from rows.rows(text, columns)
    except ValueError as error:
        raise InputError(f"`{file}`, {error}") from None
