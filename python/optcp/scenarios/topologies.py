"""Networks by name and from files, for ``[topology]`` of scenarios: nodes, links and their lengths.

Names such as ``sndlib/germany50`` are TopoHub's. Files are GML or GraphML, as of the Topology Zoo. Parallel
links are kept. A link without a length gets the great-circle distance of its ends, in whole metres.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import functools
import itertools
import os
import re
from collections import Counter
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from optcp import _core
from optcp.common import rows
from optcp.errors import InputError, nearest
from optcp.scenarios import graphs, weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optcp.scenarios.graphs import Edge, Position

Link = tuple[int, int, str | None, int | None]
"""Two nodes by index, the name of the link if needed, and its length in mm if known."""

Place = tuple[int, int]
"""Longitude and latitude in millionths of a degree."""

Demand = tuple[int, int, int]
"""Two nodes by index, and the demand from the first to the second, as in :func:`optcp.scenarios.weights.whole`."""

MOST_NOTED = 3
"""Maximum number of links and nodes in a note."""


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
        Name of each node in the file, if it differs and refers to no other node.
    rates
        Link attributes that look like rates; they are ignored.
    notes
        Sentences about differences between the file and the network in the scenario.
    """

    nodes: list[str]
    links: list[Link]
    demands: list[Demand]
    places: list[Place | None]
    own_names: list[str]
    rates: list[str]
    notes: list[str]

    def by_name(self) -> dict[str, int]:
        """Return the index of each node by its name and by its name in the file."""
        own = {name: at for at, name in enumerate(self.own_names) if name}
        return own | {name: at for at, name in enumerate(self.nodes)}


Answers = dict[str, dict[str, Any]]
"""Contents of references by "names", "graphs", "matrix", "values", "table" and name, in the form of crates/web."""

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
    if kind == "name":
        return _answer("names", reference, _found_by_name(reference))
    graph = graphs.read(reference, _content(reference, scenario))
    return _answer("graphs", reference, _topology(reference, graph, {}))


@functools.cache
def _found_by_name(name: str) -> Topology:
    """Return a network by name; cached, because thousands of scenarios of a study share it."""
    # Notes help only users who can change the file.
    return _topology(name, *_named(name))._replace(notes=[])


def _topology(reference: str, graph: graphs.Graph, demands: Mapping[tuple[Any, Any], float]) -> Topology:
    labels = [graphs.label(reference, node, attributes) for node, attributes in graph.nodes.items()]
    names = _names(graph.nodes, labels)
    index = {node: at for at, node in enumerate(graph.nodes)}
    positions = [
        graphs.position(reference, name, attributes)
        for name, attributes in zip(names, graph.nodes.values(), strict=True)
    ]
    laid: list[_Laid] = []
    for a, b, attributes in graph.edges:
        ends = index[a], index[b]
        link = f"{names[ends[0]]}-{names[ends[1]]}"
        length = graphs.length_km(reference, link, attributes)
        if length is None:
            known = positions[ends[0]], positions[ends[1]]
            length = None if None in known else round(_core.great_circle_km(*known), 3)  # type: ignore[arg-type]
        laid.append((*ends, None if length is None else round(length * 1e6)))
    notes = _noted_names(labels, names)
    if loops := [names[a] for a, b, _ in laid if a == b]:
        notes.append(f"links from a node to itself are ignored: {_few(loops)}")
        laid = [one for one in laid if one[0] != one[1]]
    if graph.directed:
        laid, alone = _paired(reference, names, laid)
        if alone:
            notes.append(f"a link that has one direction in the file has both here: {_few(alone)}")
    at = [None if place is None else (round(place[0] * 1e6), round(place[1] * 1e6)) for place in positions]
    amounts = weights.whole([Decimal(repr(much)) for much in demands.values()])
    own = [label or str(node) for label, node in zip(labels, graph.nodes, strict=True)]
    taken = {*names, *(name for name, count in Counter(own).items() if count > 1)}
    return Topology(
        names,
        _links(names, laid),
        [(index[a], index[b], weight) for (a, b), weight in zip(demands, amounts, strict=True)],
        at,
        ["" if name in taken else name for name in own],
        graphs.rates(graph.edges),
        notes,
    )


