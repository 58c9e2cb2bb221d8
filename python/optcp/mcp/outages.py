"""Answers of the tool ``outage``: a summary, or a part of one complete table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun
from optcp.errors import InputError, nearest
from optcp.mcp import numbers
from optcp.mcp.parts import part, plain, table, without_empty
from optcp.outage.listings import listings
from optcp.outage.metrics import RATIO, UNITS
from optcp.study.done import StudyResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from optcp.outage.result import Result
    from optcp.scenarios.warned import ScenarioWarning

SUMMARY, METRICS, ASSUMPTIONS, FAILURES = "summary", "metrics", "assumptions", "failures"
SHOWN = ("lost_mb", "outage_p50_ms", "network_p50_ms", "stretch", "nines_net", "nines_tcp", "spare_x", "added_x")
"""Metrics of the summary, as far as known."""
WORST, WORST_DEMANDS = 5, 3
"""Number of failures and of demands in the summary."""
NUMBERS = 3400
"""Bytes of the numbers of the summary, so that the whole summary has about 6 kB."""
IN_HEAD = re.compile(r"\(([^()]+)\)$")
COLUMNS = {
    "km": "km", "flows": "flows", "hit": "flows", "short": "flows", "outage_p50_at_least_ms": "ms", "value": "",
    "wavelengths": "wavelengths",
}  # fmt: skip
"""Units of columns that are no metric and have no unit in their head."""
FEW_FAILURES = 6
"""Minimum number of failures for an interval (docs/details/statistics.md)."""
SINGLE = "single run per failure: no interval"


@dataclass(frozen=True)
class Part:
    """Part of an answer that a client wants.

    Attributes
    ----------
    name
        ``summary``, ``metrics``, ``assumptions``, or a table of :func:`optcp.outage.listings.listings`.
    where, columns, sort, skip, most
        Rows and columns, as of :func:`optcp.mcp.parts.table`.
    """

    name: str
    where: Mapping[str, str]
    columns: Sequence[str]
    sort: str | None
    skip: int
    most: int | None

    def of(self, columns: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the wanted part of a table."""
        return table(
            columns, rows, where=self.where, chosen=self.columns, sort=self.sort, skip=self.skip, most=self.most
        )


def answer(
    result: Result, root: Path, warned: Sequence[ScenarioWarning], files: Mapping[str, str], wanted: Part
) -> dict[str, Any]:
    """Return the answer.

    Parameters
    ----------
    root
        Directory of the runs.
    files
        Files with the complete tables, by name.
    """
    digests = numbers.Digests(StudyResult.open(root))
    complete = digests.every()
    asked, listed = result.asked, result.asked.listed()
    # The list of assumptions has the defaults, too.
    defaults = tuple(f"{one['name']} = {one['value']} (default)" for one in listed)
    found = {
        "warnings": numbers.warnings(one for one in warned if not one.message.startswith(defaults)),
        "directory": str(root),
        "network": asked.network.reference,
        "demands": asked.demands,
        "routing": asked.routing,
        "sender": asked.sender,
        "failures": asked.failures,
        "failure_count": len(result.costs.events),
        "digest": complete,
        "files": dict(files),
    }
    if wanted.name == SUMMARY:
        return found | _summary(result, complete[: numbers.SHORT], wanted) | _assumed(listed)
    if wanted.name == METRICS:
        return found | _metrics(result, complete[: numbers.SHORT], wanted)
    columns, rows = _table(result, digests, wanted.name)
    note = SINGLE if wanted.name in (FAILURES, "demands") else "computed without runs: exact, no interval"
    return found | {
        "table": {
            "name": wanted.name,
            **wanted.of(columns, rows),
            "n": 1,
            "digest": complete[: numbers.SHORT],
            "note": note,
        }
    }


