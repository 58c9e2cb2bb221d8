"""Tool ``trace``: rows of one observation of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.data.table import PICOSECONDS_A_SECOND, Table
from optcp.errors import InputError, nearest
from optcp.mcp import numbers, studies
from optcp.mcp.parts import part, plain
from optcp.outage.metrics import RATIO
from optcp.plots.trace.request import chosen, seconds
from optcp.scenarios import warned
from optcp.study import choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.mcp.report import Report
    from optcp.scenarios.run import Run

TIME = "time_ps"
SLOWEST = "slowest"
"""Table of the slowest flows; no observation can have its name."""
NANOSECONDS = 9
"""Digits of a time in s after the point."""
MOST_READ = 1000
"""Maximum number of rows that are considered for a result without `most`."""
NAMES = ("flow", "group", "port", "fibre")
"""Columns with the name of the object of a row."""
UNITS = {
    "_ps": "ps", "_s": "s", "_bytes": "B", "bytes": "B", "_bps": "bit/s", "_packets": "packets", "packets": "packets",
    "_segments": "segments",
}  # fmt: skip
"""Unit by end of a column name."""


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    directory: str,
    observation: str,
    cell: Mapping[str, str],
    seed: int | None,
    names: Sequence[str],
    where: Mapping[str, str],
    start: str | None,
    end: str | None,
    columns: Sequence[str],
    skip: int,
    most: int | None,
) -> dict[str, Any]:
    """Return rows of an observation in a period, and the extremes of each column over all of them."""
    done = studies.stored(directory)
    run = choose.one(done, tuple(cell.items()), seed)
    with run.trusted():
        found = _selected(_table(run, observation), names, where, (seconds(start, "start"), seconds(end, "end")))
    for column in columns:
        if column not in found.columns:
            raise InputError(f"columns {column!r}: no such column; {nearest(column, found.columns)}")
    shown = [name for name in found.columns if not columns or name in columns or name == TIME]
    lists = [[_plain(name, row[name]) for name in shown] for row in found.rows(slice(skip, skip + (most or MOST_READ)))]
    rows, _ = part(lists, 0, most)
    return {
        "warnings": numbers.warnings(warned.of_done(done)),
        "directory": str(done.store.root),
        "observation": observation,
        "cell": studies.short(done, run.cell),
        "seed": run.seed,
        "n": 1,
        "digest": str(run.metrics_sha256)[: numbers.SHORT],
        "columns": {_shown(name): _unit(name, found) for name in shown},
        "extremes": _extremes(found, [name for name in shown if name != TIME]),
        "rows": rows,
        "row_count": len(found),
        "left_out": max(0, len(found) - skip - len(rows)),
    }


def _table(run: Run, name: str) -> Table:
    """Return an observation of a run, or the table of its slowest flows, which needs none."""
    known = [*run, SLOWEST]
    if name not in known:
        raise InputError(f"observation {name!r}: the run has no such observation; {nearest(name, known)}")
    return run.slowest if name == SLOWEST else run[name]


def _selected(
    table: Table, names: Sequence[str], where: Mapping[str, str], period: tuple[float | None, float | None]
) -> Table:
    keep = np.ones(len(table), dtype=bool)
    if names:
        column = next((name for name in NAMES if name in table.columns), None)
        if column is None:
            raise InputError(f"names: the observation has none of the columns {', '.join(NAMES)}")
        keep &= np.isin(table[column], chosen(f"--{column}", tuple(names), sorted(table.distinct(column))))
    for column, value in where.items():
        known = [str(one) for one in dict.fromkeys(table[column].tolist())]
        if value not in known:
            raise InputError(f"where {column}={value}: no such value; {nearest(value, known[:1000])}")
        keep &= np.array([str(one) == value for one in table[column].tolist()], dtype=bool)
    start_s, end_s = period
    if TIME in table.columns:
        time_s = table.numbers(TIME) / PICOSECONDS_A_SECOND
        keep &= (time_s >= (start_s or 0.0)) & (time_s <= (np.inf if end_s is None else end_s))
    elif start_s is not None or end_s is not None:
        raise InputError(f"start, end: the observation has no column {TIME}")
    return table.rows(keep)


def _shown(name: str) -> str:
    """Return the name of a column in the result, where times are in s."""
    return f"{name.removesuffix('_ps')}_s" if name.endswith("_ps") else name


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401 - numbers and texts
    if name.endswith("_ps"):
        return round(value / PICOSECONDS_A_SECOND, NANOSECONDS)
    return plain(value)


def _unit(name: str, table: Table) -> str:
    """Return the unit of a column; empty for texts and truth values."""
    values = table.columns[name]
    if isinstance(values, tuple) or values.dtype.kind not in "iuf":
        return ""
    return unit_of(name)


def unit_of(name: str) -> str:
    """Return the unit of a column of numbers: by the end of its name, else one of a count or ratio."""
    shown = _shown(name)
    return next((unit for end, unit in UNITS.items() if shown.endswith(end)), RATIO)


def _extremes(table: Table, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    found = {}
    for name in names:
        values = table.columns[name]
        if isinstance(values, tuple) or not len(values) or values.dtype == bool:
            continue
        low, high = values.min().item(), values.max().item()
        found[_shown(name)] = {"min": _plain(name, low), "max": _plain(name, high), "unit": unit_of(name)}
    return found