def _links(names: Sequence[str], laid: Iterable[_Laid]) -> list[Link]:
    links: list[Link] = []
    free = _Names()
    for a, b, length_mm in laid:
        plain, back = f"{names[a]}-{names[b]}", f"{names[b]}-{names[a]}"
        name = free.numbered(plain) if free.has(plain) or free.has(back) else None
        free.take(name or plain)
        links.append((a, b, name, length_mm))
    return links


def places(settings: Mapping[str, str], scenario: str) -> dict[str, Position]:
    """Return longitude and latitude of the nodes of a topology, by name, where available.

    Parameters
    ----------
    settings
        Key paths and values as written: :meth:`optcp._core.Scenario.settings`.
    scenario
        The scenario file.
    """
    for kind in ("name", "file"):
        written = settings.get(f"topology.{kind}")
        if written is None:
            continue
        reference = settings.get(f"parameters.{written[1:]}", written) if written.startswith("$") else written
        try:
            found = find(kind, reference, scenario)
        except InputError:
            return {}
        known = zip(found.nodes, found.places, strict=True)
        return {name: (place[0] / 1e6, place[1] / 1e6) for name, place in known if place is not None}
    return {}


def matrix(file: str, scenario: str) -> weights.Matrix:
    """Return the rows ``from,to,weight`` of a CSV file.

    A first row whose third field is not a number may be a heading; the caller, who knows the nodes, decides.

    Raises
    ------
    InputError
        If the file cannot be read, or a row is no pair with a weight.
    """
    found: list[tuple[int, str, str]] = []
    written: list[Decimal] = []
    heading: tuple[int, tuple[str, str, str]] | None = None
    column = "weight"
    for number, fields in _rows(file, scenario, 3):
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
    read: weights.Matrix = {"heading": heading, "rows": [(*row, weight) for row, weight in entries]}
    return _answer("matrix", file, read)


def values(file: str, scenario: str) -> list[tuple[int, str]]:
    """Return the values of a file with their line numbers, one per line.

    Raises
    ------
    InputError
        If the file cannot be read, or a line has more than one value.
    """
    found = []
    for number, fields in _rows(file, scenario):
        if len(fields) > 1:
            raise InputError(
                f"`{file}`, line {number}: expected one value, such as `12.5 ms`, or `12.5` with a unit apart"
            )
        found.append((number, fields[0]))
    return _answer("values", file, found)


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
    for number, fields in _rows(file, scenario):
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


