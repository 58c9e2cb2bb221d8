"""Finished runs of a study, with observations by name and metrics as labelled cells."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from optcp import _core
from optcp.common import arguments
from optcp.data.axes import Axis
from optcp.data.cells import UNBOUNDED, Cells
from optcp.data.labelled import position
from optcp.data.samples import Samples
from optcp.data.table import PICOSECONDS_A_SECOND, Table
from optcp.errors import InputError, nearest
from optcp.scenarios.branch import Branch
from optcp.scenarios.run import DROPS, Run
from optcp.study.observed import Observed
from optcp.study.store import Part, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.data.compare import Comparison
    from optcp.study.grid import Grid

T = TypeVar("T")


@dataclass(frozen=True)
class StudyResult:
    """Stored runs of a study, which are read on access.

    Attributes
    ----------
    grid
        Grid of the study.
    seeds
        Seeds of the runs.
    """

    grid: Grid
    seeds: tuple[int, ...]
    store: Store = field(repr=False)
    """Directory with the runs."""
    kept: object = field(default=None, repr=False, compare=False)
    """Object that must live as long as the runs, such as a temporary directory."""
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def open(cls, directory: str | Path, check: Callable[[Grid], None] | None = None) -> StudyResult:
        """Open a stored study, with the parameter combinations of the last command and the seeds that are complete.

        Parameters
        ----------
        directory
            Directory of the study.
        check
            Function that is called with the grid first, and may raise an error.

        Raises
        ------
        InputError
            If there is no study, or no complete seed.
        Damaged
            If the study cannot be read.
        """
        store = Store(arguments.path(directory, "directory"))
        grid = store.grid()
        if check is not None:
            check(grid)
        store.scan()
        seeds = store.seeds(grid)
        if not seeds:
            raise InputError(f"{directory}: no seed is complete; repeat the command that created the study to continue")
        return cls(grid, seeds, store)

    def once(self, reduce: Callable[[StudyResult], T]) -> T:
        """Return ``reduce(self)``, which is computed once and cached."""
        if arguments.function(reduce, "reduce") not in self._memo:
            self._memo[reduce] = reduce(self)
        result: T = self._memo[reduce]
        return result

    def __iter__(self) -> Iterator[tuple[int, list[Run]]]:
        """Yield each seed with its runs, one per branch, in the order of the branches."""
        for seed in self.seeds:
            yield seed, self.runs(seed)

    def runs(self, seed: int) -> list[Run]:
        """Return the runs of a seed, one per branch, in the order of the branches."""
        return [self.run(branch, seed) for branch in self.grid.branches]

    def run(self, branch: Branch, seed: int) -> Run:
        """Return one run.

        Parameters
        ----------
        branch
            One of ``grid.branches``.
        seed
            One of ``seeds``.

        Raises
        ------
        InputError
            If the branch or run does not exist.
        """
        if not isinstance(branch, Branch):
            raise arguments.refused(branch, "branch", "one of the branches of the study, such as done.grid.branches[0]")
        seed = arguments.whole(seed, "seed")
        try:
            part = self.store.part(branch, seed)
        except KeyError:
            raise InputError(f"no run of {branch.id!r} with seed {arguments.shown(seed)}") from None
        read = functools.partial(self.store.run_table, part=part, cell=branch.id, seed=seed)
        return Run(branch, seed, read, self.store.root)

    @property
    def places(self) -> int:
        """Number of runs, one per seed and branch, including branches with equal scenarios."""
        return len(self.seeds) * len(self.grid.branches)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Axes of the grid, or a single axis ``cell`` if the branches do not form a full grid."""
        axes = self.grid.axes
        if math.prod(len(axis) for axis in axes) == len(self.grid.branches):
            return axes
        return (Axis("cell", tuple(branch.id for branch in self.grid.branches)),)

    def cells(
        self,
        values: NDArray[Any],
        more: tuple[Axis, ...] = (),
        name: str = "",
        unit: str = "",
        at_least: NDArray[Any] | None = None,
        bounds: tuple[float, float] = UNBOUNDED,
    ) -> Cells:
        """Return labelled cells from an array of values.

        Branches with equal scenarios get the values of the first of them.

        Parameters
        ----------
        values : array of shape (seed count, branches, length of each further axis)
            Values of the runs.
        more
            Further axes.
        name, unit
            Name and SI unit of the values.
        at_least : array of the same shape, optional
            Lower bounds of infinite values.
        bounds
            Minimum and maximum possible value.
        """
        further = (arguments.one_of(axis, Axis, "more", "an Axis") for axis in arguments.several(more, "more"))
        axes = (*self.axes, *further)
        shape = (len(self.seeds), *(len(axis) for axis in axes))
        wanted = (len(self.seeds), len(self.grid.branches), *(len(axis) for axis in more))

        def labelled(numbers: NDArray[Any]) -> NDArray[np.float64]:
            found = arguments.values(numbers, "values")
            if found.size != math.prod(wanted):
                expected = f"{wanted} (seeds, branches, further axes)"
                raise InputError(f"expected values of shape {expected}, got {found.shape}")
            found = found.reshape(len(self.seeds), len(self.grid.branches), -1)
            return found[:, self.grid.firsts].reshape(shape)

        limits = None if at_least is None else labelled(at_least)
        same = self.repeated.reshape(1, *shape[1 : 1 + len(self.axes)], *(1 for _ in more))
        repeated = np.broadcast_to(same, (1, *shape[1:]))
        return Cells(labelled(values), axes, self.seeds, name, unit, limits, bounds, repeated)

    @functools.cached_property
    def repeated(self) -> NDArray[np.bool_]:
        """Whether all seeds of a combination gave equal runs, by their digests; shape (length of each axis).

        Such a combination contains nothing random, so its runs count as one observation.
        """
        shape = tuple(len(axis) for axis in self.axes)
        if len(self.seeds) == 1:
            return np.zeros(shape, dtype=bool)
        digests = np.array(self.digests("metrics_sha256"), dtype=object).reshape(-1, len(self.seeds))
        return np.asarray((digests == digests[:, :1]).all(axis=1)).reshape(shape)

    def each(self, function: Callable[[Run], Any], *more: Axis, name: str = "", unit: str = "") -> Cells:
        """Reduce every run to a number, or to an array with the axes ``more``.

        Parameters
        ----------
        function
            Function that returns the value of a run, NaN if undefined.
        *more
            Further axes of the value.
        name, unit
            Name and SI unit of the value.
        """
        arguments.function(function, "function")
        found = [[function(self.run(branch, seed)) for branch in self.grid.branches] for seed in self.seeds]
        return self.cells(np.array(found), more, name, unit)

    @property
    def observations(self) -> tuple[str, ...]:
        """Names of the observations, in the order of the scenario."""
        return self.grid.branches[0].observe

    def __getitem__(self, name: str) -> Observed:
        """Return the observation with this name in ``[[observe]]``.

        Raises
        ------
        InputError
            If it does not exist; the message names the nearest.
        """
        if arguments.text(name, "observation") not in self.observations:
            raise InputError(f"the study has no observation {name!r}; {nearest(name, self.observations)}")
        return Observed(self, name)

    def pieces(self, table: str) -> Iterator[Table]:
        """Yield the rows of :meth:`table` in parts, so that they need not fit into memory at once."""
        table = self._table_name(table)
        for part in sorted(self.store.parts, key=lambda part: min(seed for _, seed in part.places)):
            found, _ = self.rows(table, parts=[part])
            if len(found):
                yield found

    def rows(
        self, table: str, columns: Sequence[str] | None = None, parts: Sequence[Part] | None = None
    ) -> tuple[Table, NDArray[np.int64]]:
        """Return a table of all runs, and the run of each row: seed index times number of branches plus branch index.

        Branches that repeat the scenario of an earlier one have no separate rows.
        """
        table = arguments.text(table, "table")
        if columns is not None:
            columns = arguments.texts(columns, "columns")
        if parts is not None:
            parts = [
                arguments.one_of(part, Part, "parts", "parts of the store")
                for part in arguments.several(parts, "parts")
            ]
        count = len(self.grid.branches)
        branches = {self.grid.branches[cell].id: cell for cell in self.grid.distinct}
        seeds = {seed: at for at, seed in enumerate(self.seeds)}
        chosen, of_run, lengths = [], [], []
        for part in self.store.parts if parts is None else parts:
            at = [
                seeds[seed] * count + branches[cell]
                if seed in seeds and cell in branches and self.store.holds(part, cell, seed)
                else -1
                for cell, seed in part.places
            ]
            if max(at) >= 0 and table in part.manifest["files"]:
                chosen.append(part)
                of_run += at
                lengths += part.manifest["files"][table]["rows"]
        metadata, found = self.store.read(table, chosen, columns) if chosen else ({}, {})
        run = np.repeat(np.array(of_run, dtype=np.int64), np.array(lengths, dtype=np.int64))
        whole = Table.read(metadata, found)
        # A part may contain seeds of other calls.
        return (whole, run) if (run >= 0).all() else (whole.rows(run >= 0), run[run >= 0])

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table:
        """Return a table of all runs, such as an observation, ``scalars``, ``runs`` or ``switches``.

        Parameters
        ----------
        name
            One of :attr:`tables`.
        columns
            Names of columns; by default all.

        Raises
        ------
        InputError
            If the table or a column does not exist; the message names the nearest.
        """
        wanted = None if columns is None else arguments.texts(columns, "columns")
        found = self.rows(self._table_name(name), wanted)[0]
        for column in wanted or ():
            # A table without any rows may have no columns.
            if column not in found.columns and (known := self.rows(name)[0].columns):
                raise InputError(f"table {name!r} has no column {column!r}; {nearest(column, known)}")
        return found

    def _table_name(self, name: str) -> str:
        if arguments.text(name, "table") not in self.tables:
            raise InputError(f"the study has no table {name!r}; {nearest(name, self.tables)}")
        return name

    def digests(self, name: str) -> list[str]:
        """Return a text column of the table ``runs``, such as ``metrics_sha256``, in (combination, seed) order."""
        name = arguments.text(name, "name")
        if name not in self._memo:
            table, run = self.rows("runs", [name])
            texts = np.empty((len(self.seeds), len(self.grid.branches)), dtype=object)
            texts.flat[run] = table[name] if self.seeds else ()
            self._memo[name] = texts[:, self.grid.firsts].T.ravel().tolist()
        found: list[str] = self._memo[name]
        return found

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of all tables of these runs."""
        names = {table for part in self.store.parts for table in part.manifest["files"]}
        return tuple(sorted(names, key=lambda name: (name not in self.observations, name)))

    @functools.cached_property
    def metrics(self) -> dict[str, Cells]:
        """All metrics by name, with a further axis (group, port, fibre or reason) if the metric has one.

        A value that exceeds the end of the run is infinite; :attr:`Cells.at_least` has its lower bound.
        """
        table, run = self.rows("scalars", ["metric", "of", "value", "at_least"])
        values, at_least = table.numbers("value"), table.numbers("at_least")
        (of_metric, names), (of, texts) = table.coded("metric"), table.coded("of")
        found = {}
        for about in _core.metrics():
            mine = of_metric == names.index(about["name"]) if about["name"] in names else np.zeros(0, dtype=bool)
            if about["name"] == DROPS:
                mine &= np.isin(of, of[mine & (values > 0)])  # reasons that occurred in some run
            if not mine.any():
                continue
            codes, place = np.unique(of[mine], return_inverse=True)
            shape = (self.places, len(codes))
            cells, bounds = (np.full(shape, np.nan) for _ in range(2))
            cells[run[mine], place], bounds[run[mine], place] = values[mine], at_least[mine]
            more = (Axis(about["of"], tuple(texts[code] for code in codes)),) if about["of"] else ()
            found[about["name"]] = self.cells(cells, more, about["name"], about["unit"], bounds, about["bounds"])
        return found

    @functools.cached_property
    def completions(self) -> dict[str, Samples]:
        """Completion times of flows, by group, from the first observation of each group.

        The time of an unfinished flow is infinite; :attr:`Samples.at_least` has its time until the end of the run. This
        is also infinite if the sender gave up.

        Examples
        --------
        >>> from optcp import Study
        >>> done = Study("web-and-elephant", seeds=2).run()
        >>> done.completions["web"].quantile(0.99).n
        array(2)
        """
        branches = self.grid.branches
        watching: dict[str, str] = {}
        for one in itertools.chain.from_iterable(branch.resolved["observe"] for branch in branches):
            if one["kind"] == "completions":
                watching = dict.fromkeys(one["groups"], one["name"]) | watching
        found = {}
        for group, observation in watching.items():
            table, run = self.rows(observation, ["time_ps", "start_ps", "group", "finished", "aborted"])
            codes, texts = table.coded("group")
            ours = codes == (texts.index(group) if group in texts else -1)
            lasted_s = (table.numbers("time_ps") - table.numbers("start_ps"))[ours] / PICOSECONDS_A_SECOND
            lasted_s[table.numbers("aborted").astype(bool)[ours]] = np.inf
            took_s = np.where(table.numbers("finished").astype(bool)[ours], lasted_s, np.inf)
            order = np.argsort(run[ours], kind="stable")
            ends = np.searchsorted(run[ours][order], np.arange(1, self.places))
            times, bounds = (self._by_run(np.split(column[order], ends)) for column in (took_s, lasted_s))
            found[group] = Samples(
                times, self.axes, self.seeds, "completion", "s", bounds, (0.0, np.inf), self.repeated[np.newaxis]
            )
        return found

    def _by_run(self, arrays: Sequence[NDArray[np.float64]]) -> NDArray[Any]:
        """Return one array per run as an object array of shape (seed count, length of each axis)."""
        values = np.empty(self.places, dtype=object)
        for at, one in enumerate(arrays):
            values[at] = one
        shape = (len(self.seeds), *(len(axis) for axis in self.axes))
        return values.reshape(len(self.seeds), len(self.grid.branches))[:, self.grid.firsts].reshape(shape)

    def compare(self, *, at: Mapping[str, str | float], metrics: Sequence[str] | None = None) -> Comparison:
        """Compare the metrics of each combination with a reference, paired by seed.

        See :func:`optcp.data.compare.compare`.

        Parameters
        ----------
        at
            Reference values by axis. Along other axes, each combination is compared with the reference of equal values.
            Metrics without these axes are omitted.
        metrics
            Names of metrics; by default all.

        Raises
        ------
        InputError
            If an axis, value or metric does not exist; the message names the nearest.

        Examples
        --------
        >>> from optcp import Study
        >>> done = Study("single-failure", {"parameters.switch_delay": ["0 ms", "50 ms"]}, seeds=3).run()
        >>> row = done.compare(at={"switch_delay": "0 ms"}, metrics=["drop_share"]).rows[0]
        >>> row.cell, row.n
        ({'switch_delay': '50 ms'}, 3)
        """
        from optcp.data.compare import compare

        chosen = (
            self.metrics
            if metrics is None
            else {name: self.metric(name) for name in arguments.texts(metrics, "metrics")}
        )
        known = {axis.name: axis for cells in chosen.values() for axis in cells.axes}
        for name in arguments.mapping(at, "at", "a mapping of axes to values"):
            position(list(known.values()), name)
        have = {name: cells for name, cells in chosen.items() if set(at) <= {axis.name for axis in cells.axes}}
        if not have:
            raise InputError(f"no metric has the axes {' and '.join(at)}")
        return compare(have, at=at)

    def report(self, path: str | Path) -> Path:
        """Write a self-contained HTML page of the study: scenario, metrics, comparison, figures, provenance."""
        from optcp.report.study import write

        file = arguments.path(path, "path")
        if file.is_dir():
            raise arguments.refused(path, "path", "a file; this is a directory")
        return write(self, file)

    def __repr__(self) -> str:
        from optcp.study.study import described

        observed = ", ".join(self.observations) or "none"
        return f"{described(self.grid, self.seeds)}\nobservations: {observed}\nmetrics: {', '.join(self.metrics)}"

    def _repr_html_(self) -> str:
        from optcp.data.labelled import html_table
        from optcp.plots.network import of_world
        from optcp.study.study import described

        about = {one["name"]: one["summary"] for one in _core.metrics()}
        rows = [
            [name, cells.unit, ", ".join(axis.name for axis in cells.axes), about[name]]
            for name, cells in self.metrics.items()
        ]
        world = of_world(self.grid.branches[0].resolved)
        return world + html_table(described(self.grid, self.seeds), ["metric", "unit", "axes", "description"], rows)

    def metric(self, name: str) -> Cells:
        """Return one of :attr:`metrics`.

        Raises
        ------
        InputError
            If it does not exist; the message names the nearest.
        """
        if arguments.text(name, "metric") not in self.metrics:
            about = next((one["summary"] for one in _core.metrics() if one["name"] == name), "")
            known = f": {about}" if about else f"; {nearest(name, self.metrics)}"
            raise InputError(f"these runs have no metric {name!r}{known}")
        return self.metrics[name]


Done = StudyResult
"""Former name of :class:`StudyResult`."""
