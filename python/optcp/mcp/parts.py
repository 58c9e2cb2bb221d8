"""Parts of long lists, so that answers stay short: an assistant pays for every character that it reads."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, TypeVar

from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

T = TypeVar("T")

BUDGET = 4000
"""Bytes of the entries of an answer if the client sets no number of entries; the whole answer has about 6 kB."""
DIGITS = 6
"""Significant digits of numbers with a fraction. Whole numbers have all digits, so that counts add up."""


def written(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def part(entries: Sequence[T], skip: int, most: int | None, budget: int = BUDGET) -> tuple[list[T], int]:
    """Return entries from number ``skip`` on, and the number of entries after them.

    Parameters
    ----------
    most
        Maximum number of entries; by default as many as ``budget`` bytes of JSON hold, and at least one.

    Examples
    --------
    >>> part(["a", "b", "c", "d"], 1, 2), part(["a", "b", "c", "d"], 0, None, budget=8)
    ((['b', 'c'], 1), (['a', 'b'], 2))
    """
    rest = list(entries[skip:])
    if most is None:
        size, most = 0, 0
        for entry in rest:
            size += len(written(entry).encode()) + 1
            if most and size > budget:
                break
            most += 1
    return rest[:most], max(0, len(rest) - most)


def plain(value: Any) -> Any:  # noqa: ANN401 - values of tables
    """Return a value as JSON: numbers with six digits, whole numbers complete, and None for infinite ones.

    >>> plain(2.3278345), plain(123456789.0), plain(9124250.3), plain(float("inf")), plain("a")
    (2.32783, 123456789, 9124250, None, 'a')
    """
    if isinstance(value, bool) or not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    shown = value if value.is_integer() else float(f"{value:.{DIGITS}g}")
    return int(shown) if shown.is_integer() else shown


def without_empty(entry: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return an entry without the named keys that have no value."""
    return {name: value for name, value in entry.items() if name not in names or value not in (None, "")}


def table(
    columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]], *, where: Mapping[str, str], chosen: Sequence[str],
    sort: str | None, skip: int, most: int | None,
) -> dict[str, Any]:  # fmt: skip
    """Return a part of a table: units by column, and rows as lists.

    Parameters
    ----------
    columns
        Unit of each column; empty for texts.
    where
        Values that a row must have, as texts, by column.
    chosen
        Columns of the result; by default all.
    sort
        Column by which rows are sorted, largest value first.
    """
    for option, names in (("columns", chosen), ("where", where), ("sort", [sort] if sort else [])):
        for name in names:
            if name not in columns:
                raise InputError(f"{option} {name!r}: no such column; {nearest(name, columns)}")
    found = list(rows)
    for column, value in where.items():
        known = dict.fromkeys(_text(row.get(column)) for row in found)
        if value not in known:
            raise InputError(f"where {column}={value}: no such value; {nearest(value, known)}")
        found = [row for row in found if _text(row.get(column)) == value]
    if sort is not None:
        found.sort(key=lambda row: _place(row.get(sort)))
    shown = list(chosen or columns)
    lists = [[plain(row.get(name)) for name in shown] for row in found]
    some, left = part(lists, skip, most)
    return {
        "columns": {name: columns[name] for name in shown},
        "rows": some,
        "row_count": len(found),
        "left_out": left,
    }


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(plain(value))


def _place(value: Any) -> tuple[bool, Any]:  # noqa: ANN401 - values of tables
    """Return the key of a row: large numbers first, texts in order, missing values last."""
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return missing, 0 if missing else (value if isinstance(value, str) else -value)
