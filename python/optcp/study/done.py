"""The finished runs of a study: observations by name, metrics as labelled cells."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from optcp import _core
from optcp.axes import Axis
from optcp.cells import Cells
from optcp.errors import InputError, nearest
from optcp.study.observed import Observed
from optcp.study.store import Store
from optcp.table import PICOSECONDS_A_SECOND, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from optcp.study.grid import Branch, Grid
    from optcp.study.store import Columns, Part

T = TypeVar("T")

DROPS = "drops"
"""The metric whose missing rows are zeros: reasons that occurred in other runs only."""


class RunData(Protocol):
    """A finished run, stored or fresh; attributes are those of ``optcp._core.Run``."""

    @property
    def seed(self) -> int:
        """The seed it was run with."""

    @property
    def scenario_sha256(self) -> str:
        """The scenario it was run from."""

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""

    @property
    def counts(self) -> dict[str, int]:
        """Packets ``sent``, ``delivered``, ``dropped``, ``in_flight``; ``packet_hops``, ``events``."""

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time."""

    @property
    def routing(self) -> dict[str, Any] | None:
        """What routing did; None without ``[routing]``."""

    @property
    def series(self) -> dict[str, dict[str, Any]]:
        """What was observed."""


@dataclass(frozen=True)
class StoredRun:
    """One stored run; see :class:`RunData`."""

    seed: int
    cell: str
    observe: tuple[str, ...]
    _part: Part = field(repr=False)
    _store: Store = field(repr=False)

    def _table(self, name: str) -> Table:
        return self._store.run_table(name, self._part, self.cell, self.seed)

    @functools.cached_property
    def _run(self) -> dict[str, Any]:
        table = self._table("runs")
        return {name: table[name][0] for name in table.columns}

    @property
    def scenario_sha256(self) -> str:
        """The scenario it was run from."""
        return str(self._run["scenario_sha256"])

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""
        return str(self._run["metrics_sha256"])

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""
        return str(self._run["records_sha256"]) or None

    @property
    def counts(self) -> dict[str, int]:
        """Packets ``sent``, ``delivered``, ``dropped``, ``in_flight``; ``packet_hops``, ``events``."""
        return {name: int(value) for name, value in self._run.items() if not name.endswith("sha256")}

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""
        found = self._table("scalars").where(metric=DROPS)
        return {reason: int(count) for reason, count in zip(found["of"], found["value"], strict=True)}

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time."""
        return _rows(self._table("switches"))

    @property
    def routing(self) -> dict[str, Any] | None:
        """What routing did; None without ``[routing]``."""
        announced = self._table("scalars").where(metric="announcements")
        if not len(announced):
            return None
        steps = _rows(self._table("reroutes"))
        causes = ("failure", "repair", "convergence")
        entries = {f"on_{cause}": sum(step["entries"] for step in steps if step["cause"] == cause) for cause in causes}
        return {"announcements": int(announced["value"][0]), **entries, "steps": steps}

    @functools.cached_property
    def series(self) -> dict[str, dict[str, Any]]:
        """What was observed, in the form of ``optcp._core.Run.series``."""
        return {name: _series(*self._store.run_columns(name, self._part, self.cell, self.seed))
                for name in self.observe}  # fmt: skip


def _rows(table: Table) -> list[dict[str, Any]]:
    """Each row by the names that ``optcp._core.Run`` gives them."""
    names = ["at_ps" if name == "time_ps" else name for name in table.columns]
    values = (table[name].tolist() for name in table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _series(metadata: dict[str, str], columns: Columns) -> dict[str, Any]:
    """An observation of one run with its rows as an axis, and indices in place of texts."""
    found: dict[str, Any] = {"kind": metadata["optcp.kind"]}
    values = dict(columns)
    if "optcp.interval_ps" in metadata:
        found["interval_s"] = int(metadata["optcp.interval_ps"]) / PICOSECONDS_A_SECOND
        found["after_s"] = int(metadata["optcp.after_ps"]) / PICOSECONDS_A_SECOND
        del values["time_ps"]
        row = next(iter(values))
        codes, names = values.pop(row)
        # Intervals of one name stand together.
        shown = np.concatenate([codes[:1], codes[1:][codes[1:] != codes[:-1]]])
        found[f"{row}s"] = [names[code] for code in shown]
        rows = len(shown)
        return found | {name: np.asarray(array).reshape(rows, -1) for name, array in values.items()}
    for name, array in values.items():
        if isinstance(array, tuple):
            found[f"{name}s"], found[name] = [text for text in array[1] if text], array[0]
        else:
            found[name] = array
    return found


@dataclass(frozen=True)
class Done:
    """The runs of some seeds of a study, all stored; they are read when they are asked for.

    Attributes
    ----------
    grid, seeds
        Whose runs, and which of them.
    """

    grid: Grid
    seeds: tuple[int, ...]
    store: Store = field(repr=False)
    kept: object = field(default=None, repr=False, compare=False)
    """What must stay as long as the runs: a temporary directory."""
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def open(cls, directory: str | Path) -> Done:
        """Read a study back: the cells of the command that wrote it last, and the seeds that all of them have.

        Raises
        ------
        InputError
            If there is no study, or no seed of which every cell is there.
        Damaged
            If it cannot be read.
        """
        store = Store(Path(directory))
        grid = store.grid()
        store.scan()
        seeds = store.seeds(grid)
        if not seeds:
            raise InputError(f"{directory}: of no seed every cell is there; the command that made it goes on with it")
        return cls(grid, seeds, store)

    def once(self, reduce: Callable[[Done], T]) -> T:
        """Call ``reduce`` on this study once, however many exhibits ask for its result."""
        if reduce not in self._memo:
            self._memo[reduce] = reduce(self)
        result: T = self._memo[reduce]
        return result

    def __iter__(self) -> Iterator[tuple[int, list[RunData]]]:
        """Each seed with its runs, one a branch, in the order of the branches."""
        for seed in self.seeds:
            yield seed, self.runs(seed)

    def runs(self, seed: int) -> list[RunData]:
        """The runs of a seed, one a branch, in the order of the branches."""
        return [self.run(branch, seed) for branch in self.grid.branches]

    def run(self, branch: Branch, seed: int) -> StoredRun:
        """One run.

        Raises
        ------
        KeyError
            If it is not stored.
        """
        part = self.store.part(branch, seed)
        return StoredRun(seed, branch.id, branch.observe, part, self.store)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid; one axis ``cell`` where the cells are no grid."""
        axes = self.grid.axes
        if math.prod(len(axis) for axis in axes) == len(self.grid.branches):
            return axes
        return (Axis("cell", tuple(branch.id for branch in self.grid.branches)),)

    def cells(self, values: NDArray[Any], more: tuple[Axis, ...] = (), name: str = "", unit: str = "") -> Cells:
        """Label values of shape (seeds, branches, length of each further axis)."""
        axes = (*self.axes, *more)
        shape = (len(self.seeds), *(len(axis) for axis in axes))
        return Cells(np.asarray(values, dtype=np.float64).reshape(shape), axes, self.seeds, name, unit)

    def each(self, function: Callable[[StoredRun], Any], *more: Axis, name: str = "", unit: str = "") -> Cells:
        """Reduce every run to a number, or to an array with the axes ``more``.

        Parameters
        ----------
        function
            From a run to its value, NaN where it is undefined.
        """
        found = [[function(self.run(branch, seed)) for branch in self.grid.branches] for seed in self.seeds]
        return self.cells(np.array(found), more, name, unit)

    @property
    def observations(self) -> tuple[str, ...]:
        """The names of the observations, in the order of the scenario."""
        return self.grid.branches[0].observe

    def __getitem__(self, name: str) -> Observed:
        """An observation by the name that it has in ``[[observe]]``.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        """
        if name not in self.observations:
            raise InputError(f"the study has no observation {name!r}; {nearest(name, self.observations)}")
        return Observed(self, name)

    def rows(self, table: str, columns: Sequence[str] | None = None) -> tuple[Table, NDArray[np.int64]]:
        """A table of all runs, and the run of each row: the place of its seed times the branches plus its branch's."""
        branches = {branch.id: at for at, branch in enumerate(self.grid.branches)}
        seeds = {seed: at for at, seed in enumerate(self.seeds)}
        parts, of_run, lengths = [], [], []
        for part in self.store.parts:
            at = [
                seeds[seed] * len(branches) + branches[cell]
                if seed in seeds and cell in branches and self.store.holds(part, cell, seed)
                else -1
                for cell, seed in part.places
            ]
            if max(at) >= 0 and table in part.manifest["files"]:
                parts.append(part)
                of_run += at
                lengths += part.manifest["files"][table]["rows"]
        metadata, found = self.store.read(table, parts, columns) if parts else ({}, {})
        run = np.repeat(np.array(of_run, dtype=np.int64), np.array(lengths, dtype=np.int64))
        interval_ps = metadata.get("optcp.interval_ps")
        whole = Table(found, int(interval_ps) / PICOSECONDS_A_SECOND if interval_ps else None)
        # Seeds of other calls may be in the same parts.
        return (whole, run) if (run >= 0).all() else (whole.rows(run >= 0), run[run >= 0])

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table:
        """A table of all runs: an observation, ``scalars``, ``runs``, ``switches``, ``reroutes`` or ``arrived``."""
        return self.rows(name, columns)[0]

    @functools.cached_property
    def metrics(self) -> dict[str, Cells]:
        """Every metric by name, with an axis (group, port, reason) where there is one each of several."""
        table, run = self.rows("scalars", ["metric", "of", "value"])
        values, (of_metric, names), (of, texts) = table.numbers("value"), table.coded("metric"), table.coded("of")
        found = {}
        for about in _core.metrics():
            mine = of_metric == names.index(about["name"]) if about["name"] in names else np.zeros(0, dtype=bool)
            if not mine.any():
                continue
            codes, place = np.unique(of[mine], return_inverse=True)
            shape = (len(self.seeds) * len(self.grid.branches), len(codes))
            cells = np.full(shape, 0.0 if about["name"] == DROPS else np.nan)
            cells[run[mine], place] = values[mine]
            more = (Axis(about["of"], tuple(texts[code] for code in codes)),) if about["of"] else ()
            found[about["name"]] = self.cells(cells, more, about["name"], about["unit"])
        return found

    def metric(self, name: str) -> Cells:
        """One of :attr:`metrics`.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        """
        if name not in self.metrics:
            about = next((one["summary"] for one in _core.metrics() if one["name"] == name), "")
            known = f": {about}" if about else f"; {nearest(name, self.metrics)}"
            raise InputError(f"these runs have no metric {name!r}{known}")
        return self.metrics[name]
