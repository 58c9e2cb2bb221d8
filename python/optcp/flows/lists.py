"""Lists of flows that scenarios name: CSV or Parquet files with the columns ``time``, ``from``, ``to`` and ``bytes``.

# Model

The columns may have any order. The first row of a CSV file names them. ``time`` is in seconds, or in the unit of a name
such as ``time (ms)``. Times are rounded to picoseconds. ``protocol`` (``tcp`` or ``udp``) and ``group`` are optional.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from optcp.common import rows
from optcp.errors import InputError, nearest
from optcp.flows import parquet
from optcp.flows.numbers import picoseconds, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from optcp.flows.model import Flow

REQUIRED = ("time", "from", "to", "bytes")
COLUMNS = (*REQUIRED, "protocol", "group")
PROTOCOLS = ("tcp", "udp")
UNITS = {
    "s": ("seconds", 12),
    "ms": ("milliseconds", 9),
    "us": ("microseconds", 6),
    "ns": ("nanoseconds", 3),
    "ps": ("picoseconds", 0),
}
"""Name, and power of ten of a picosecond, of each unit of time."""
CSV_SUFFIXES = (".csv", ".tsv", ".txt")
HEADING = re.compile(r"(.*?)(?:\s*\((.+)\))?")


class Columns(NamedTuple):
    """Columns of a list, in the form of crates/scenario.

    Attributes
    ----------
    names
        Names of nodes and groups, to which the rows refer by index.
    lines
        Line of each row in a CSV file, or its number in a Parquet file.
    starts_ps, sources, destinations, sizes_bytes
        One value per row.
    groups
        One value per row, or empty.
    udp
        One value per row, or empty if all rows are TCP.
    """

    names: list[str]
    lines: list[int]
    starts_ps: list[int]
    sources: list[int]
    destinations: list[int]
    sizes_bytes: list[int]
    groups: list[int]
    udp: list[bool]


def read(file: str, content: bytes) -> Columns:
    """Read a list.

    Parameters
    ----------
    file
        Name of the file, whose suffix is the format.
    content
        Its content.

    Raises
    ------
    InputError
        If the file is not a list.
    """
    if file.lower().endswith(parquet.SUFFIX):
        try:
            return _columns(parquet.read(content), "row")
        except ValueError as error:
            raise InputError(f"`{file}`, {error}") from None
    if not file.lower().endswith(CSV_SUFFIXES):
        raise InputError(
            f"`{file}`: expected a list of flows in a file with the suffix "
            f"{', '.join((*CSV_SUFFIXES, parquet.SUFFIX))}; "
            "`optcp flows FILE --out LIST.csv` reads captures and connection lists of other simulators"
        )
    try:
        text = rows.decoded(content)
    except ValueError as error:
        raise InputError(f"cannot read `{file}`: {error}") from None
    try:
        return _columns(rows.rows(text, len(REQUIRED)), "line")
    except ValueError as error:
        raise InputError(f"`{file}`, {error}") from None


def _columns(entries: Iterator[tuple[int, list[str]]], what: str) -> Columns:
    """Return the columns; `what` names a row in messages, "line" or "row"."""
    number, fields = next(entries, (1, []))
    place, unit = _heading(f"{what} {number}" if number else "names of columns", fields)
    time_at, from_at, to_at, bytes_at = (place[name] for name in REQUIRED)
    protocol_at, group_at = place.get("protocol"), place.get("group")
    unit_name, power = UNITS[unit]
    unit_ps = 10**power
    indices: dict[str, int] = {}
    found = Columns([], [], [], [], [], [], [], [])
    for number, row in entries:
        if len(row) != len(fields):
            raise ValueError(f"{what} {number}: {len(row)} fields, and {len(fields)} columns in the first line")
        if not (row[from_at] and row[to_at]) or (group_at is not None and not row[group_at]):
            empty = next(name for name in ("from", "to", "group") if not row[place[name]])
            raise ValueError(f"{what} {number}: column `{empty}`: expected a name, found nothing")
        if protocol_at is not None:
            if (protocol := row[protocol_at].lower()) not in ("", *PROTOCOLS):
                expected = (
                    f"expected `tcp` or `udp`, found `{rows.short(row[protocol_at])}`; {nearest(protocol, PROTOCOLS)}"
                )
                raise ValueError(f"{what} {number}: column `protocol`: {expected}")
            found.udp.append(protocol == "udp")
        found.lines.append(number)
        found.starts_ps.append(picoseconds(row[time_at], unit_ps, f"{what} {number}: column `time`", unit_name))
        found.sources.append(indices.setdefault(row[from_at], len(indices)))
        found.destinations.append(indices.setdefault(row[to_at], len(indices)))
        found.sizes_bytes.append(whole(row[bytes_at], f"{what} {number}: column `bytes`"))
        if group_at is not None:
            found.groups.append(indices.setdefault(row[group_at], len(indices)))
    return found._replace(names=list(indices), udp=found.udp if any(found.udp) else [])


def _heading(where: str, fields: Sequence[str]) -> tuple[dict[str, int], str]:
    """Return the place of each column, and the unit of time."""
    place: dict[str, int] = {}
    unit = "s"
    for at, field in enumerate(fields):
        match = HEADING.fullmatch(field)
        name, of_name = (match[1].lower(), match[2]) if match else (field, None)
        if name not in COLUMNS:
            known = nearest(name, COLUMNS)
            raise ValueError(f"{where}: unknown column `{rows.short(field)}`; {known}")
        if name in place:
            raise ValueError(f"{where}: two columns `{name}`")
        if name == "time" and of_name:
            unit = of_name.replace("µ", "u")
        if unit not in UNITS or (of_name and (name, of_name) != ("bytes", "B") and name != "time"):
            units = ", ".join(UNITS)
            raise ValueError(f"{where}: column `{rows.short(field)}`: only `time` has a unit, one of {units}")
        place[name] = at
    if missing := [name for name in REQUIRED if name not in place]:
        raise ValueError(f"{where}: no column `{missing[0]}`; the first line names the columns {', '.join(REQUIRED)}")
    return place, unit


def written(flows: Iterable[Flow]) -> bytes:
    """Return the CSV file of flows, with a column ``protocol`` if not all are TCP."""
    listed = list(flows)
    mixed = any(flow.protocol != "tcp" for flow in listed)
    lines = ["time (s),from,to,bytes" + (",protocol" if mixed else "")]
    for flow in listed:
        line = f"{_seconds(flow.start_ps)},{_quoted(flow.source)},{_quoted(flow.destination)},{flow.size_bytes}"
        lines.append(line + (f",{flow.protocol}" if mixed else ""))
    return ("\n".join(lines) + "\n").encode()


def _seconds(ps: int) -> str:
    whole_s, rest = divmod(ps, 10**12)
    return f"{whole_s}.{rest:012}".rstrip("0").rstrip(".") if rest else str(whole_s)


def _quoted(name: str) -> str:
    plain = not any(sign in name for sign in ',;\t"#\n') and name == name.strip()
    return name if plain else '"' + name.replace('"', '""').replace("\n", " ") + '"'
