"""What runs with flows that come and go, or with datagrams, report: completion times, and Hurst parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core, stats
from optcp.table import PICOSECONDS_A_SECOND, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from optcp.study import saved

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class Completions:
    """Completion times of one group in one cell, in seconds.

    Attributes
    ----------
    ended, unfinished
        Flows of all runs that ended, and that had started and did not.
    mean_s
        The mean over runs of a run's mean; None if no flow ended.
    percentiles_s
        Of all flows of all runs that ended, in the order of ``PERCENTILES``; empty if none did.
    """

    cell: dict[str, str]
    group: str
    ended: int
    unfinished: int
    mean_s: stats.Interval | None
    percentiles_s: tuple[float, ...]


def completion_times(table: Table, group: str) -> tuple[NDArray[np.float64], int]:
    """Return how long the flows of a group took that ended, and how many did not."""
    of_group = table.where(group=group)
    ended = of_group.numbers("finished").astype(bool)
    spans = (of_group.numbers("time_ps") - of_group.numbers("start_ps")) / PICOSECONDS_A_SECOND
    return spans[ended], int((~ended).sum())


def described(seconds: NDArray[np.float64], unfinished: int) -> dict[str, float | int | None]:
    """Number, mean and percentiles of completion times, for ``meta.json``; None where no flow ended."""
    found: dict[str, float | int | None] = {"ended": len(seconds), "unfinished": unfinished}
    found["mean_s"] = float(seconds.mean()) if len(seconds) else None
    for percent in PERCENTILES:
        found[f"p{percent}_s"] = float(np.percentile(seconds, percent)) if len(seconds) else None
    return found


def completions_of(resolved: dict[str, Any], files: dict[str, bytes]) -> dict[str, dict[str, float | int | None]]:
    """Completion times by group of one run; where two observations list one group, the first counts."""
    found: dict[str, dict[str, float | int | None]] = {}
    for entry, table in _tables(resolved, files, "completions"):
        for group in entry["groups"]:
            found.setdefault(group, described(*completion_times(table, group)))
    return found


def hurst_of(resolved: dict[str, Any], files: dict[str, bytes]) -> dict[str, dict[str, float]]:
    """Hurst parameters by group of one run, estimated from packets sent an interval.

    Groups with too few intervals, or that sent nothing, are left out; so is a last interval that the run's end cuts.
    """
    found: dict[str, dict[str, float]] = {}
    for entry, table in _tables(resolved, files, "datagrams"):
        whole = resolved["stop_ps"] // entry["interval_ps"]
        for group in entry["groups"]:
            counts = table.where(group=group).numbers("sent_packets")[:whole]
            estimate = _core.hurst(counts.astype(np.float64))
            if estimate:
                found.setdefault(group, estimate)
    return found


def _tables(resolved: dict[str, Any], files: dict[str, bytes], kind: str) -> Iterator[tuple[dict[str, Any], Table]]:
    for entry in resolved["observe"]:
        if entry["kind"] == kind:
            _, columns = _core.read_parquet(files[entry["name"]])
            yield entry, Table(columns)


def completions_of_cell(cell: dict[str, str], runs: Sequence[saved.SavedRun]) -> list[Completions]:
    """Completion times of one cell by group, over its runs."""
    if not runs:
        return []
    # The first observation that lists a group counts, as in each run.
    of_group: dict[str, str] = {}
    for entry in runs[0].scenario["observe"]:
        if entry["kind"] == "completions":
            for group in entry["groups"]:
                of_group.setdefault(group, entry["name"])
    found = []
    for group, observation in sorted(of_group.items()):
        times, left = zip(*(completion_times(run.table(observation), group) for run in runs), strict=True)
        pooled = np.concatenate(times)
        means = [float(one.mean()) for one in times if len(one)]
        percentiles = tuple(float(value) for value in np.percentile(pooled, PERCENTILES)) if len(pooled) else ()
        mean_s = stats.mean(means) if means else None
        found.append(Completions(cell, group, len(pooled), sum(left), mean_s, percentiles))
    return found
