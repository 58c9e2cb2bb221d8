"""Tool ``compare``: differences from a reference, paired by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.mcp import numbers, studies
from optcp.mcp.numbers import Digests, known
from optcp.mcp.parts import part, plain, without_empty
from optcp.outage.metrics import RATIO
from optcp.scenarios import warned
from optcp.study import asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.data.compare import Compared
    from optcp.mcp.report import Report
    from optcp.study.done import StudyResult


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    directory: str,
    at: Mapping[str, str],
    metrics: Sequence[str],
    skip: int,
    most: int | None,
) -> dict[str, Any]:
    """Return the differences of metrics from a parameter combination."""
    for name in metrics:
        asked.check_metric(name, "metrics")
    done = studies.stored(directory)
    reference = studies.short(done, at)
    asked.check_values(done.grid, "at", reference)
    found = done.compare(at=reference, metrics=list(metrics) or None)
    digests = Digests(done)
    rows, left = part([_row(row, done, digests, found.at) for row in found.rows], skip, most)
    return {
        "warnings": numbers.warnings(warned.of_done(done)),
        "directory": str(done.store.root),
        "reference": found.at,
        "differences": rows,
        "left_out": left,
        "digest": digests.every(),
    }


def _row(row: Compared, done: StudyResult, digests: Digests, reference: Mapping[str, str]) -> dict[str, Any]:
    studied = {axis.name for axis in done.axes}
    cell = {name: value for name, value in row.cell.items() if name in studied}
    ends = row.n > 1 and known(row.low) is not None and known(row.high) is not None
    note = (
        "lower bounds only: some flows had not finished, so there is no difference"
        if row.censored
        else "" if ends else "no interval: n = 1, or the runs do not vary"
    )  # fmt: skip
    found = {
        "metric": row.metric,
        "unit": row.unit or RATIO,
        "cell": row.cell,
        "value": plain(row.value),
        "value_at_least": plain(row.value_at_least) if row.censored else None,
        "reference": plain(row.reference),
        "reference_at_least": plain(row.reference_at_least) if row.censored else None,
        "difference": plain(row.difference),
        "low": plain(row.low) if ends else None,
        "high": plain(row.high) if ends else None,
        "relative_pct": plain(row.relative_pct),
        "p": plain(row.p),
        "n": row.n,
        "digest": digests.at(cell),
        "reference_digest": digests.at(cell | dict(reference)),
        "note": note,
    }
    return without_empty(found, "value_at_least", "reference_at_least", "relative_pct", "p", "note")