def _assumed(listed: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found = list(listed)
    return {
        "assumptions": {one["name"]: one["value"] for one in found},
        "defaults": [one["name"] for one in found if one["default"]],
    }


def _summary(result: Result, digest: str, wanted: Part) -> dict[str, Any]:
    """Return the most important numbers, the worst failures and the worst demands of the first mechanism."""
    for option, value in (("where", wanted.where), ("columns", wanted.columns), ("sort", wanted.sort)):
        if value:
            raise InputError(f"{option}: the summary has no rows to select; set `table`, for example to `{FAILURES}`")
    first = result.asked.mechanisms[0]
    rows = [number(result, name, metric, digest) for metric in SHOWN for name in _having(result, metric)]
    some, left = part(rows, wanted.skip, wanted.most, NUMBERS)
    lost = {name: result.lost_mb(name) for name in result.asked.mechanisms}
    worst = [{"failure": event, **{name: of[event] for name, of in lost.items()}} for event in result.worst()[:WORST]]
    columns = {"failure": "", **dict.fromkeys(lost, "MB")}
    of_demands = next(one for one in listings(result) if one.name == "demands")
    demands = [dict(zip(of_demands.heads, row, strict=True)) for row in of_demands.rows]
    shared = {"n": 1, "digest": digest, "note": SINGLE}
    whole = Part("", {}, (), None, 0, None)
    return {
        "numbers": some,
        "left_out": left,
        "worst_failures": {"name": "data lost", **whole.of(columns, worst), **shared},
        "worst_demands": {
            "name": f"demands, {first}",
            **whole.of(_units(of_demands.heads[1:], demands), demands[:WORST_DEMANDS]),
            **shared,
        },
    }


def _metrics(result: Result, digest: str, wanted: Part) -> dict[str, Any]:
    """Return all numbers; `where` selects mechanisms and metrics."""
    if wanted.columns or wanted.sort:
        raise InputError("columns, sort: `metrics` has neither; select with `where`, such as {'mechanism': 'none'}")
    rows = [number(result, name, metric, digest) for metric in UNITS for name in _having(result, metric)]
    known = {"mechanism": [*result.asked.mechanisms], "metric": list(dict.fromkeys(one["metric"] for one in rows))}
    for name, value in wanted.where.items():
        if name not in known:
            raise InputError(f"where {name}={value}: no such column; {nearest(name, known)}")
        if value not in known[name]:
            raise InputError(f"where {name}={value}: no such value; {nearest(value, known[name])}")
    chosen = [one for one in rows if all(one[name] == value for name, value in wanted.where.items())]
    some, left = part(chosen, wanted.skip, wanted.most)
    return {"numbers": some, "left_out": left}


def _having(result: Result, metric: str) -> list[str]:
    return [name for name in result.asked.mechanisms if metric in result.values[name]]


def _table(result: Result, digests: numbers.Digests, name: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the units of the columns and the rows of a complete table."""
    if name == ASSUMPTIONS:
        assumed = result.asked.listed()
        return dict.fromkeys(assumed[0], ""), assumed
    known = {one.name: one for one in listings(result)}
    if name not in known:
        raise InputError(f"table {name!r}: this network or kind of failure has no such table; {nearest(name, known)}")
    one = known[name]
    rows = [dict(zip(one.heads, row, strict=True)) for row in one.rows]
    columns = _units(one.heads, rows)
    if name == FAILURES:
        for row in rows:
            row["digest"] = digests.at({"mechanism": row["mechanism"], "failure": row["failure"]})
        columns["digest"] = ""
    return columns, rows


def _units(heads: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the unit of each column; empty for texts and truth values."""
    return {head: unit_of(head) if any(_is_number(row.get(head)) for row in rows) else "" for head in heads}


def unit_of(head: str) -> str:
    """Return the unit of a column of numbers: of its metric, or in its head.

    >>> unit_of("outage_p50_ms"), unit_of("volume (Mb/s)"), unit_of("hit"), unit_of("utilisation")
    ('ms', 'Mb/s', 'flows', '1')
    """
    named = IN_HEAD.search(head)
    return named[1] if named else UNITS.get(head) or COLUMNS.get(head, RATIO)


def _why(metric: str, row: Mapping[str, Any]) -> str:
    """Return why a number has no interval."""
    if metric in ("spare_x", "added_x"):
        return "exact"
    if row["n"] < FEW_FAILURES:
        return f"only {count_noun(row['n'], 'failure')}"
    return "all failures are alike, or only a bound is known"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(result: Result, mechanism: str, metric: str, digest: str) -> dict[str, Any]:
    """Return one statistic over the failures."""
    row = result.value_of(mechanism, metric)
    low, high = row["ci95"]
    notes = []
    if row.get("at_least") is not None:
        notes.append("lower bound only: some flows had not recovered or finished at the end of the runs")
    if row.get("at_most") is not None:
        notes.append("upper bound only: some flows were still stalled at the end of the runs")
    if low == high:
        low = high = None
        notes.append(f"no interval: {_why(metric, row)}")
    found = {
        "mechanism": mechanism,
        "metric": metric,
        "value": plain(row["value"]),
        "at_least": plain(row.get("at_least")),
        "at_most": plain(row.get("at_most")),
        "unit": row["unit"],
        "n": row["n"],
        "low": plain(low),
        "high": plain(high),
        "digest": digest,
        "note": "; ".join(notes),
    }
    return without_empty(found, "at_least", "at_most", "note")
