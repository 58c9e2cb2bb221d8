"""GNPy's spreadsheet (.xlsx): sheets ``Nodes`` and ``Links``.

# Model

The heading of each sheet is the row with ``City`` or ``Node A``. Cities of type ROADM, and cities with other than two
links, are nodes. A chain of links over other cities (ILA, FUSED) is one link with the sum of the lengths.

# Limitations

Only the first distance of a row (from A to Z) is used. Files in the older format .xls must be saved as .xlsx.
"""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from optcp.common import rows
from optcp.errors import InputError, closest
from optcp.topology import units
from optcp.topology.base import Format
from optcp.topology.model import LARGEST, Link, Network, Node, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.topology.base import Head, Source

DEFAULT_KM = "80"
"""Length of a link without a distance, as in GNPy."""

MOST_HEADING = 20
"""Maximum number of rows above a heading."""


def detects(head: Head) -> bool:
    """Return whether the file is a ZIP archive, as every .xlsx file."""
    return head.content.startswith(b"PK\x03\x04")


def read(source: Source) -> Network:
    """Read a spreadsheet."""
    book = _book(source)
    cities: dict[str, tuple[int, dict[str, str]]] = {}
    for line, row in _rows(source, book, "Nodes", ("city",)):
        name = row["city"]
        if name in cities:
            source.wrong(f"sheet `Nodes`, row {line}: city `{name}` is declared twice")
        cities[name] = line, row
    spans: list[tuple[str, str, int]] = []
    defaults = 0
    for line, row in _rows(source, book, "Links", ("node a", "node z")):
        for end in (row["node a"], row["node z"]):
            if end not in cities:
                close = closest(end, cities)
                source.wrong(
                    f"sheet `Links`, row {line}: no city `{rows.short(end)}` in `Nodes`"
                    + (f"; did you mean `{close}`?" if close else "")
                )
        written = next((value for name, value in row.items() if name.startswith("distance")), "")
        defaults += not written
        length = units.quantity("length", written or DEFAULT_KM, "km")
        if length is None:
            source.wrong(f"sheet `Links`, row {line}: expected a distance in km, found `{rows.short(written)}`")
        spans.append((row["node a"], row["node z"], length))
    found = _network(source, cities, spans)
    return found.noted(assumed=(f"{defaults} links without a distance have {DEFAULT_KM} km",)) if defaults else found


def _book(source: Source) -> Any:  # noqa: ANN401 - openpyxl ships no types
    try:
        import openpyxl
    except ImportError:
        source.wrong("spreadsheets need openpyxl; run `pip install 'optcp[sheets]'`")
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            if sum(one.file_size for one in archive.infolist()) > LARGEST:
                source.wrong(f"the spreadsheet has more than {LARGEST >> 20} MiB when unpacked")
        return openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - damaged archives raise errors of many types
        source.wrong(f"no .xlsx spreadsheet: {error}")


def _rows(source: Source, book: Any, sheet: str, needs: Sequence[str]) -> Iterable[tuple[int, dict[str, str]]]:  # noqa: ANN401
    """Yield row number and texts by heading of the rows of a sheet in which the needed columns have values."""
    named = {name.lower(): name for name in book.sheetnames}
    if sheet.lower() not in named:
        close = closest(sheet, book.sheetnames)
        source.wrong(f"no sheet `{sheet}`" + (f"; did you mean `{close}`?" if close else ""))
    heading: list[str] = []
    for number, cells in enumerate(book[named[sheet.lower()]].iter_rows(values_only=True), 1):
        texts = ["" if cell is None else str(cell).strip() for cell in cells]
        if not heading:
            words = [text.lower() for text in texts]
            if set(needs) <= set(words):
                heading = words
            elif number > MOST_HEADING:
                break
            continue
        row: dict[str, str] = {}
        for name, text in zip(heading, texts, strict=False):
            if name and text:
                row.setdefault(name, text)
        if all(name in row for name in needs):
            yield number, row
    if not heading:
        source.wrong(f"sheet `{sheet}`: no row with the heading {' and '.join(f'`{name.title()}`' for name in needs)}")


def _network(
    source: Source, cities: dict[str, tuple[int, dict[str, str]]], spans: Sequence[tuple[str, str, int]]
) -> Network:
    beside: dict[str, list[int]] = defaultdict(list)
    for at, (a, z, _) in enumerate(spans):
        beside[a].append(at)
        beside[z].append(at)
    sites = [name for name, (_, row) in cities.items() if _is_site(row.get("type", ""), len(beside[name]))]
    index = {name: at for at, name in enumerate(sites)}
    used: set[int] = set()
    chains = (
        _chain(name, first, spans, beside, index, used) for name in sites for first in beside[name] if first not in used
    )
    links = [link for link in chains if link is not None]
    nodes = [Node(name, name, _place(source, *cities[name])) for name in sites]
    known = {"city", "latitude", "longitude", "type"}
    other = dict.fromkeys(key for _, row in cities.values() for key in row if key not in known)
    assumed = [f"cities of type ROADM are nodes; {len(cities) - len(sites)} cities in line belong to links"]
    reading = Reading("gnpy-sheet", tuple(f"node: `{key}`" for key in other), tuple(assumed))
    return Network(tuple(nodes), tuple(links), reading=reading)


def _is_site(kind: str, degree: int) -> bool:
    return kind.upper() not in ("ILA", "FUSED") or degree != 2


def _chain(
    name: str,
    first: int,
    spans: Sequence[tuple[str, str, int]],
    beside: dict[str, list[int]],
    index: dict[str, int],
    used: set[int],
) -> Link | None:
    at, here, length = first, name, Decimal(0)
    while True:
        used.add(at)
        a, z, mm = spans[at]
        length += mm
        here = z if here == a else a
        if here in index:
            return None if here == name else Link((index[name], index[here]), length_mm=round(length))
        following = [one for one in beside[here] if one not in used]
        if not following:
            return None
        at = following[0]


def _place(source: Source, line: int, row: dict[str, str]) -> tuple[float, float] | None:
    degrees = []
    for key, most in (("longitude", 360), ("latitude", 90)):
        value = units.decimal(row.get(key, "0"))
        if value is None or abs(value) > most:
            source.wrong(f"sheet `Nodes`, row {line}: expected {key} in degrees, found `{rows.short(row[key])}`")
        degrees.append(float(value))
    return (degrees[0], degrees[1]) if any(degrees) else None


FORMAT = Format(
    name="gnpy-sheet",
    title="GNPy, spreadsheet",
    suffixes=(".xlsx",),
    detects=detects,
    read=read,
    reads="sheet `Nodes`: `City`, `Latitude`, `Longitude`, `Type`; sheet `Links`: `Node A`, `Node Z`, "
    "first distance in km",
    ignores="other columns and sheets; needs the extra `sheets`",
)
