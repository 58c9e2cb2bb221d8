"""The finished runs of a study: observations by name, metrics as labelled cells."""

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
    def open(cls, directory: str | Path, check: Callable[[Grid], None] | None = None) -> StudyResult:
        """Read a study back: the cells of the command that wrote it last, and the seeds that all of them have.

        Parameters
        ----------
        check
            Called with the grid before any run is looked up, to refuse what a study of it cannot have.

        Raises
        ------
        InputError
            If there is no study, or no seed of which every cell is there.
        Damaged
            If it cannot be read.
        """
        store = Store(arguments.path(directory, "directory"))
        grid = store.grid()
        if check is not None:
            check(grid)
        store.scan()
        seeds = store.seeds(grid)
        if not seeds:
            raise InputError(f"{directory}: of no seed every cell is there; the command that made it goes on with it")
        return cls(grid, seeds, store)

    def once(self, reduce: Callable[[StudyResult], T]) -> T:
        """Call ``reduce`` on this study once, however many exhibits ask for its result."""
        if arguments.function(reduce, "reduce") not in self._memo:
            self._memo[reduce] = reduce(self)
        result: T = self._memo[reduce]
        return result

    def __iter__(self) -> Iterator[tuple[int, list[Run]]]:
        """Each seed with its runs, one a branch, in the order of the branches."""
        for seed in self.seeds:
            yield seed, self.runs(seed)

    def runs(self, seed: int) -> list[Run]:
        """The runs of a seed, one a branch, in the order of the branches."""
        return [self.run(branch, seed) for branch in self.grid.branches]

    def run(self, branch: Branch, seed: int) -> Run:
        """One run.

        Parameters
        ----------
        branch
            One of ``grid.branches``.
        seed
            One of ``seeds``.

        Raises
        ------
        InputError
            If it is no branch, or there is no such run.
        """
        if not isinstance(branch, Branch):
            raise arguments.refused(branch, "branch", "one of the branches of the study, such as done.grid.branches[0]")
        seed = arguments.whole(seed, "seed")
        try:
            part = self.store.part(branch, seed)
        except KeyError:
            raise InputError(f"there is no run of cell {branch.id!r} with seed {arguments.shown(seed)}") from None
        read = functools.partial(self.store.run_table, part=part, cell=branch.id, seed=seed)
        return Run(branch, seed, read, self.store.root)

    @property
    def places(self) -> int:
        """How many runs there are with those of equal cells: one a seed and branch."""
        return len(self.seeds) * len(self.grid.branches)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the grid; one axis ``cell`` where the cells are no grid."""
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
        """Label values of shape (seeds, branches, length of each further axis), and lower bounds of infinite ones.

        ``bounds`` are those of the quantity.

        Cells that are the world of an earlier one have its values, whatever is given for them.
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
        """Cells of which all seeds gave the same run, by the digests of the runs; shape (length of each axis).

        Nothing random reaches such a cell: its runs are one observation.
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
            From a run to its value, NaN where it is undefined.
        """
        arguments.function(function, "function")
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
        if arguments.text(name, "observation") not in self.observations:
            raise InputError(f"the study has no observation {name!r}; {nearest(name, self.observations)}")
        return Observed(self, name)

    def pieces(self, table: str) -> Iterator[Table]:
        """The same rows as :meth:`table` has, a part of the files at a time: what need not fit into memory at once."""
        table = self._table_name(table)
        for part in sorted(self.store.parts, key=lambda part: min(seed for _, seed in part.places)):
            found, _ = self.rows(table, parts=[part])
            if len(found):
                yield found

    def rows(
        self, table: str, columns: Sequence[str] | None = None, parts: Sequence[Part] | None = None
    ) -> tuple[Table, NDArray[np.int64]]:
        """A table of all runs, and the run of each row: the place of its seed times the branches plus its branch's.

        Cells that are the world of an earlier one have no rows of their own.
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
        # Seeds of other calls may be in the same parts.
        return (whole, run) if (run >= 0).all() else (whole.rows(run >= 0), run[run >= 0])

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table:
        """A table of all runs: an observation, ``scalars``, ``runs``, ``switches`` and what else the study has.

        Parameters
        ----------
        name
            One of :attr:`tables`.
        columns
            Their names; left out, all.

        Raises
        ------
        InputError
            If there is no such table or column; the message names the nearest.
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
        """A column of texts of the table ``runs``, such as ``metrics_sha256``: a text a run, in (cell, seed) order."""
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
        """The names of all tables of these runs."""
        names = {table for part in self.store.parts for table in part.manifest["files"]}
        return tuple(sorted(names, key=lambda name: (name not in self.observations, name)))

    @functools.cached_property
    def metrics(self) -> dict[str, Cells]:
        """Every metric by name, with an axis (group, port, reason) where there is one each of several.

        A value that the end of a run cuts is infinite, and :attr:`Cells.at_least` has its lower bound.
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
        """Completion times of flows, by group; of several observations of a group the first counts.

        The time of a flow that had not ended with the run is infinite; :attr:`Samples.at_least` has how long it lasted
        up to there.

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
            table, run = self.rows(observation, ["time_ps", "start_ps", "group", "finished"])
            codes, texts = table.coded("group")
            ours = codes == (texts.index(group) if group in texts else -1)
            lasted_s = (table.numbers("time_ps") - table.numbers("start_ps"))[ours] / PICOSECONDS_A_SECOND
            took_s = np.where(table.numbers("finished").astype(bool)[ours], lasted_s, np.inf)
            order = np.argsort(run[ours], kind="stable")
            ends = np.searchsorted(run[ours][order], np.arange(1, self.places))
            times, bounds = (self._by_run(np.split(column[order], ends)) for column in (took_s, lasted_s))
            found[group] = Samples(
                times, self.axes, self.seeds, "completion", "s", bounds, (0.0, np.inf), self.repeated[np.newaxis]
            )
        return found

    def _by_run(self, arrays: Sequence[NDArray[np.float64]]) -> NDArray[Any]:
        """Arrays of each run, seed by seed, as labelled cells: shape (seeds, length of each axis), of objects."""
        values = np.empty(self.places, dtype=object)
        for at, one in enumerate(arrays):
            values[at] = one
        shape = (len(self.seeds), *(len(axis) for axis in self.axes))
        return values.reshape(len(self.seeds), len(self.grid.branches))[:, self.grid.firsts].reshape(shape)

    def compare(self, *, at: Mapping[str, str | float], metrics: Sequence[str] | None = None) -> Comparison:
        """Compare metrics in each cell with one cell, paired by seed: :func:`optcp.compare.compare`.

        Parameters
        ----------
        at
            The reference: a value for each axis that is fixed. Along the others, each cell is compared with the
            reference of its own. Metrics without these axes are left out.
        metrics
            Their names; left out, all.

        Raises
        ------
        InputError
            If there is no such axis, value or metric; the message names the nearest.

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
        """Write one HTML page of the study, which needs no network: world, metrics, comparison, figures, provenance."""
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
        return world + html_table(described(self.grid, self.seeds), ["metric", "unit", "axes", "what it is"], rows)

    def metric(self, name: str) -> Cells:
        """One of :attr:`metrics`.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        """
        if arguments.text(name, "metric") not in self.metrics:
            about = next((one["summary"] for one in _core.metrics() if one["name"] == name), "")
            known = f": {about}" if about else f"; {nearest(name, self.metrics)}"
            raise InputError(f"these runs have no metric {name!r}{known}")
        return self.metrics[name]


Done = StudyResult
"""Former name of :class:`StudyResult`."""
