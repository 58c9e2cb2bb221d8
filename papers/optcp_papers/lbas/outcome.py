"""From counts of ports to the quantities of the tables: batch means by cell and seed."""

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
"""Metric to one value a batch."""

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
"""What :func:`batches` finds."""

ENOUGH_SEEDS = 6
"""With fewer the values are the batches of all runs: no difference of five seeds is significant."""
BITS_MB = 8e-6
PS_MS = 1e9


def batches(run: Run) -> Batches:
    """Reduce a run; a metric without another word is the mean over all lightpaths in both directions.

    Delays are byte-weighted times from a packet's arrival at a port until its last bit has left. The longest ones are
    since the start of the run, so the last batch has that of the whole run.
    """
    core = _Ports(run["lightpaths"], lambda _: True)
    up = _Ports(run["metro"], lambda name: name.startswith("M"))
    far = _Ports(run["metro"], lambda name: not name.startswith("M"))
    return {
        "throughput_gbps": core.mbps("bytes") / core.number / 1000,
        "drop_mbps": core.mbps("dropped_bytes") / core.number,
        "far_drop_mbps": far.mbps("dropped_bytes") / core.number,
        "metro_drop_mbps": up.mbps("dropped_bytes") / core.number,
        "queue_mb": core.of("mean_bytes").mean(axis=0) / 1e6,
        "metro_delay_ms": up.delay_ms(),
        "core_delay_ms": core.delay_ms(),
        "far_delay_ms": far.delay_ms(),
        "metro_longest_ms": up.of("longest_ps").max(axis=0) / PS_MS,
        "core_longest_ms": core.of("longest_ps").max(axis=0) / PS_MS,
        "far_longest_ms": far.of("longest_ps").max(axis=0) / PS_MS,
    }


class _Ports:
    """Some ports of an observation of kind ``ports``."""

    def __init__(self, table: Table, wanted: Callable[[str], bool]) -> None:
        names = table.distinct("port")
        self._table = table
        self._ports = len(names)
        self._rows = [row for row, name in enumerate(names) if wanted(name)]
        self.number = len(self._rows)
        self._interval_s = table.interval_s or 0.0

    def of(self, column: str) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._table[column].reshape(self._ports, -1)[self._rows].astype(np.float64)
        return found

    def mbps(self, column: str) -> NDArray[np.float64]:
        """All ports together, one value a batch."""
        total: NDArray[np.float64] = self.of(column).sum(axis=0) * BITS_MB / self._interval_s
        return total

    def delay_ms(self) -> NDArray[np.float64]:
        standing = self.of("mean_bytes").sum(axis=0) * self._interval_s * 1000
        passed = self.of("bytes").sum(axis=0)
        found: NDArray[np.float64] = np.divide(standing, passed, out=np.zeros_like(standing), where=passed > 0)
        return found


def of_study(done: StudyResult) -> list[dict[int, Batches]]:
    """Of each branch of a study, the batches of each seed."""
    return [{seed: batches(done.run(branch, seed)) for seed in done.seeds} for branch in done.grid.branches]


def to_json(run: Run) -> dict[str, list[float]]:
    """What is stored of a long run."""
    return {metric: [round(float(value), 6) for value in values] for metric, values in batches(run).items()}


def from_json(outcome: Mapping[str, Sequence[float]]) -> Batches:
    """Read :func:`to_json` back."""
    return {metric: np.array(values, dtype=np.float64) for metric, values in outcome.items()}


@dataclass(frozen=True)
class Measured:
    """What is known of the cells.

    Attributes
    ----------
    cells
        The batches by cell and seed; cells without runs are not there.
    """

    cells: Mapping[Cell, Mapping[int, Batches]]

    def together(self, cells: Sequence[Cell]) -> Together | None:
        """Cells that are compared with each other; None where they have no seed in common."""
        seeds = sorted(set.intersection(*(set(self.cells.get(cell, {})) for cell in cells)))
        runs = tuple(tuple(self.cells[cell][seed] for seed in seeds) for cell in cells)
        return Together(tuple(cells), runs) if seeds else None

    def interval(self, cell: Cell, *metrics: str) -> Interval:
        """The mean of a metric, or of a sum of several, of a cell that has runs."""
        alone = Together((cell,), (tuple(self.cells[cell][seed] for seed in sorted(self.cells[cell])),))
        return alone.mean(*alone.values(*metrics))

    def longest(self, cell: Cell, metric: str) -> Interval:
        """The largest value that any run of a cell had, of a metric that grows as a run goes on.

        A maximum, exact for these runs: batches of it are no sample of anything.
        """
        runs = self.cells[cell].values()
        return replace(stats.exact(max(float(one[metric][-1]) for one in runs)), n=len(runs))


@dataclass(frozen=True)
class Together:
    """Cells that are compared with each other.

    Attributes
    ----------
    cells
        Which, in order.
    runs
        Of each, the batches of every seed that all of them have.
    """

    cells: tuple[Cell, ...]
    runs: tuple[tuple[Batches, ...], ...]

    @property
    def pairs(self) -> list[tuple[Cell, Cell]]:
        """The cells two by two, where they are pairs."""
        return list(zip(self.cells[::2], self.cells[1::2], strict=True))

    @property
    def batches(self) -> bool:
        """Whether :meth:`values` are of batches, and not means of seeds."""
        return len(self.runs[0]) < ENOUGH_SEEDS

    def values(self, *metrics: str) -> list[NDArray[np.float64]]:
        """A metric, or the sum of several: an array a cell, whose values belong together one by one."""
        return [np.sum(parts, axis=0) for parts in zip(*map(self._values, metrics), strict=True)]

    def sides(self, *metrics: str) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """The values of the first and of the second cell of each pair."""
        values = self.values(*metrics)
        return values[::2], values[1::2]

    def _values(self, metric: str) -> list[NDArray[np.float64]]:
        columns = [[run[metric] for run in runs] for runs in self.runs]
        if not self.batches:
            return [np.array([one.mean() for one in column]) for column in columns]
        shortest = min(one.size for column in columns for one in column)
        return [np.concatenate([one[:shortest] for one in column]) for column in columns]

    def mean(self, values: NDArray[np.float64]) -> Interval:
        """The mean of values as :meth:`values` has them; ``n`` is the number of seeds."""
        return replace(stats.mean(values, batches=self.batches), n=len(self.runs[0]))
