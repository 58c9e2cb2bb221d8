"""Rows of the observations of stored runs, read in parts of a fixed size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.scenarios.run import Run
    from optcp.study.done import StudyResult

PART = 16_384
"""Number of rows that are Python objects at a time; a table holds its rows as arrays."""
LOST = ("dropped", "trimmed")
"""Events after which a segment must be retransmitted."""


def runs(study: StudyResult) -> Iterator[Run]:
    """Yield the runs of a study, by combination and seed."""
    for branch in study.grid.branches:
        for seed in study.seeds:
            yield study.run(branch, seed)


def need(study: StudyResult, kinds: Iterable[str], directory: Path, what: str, *, each: bool = False) -> None:
    """Check that the runs of a study have an observation of one of these kinds, or of each kind.

    Raises
    ------
    InputError
        If not; the message names the kinds.
    """
    observed = {entry["kind"] for entry in study.grid.branches[0].resolved["observe"]}
    lacking = [kind for kind in kinds if kind not in observed]
    if not lacking or (not each and observed.intersection(kinds)):
        return
    listed = (" and " if each else " or ").join(f'"{kind}"' for kind in lacking)
    raise InputError(
        f"{directory}: the runs did not observe what {what} shows; "
        f"give the scenario [[observe]] with kind = {listed}, and run it again"
    )


def end_ps(run: Run) -> int:
    """Return the end of a run: its stop time, or the last observed event if it ends with its flows."""
    stop: int = run.scenario["stop_ps"]
    if not run.scenario.get("end_with_flows"):
        return stop
    tables = (run[name] for name in run.names)
    times = [int(table.numbers("time_ps").max()) for table in tables if len(table) and "time_ps" in table.columns]
    return min(stop, max(times)) if times else stop


def rows(
    table: Table, columns: Sequence[str], *, which: NDArray[np.bool_] | None = None, by_time: bool = False
) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a table as Python values.

    Parameters
    ----------
    table, columns
        The table, and the columns of which values are yielded.
    which : array of shape (rows,), optional
        Mask of the rows; by default all.
    by_time
        Whether to yield them in the order of time instead of the order of the table.
    """
    places = np.arange(len(table)) if which is None else np.flatnonzero(which)
    if by_time:
        places = places[np.argsort(table.numbers("time_ps")[places], kind="stable")]
    for start in range(0, len(places), PART):
        part = table.rows(places[start : start + PART])
        values = (
            part.texts(name) if isinstance(part.columns[name], tuple) else part.numbers(name).tolist()
            for name in columns
        )
        yield from zip(*values, strict=True)