def _rows(file: str, scenario: str, columns: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file next to a scenario, with their line numbers."""
    content = _content(file, scenario)
    try:
        text = rows.decoded(content)
    except ValueError as error:
        raise InputError(f"cannot read `{file}`: {error}") from None
    try:
        yield from rows.rows(text, columns)
    except ValueError as error:
        raise InputError(f"`{file}`, {error}") from None


@functools.cache
def networks() -> dict[str, list[str]]:
    """Return the names of the networks of TopoHub by collection."""
    import topohub

    data = Path(topohub.__file__).parent / "data"
    found: dict[str, list[str]] = {}
    for path in sorted(data.rglob("*.json")):
        name = path.relative_to(data).as_posix().removesuffix(".json")
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _named(name: str) -> tuple[graphs.Graph, dict[tuple[Any, Any], float]]:
    import topohub

    known = networks()
    if name.lower().endswith(graphs.FORMATS):
        raise InputError(f"no topology `{name}`; a file is named by `file`, in place of `name`")
    if name not in known.get(name.partition("/")[0], ()):
        raise InputError(f"no topology `{name}`; {_suggestion(name, known)}")
    found = topohub.get(name)
    nodes = {node["id"]: node for node in found["nodes"]}
    edges: list[Edge] = [(edge["source"], edge["target"], edge) for edge in found["edges"]]
    demands = {(a, b): much for a, row in found["graph"].get("demands", {}).items() for b, much in row.items()}
    return graphs.Graph(nodes, edges, found["directed"]), demands


def _suggestion(name: str, known: dict[str, list[str]]) -> str:
    """Return a suggestion for an unknown network, also if the collection is missing or wrong."""
    collection, _, rest = name.rpartition("/")
    members = known.get(collection.partition("/")[0])
    if members:
        return nearest(name, members)
    by_rest: dict[str, list[str]] = {}
    for one in itertools.chain.from_iterable(known.values()):
        by_rest.setdefault(one.partition("/")[2].lower(), []).append(one)
    if close := difflib.get_close_matches(rest.lower(), by_rest, n=1):
        return f"did you mean {' or '.join(map(repr, by_rest[close[0]]))}?"
    return f"there are: {', '.join(f'{one}/...' for one in known)}; `optcp list topologies` says more"


def _names(nodes: Iterable[Any], labels: Iterable[str]) -> list[str]:
    """Return valid node names (no spaces, no duplicates); valid labels stay unchanged."""
    wanted = [_plain(label) or f"n{_plain(str(node))}" for node, label in zip(nodes, labels, strict=True)]
    found = _Names()
    for name, label in zip(wanted, labels, strict=True):
        if name == label:
            found.take(name)
    kept = set(found.taken)
    names = []
    for name, label in zip(wanted, labels, strict=True):
        if name == label and name in kept:
            kept.remove(name)
        else:
            name = found.numbered(name) if found.has(name) else name  # noqa: PLW2901
            found.take(name)
        names.append(name)
    return names


def _noted_names(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return a note on nodes with the same name in the file."""
    count = Counter(labels)
    again = [
        f"{name} is called {label}"
        for label, name in zip(labels, names, strict=True)
        if count[label] > 1 and name != label
    ]
    return [f"several nodes have the same name in the file: {_few(again)}"] if again else []


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NOTED} more" if len(names) > MOST_NOTED else ""
    return ", ".join(f"`{rows.short(name)}`" for name in names[:MOST_NOTED]) + more


def _plain(label: str) -> str:
    return "".join(c for c in re.sub(r"\s+", "-", label.strip()) if c.isalnum() or c in "_-.")


class _Names:
    """Used names in order, and next numbers for duplicates."""

    def __init__(self) -> None:
        self.taken: dict[str, None] = {}
        self._next: dict[str, int] = {}

    def has(self, name: str) -> bool:
        return name in self.taken

    def take(self, name: str) -> None:
        self.taken[name] = None

    def numbered(self, name: str) -> str:
        """Return the name with the smallest free number from 2."""
        number = self._next.get(name, 2)
        while f"{name}-{number}" in self.taken:
            number += 1
        self._next[name] = number
        return f"{name}-{number}"


_Laid = tuple[int, int, int | None]
"""Two nodes by index, and the length of their edge in mm."""


def _paired(reference: str, names: Sequence[str], arcs: Sequence[_Laid]) -> tuple[list[_Laid], list[str]]:
    """Combine opposite arcs to links; return the links and the names of unpaired arcs.

    Raises
    ------
    InputError
        If opposite arcs have different lengths.
    """
    kept: list[_Laid] = []
    waiting = Counter[_Laid]()
    for a, b, length in arcs:
        if waiting[b, a, length]:
            waiting[b, a, length] -= 1
        else:
            kept.append((a, b, length))
            waiting[a, b, length] += 1
    alone: dict[tuple[int, int], int | None] = {}
    for a, b, length in +waiting:
        if (b, a) in alone:
            there, back = (_km(one) for one in (alone[b, a], length))
            raise InputError(
                f"`{reference}`: the link {names[b]}-{names[a]} has {there} in one direction and {back} in the other: "
                "expected one length; write such links in [[links]] with `reverse`"
            )
        alone[a, b] = length
    return kept, [f"{names[a]}-{names[b]}" for a, b in alone]


def _km(length_mm: int | None) -> str:
    return "no length" if length_mm is None else f"{length_mm / 1e6:g} km"
