"""Conversion of port counters to the quantities of the tables: batch means by parameter combination and seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.data.table import Table
from optcp.stats import Interval
from optcp.study import Run, StudyResult
from optcp_papers.lbas.paper import Cell

Batches = dict[str, "NDArray[np.float64]"]
"""One value per batch, by metric."""

METRICS = (
    "throughput_gbps",
    "drop_mbps",
    "far_drop_mbps",
    "metro_drop_mbps",
    "queue_mb",
    "metro_delay_ms",
    "core_delay_ms",
    "far_delay_ms",
    "metro_longest_ms",
    "core_longest_ms",
    "far_longest_ms",
)
"""Result of :func:`batches`."""

ENOUGH_SEEDS = 6
"""Minimum number of seeds for tests over seeds. With five no difference is significant, so batches are used."""
BITS_MB = 8e-6
PS_MS = 1e9


def batches(run: Run) -> Batches:
    """Evaluate a run. Metrics without a qualifier are means over all lightpaths in both directions.

    Delays are byte-weighted times from a packet's arrival at a port until its last bit has left. Maximum delays count
    from the start of the run, so the last batch has the maximum of the whole run.
    """
    core = _Ports(run["lightpaths"], lambda _: True)
    up = _Ports(run["metro"], lambda name: name.startswith("M"))
    far = _Ports(run["metro"], lambda name: not name.startswith("M"))
    return {
        "throughput_gbps": core.mbps("bytes") / core.number / 1000,
        "drop_mbps": core.mbps("dropped_bytes") / core.number,
        "far_drop_mbps": far.mbps("dropped_bytes") / core.number,
        "metro_drop_mbps": up.mbps("dropped_bytes") / core.number,
        "queue_mb": core.column("mean_bytes").mean(axis=0) / 1e6,
        "metro_delay_ms": up.delay_ms(),
        "core_delay_ms": core.delay_ms(),
        "far_delay_ms": far.delay_ms(),
        "metro_longest_ms": up.column("longest_ps").max(axis=0) / PS_MS,
        "core_longest_ms": core.column("longest_ps").max(axis=0) / PS_MS,
        "far_longest_ms": far.column("longest_ps").max(axis=0) / PS_MS,
    }


class _Ports:
    """Selected ports of an observation of kind ``ports``."""

    def __init__(self, table: Table, wanted: Callable[[str], bool]) -> None:
        names = table.distinct("port")
        self._table = table
        self._ports = len(names)
        self._rows = [row for row, name in enumerate(names) if wanted(name)]
        self.number = len(self._rows)
        self._interval_s = table.interval_s or 0.0

    def column(self, name: str) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self._table[name].reshape(self._ports, -1)[self._rows].astype(np.float64)
        return values

    def mbps(self, column: str) -> NDArray[np.float64]:
        """Return the sum over all ports, one value per batch."""
        total: NDArray[np.float64] = self.column(column).sum(axis=0) * BITS_MB / self._interval_s
        return total

    def delay_ms(self) -> NDArray[np.float64]:
        queued = self.column("mean_bytes").sum(axis=0) * self._interval_s * 1000
        passed = self.column("bytes").sum(axis=0)
        result: NDArray[np.float64] = np.divide(queued, passed, out=np.zeros_like(queued), where=passed > 0)
        return result


def of_study(done: StudyResult) -> list[dict[int, Batches]]:
    """Return the batches of each seed, for each branch of a study."""
    return [{seed: batches(done.run(branch, seed)) for seed in done.seeds} for branch in done.grid.branches]


def to_json(run: Run) -> dict[str, list[float]]:
    """Return the stored form of a long run."""
    return {metric: [round(float(value), 6) for value in values] for metric, values in batches(run).items()}


def from_json(outcome: Mapping[str, Sequence[float]]) -> Batches:
    """Read the stored form of a long run."""
    return {metric: np.array(values, dtype=np.float64) for metric, values in outcome.items()}


@dataclass(frozen=True)
class Measured:
    """Outcomes of the parameter combinations.

    Attributes
    ----------
    cells
        Batches by combination and seed; combinations without runs are missing.
    """

    cells: Mapping[Cell, Mapping[int, Batches]]

    def together(self, cells: Sequence[Cell]) -> Together | None:
        """Return combinations for comparison, with their common seeds; None if they have none."""
        seeds = sorted(set.intersection(*(set(self.cells.get(cell, {})) for cell in cells)))
        runs = tuple(tuple(self.cells[cell][seed] for seed in seeds) for cell in cells)
        return Together(tuple(cells), runs) if seeds else None

    def interval(self, cell: Cell, *metrics: str) -> Interval:
        """Return the mean of a metric, or of the sum of several, of a combination with runs."""
        alone = Together((cell,), (tuple(self.cells[cell][seed] for seed in sorted(self.cells[cell])),))
        return alone.mean(*alone.values(*metrics))

    def longest(self, cell: Cell, metric: str) -> Interval:
        """Return the maximum over all runs of a combination, of a metric that grows during a run.

        It is exact for these runs, because batches of a maximum are not a sample.
        """
        runs = self.cells[cell].values()
        return replace(stats.exact(max(float(run[metric][-1]) for run in runs)), n=len(runs))


@dataclass(frozen=True)
class Together:
    """Parameter combinations for comparison, with their common seeds.

    Attributes
    ----------
    cells
        Combinations, in order.
    runs
        Batches of every common seed, for each combination.
    """

    cells: tuple[Cell, ...]
    runs: tuple[tuple[Batches, ...], ...]

    @property
    def pairs(self) -> list[tuple[Cell, Cell]]:
        """Return the combinations in pairs."""
        return list(zip(self.cells[::2], self.cells[1::2], strict=True))

    @property
    def batches(self) -> bool:
        """Whether :meth:`values` are batches instead of means of seeds."""
        return len(self.runs[0]) < ENOUGH_SEEDS

    def values(self, *metrics: str) -> list[NDArray[np.float64]]:
        """Return a metric, or the sum of several: one array per combination, with paired values."""
        return [np.sum(parts, axis=0) for parts in zip(*map(self._values, metrics), strict=True)]

    def sides(self, *metrics: str) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """Return the values of the first and of the second combination of each pair."""
        values = self.values(*metrics)
        return values[::2], values[1::2]

    def _values(self, metric: str) -> list[NDArray[np.float64]]:
        columns = [[run[metric] for run in runs] for runs in self.runs]
        if not self.batches:
            return [np.array([item.mean() for item in column]) for column in columns]
        shortest = min(item.size for column in columns for item in column)
        return [np.concatenate([item[:shortest] for item in column]) for column in columns]

    def mean(self, values: NDArray[np.float64]) -> Interval:
        """Return the mean of values from :meth:`values`; ``n`` is the number of seeds."""
        return replace(stats.mean(values, batches=self.batches), n=len(self.runs[0]))
