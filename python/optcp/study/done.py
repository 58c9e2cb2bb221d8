"""The finished runs of a study: observations by name, metrics as labelled cells."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from optcp import _core
from optcp.axes import Axis
from optcp.cells import Cells
from optcp.errors import Damaged, InputError, nearest
from optcp.labelled import position
from optcp.samples import Samples
from optcp.study.observed import Observed
from optcp.study.store import Store
from optcp.table import PICOSECONDS_A_SECOND, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from optcp.compare import Comparison
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
    """One stored run.

    It has what :class:`RunData` and :class:`optcp.run.OneRun` say; ``run["tcp"]`` is an observation.
    """

    seed: int
    _branch: Branch = field(repr=False)
    _part: Part = field(repr=False)
    _store: Store = field(repr=False)

    @property
    def id(self) -> str:
        """What it is called in the names of files."""
        return f"{self._branch.id}-seed-{self.seed}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its observations, in the order of the scenario."""
        return self._branch.observe

    @property
    def scenario(self) -> dict[str, Any]:
        """The world with every default filled in."""
        return self._branch.resolved

    @property
    def cell(self) -> dict[str, str]:
        """Axis (a key path of the scenario) to the value as written."""
        return self._branch.key

    def __getitem__(self, name: str) -> Table:
        """An observation by the name that it has in ``[[observe]]``.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        Damaged
            If its file is not as it was written.
        """
        if name not in self.names:
            raise InputError(f"the run has no observation {name!r}; {nearest(name, self.names)}")
        return self._table(name)

    def plot(
        self,
        kind: str,
        *,
        flow: str | int | Sequence[str] = (),
        port: str | Sequence[str] = (),
        start: str | float | None = None,
        end: str | float | None = None,
        observation: str | None = None,
    ) -> list[Axes]:
        """Draw what was observed; see :meth:`optcp.Run.plot`."""
        from optcp.plots.trace import plot

        return plot(self, kind, flow=flow, port=port, start=start, end=end, observation=observation)

    @contextlib.contextmanager
    def trusted(self) -> Iterator[None]:
        """Read what only some commands need of the stored world, without a look at it before.

        Raises
        ------
        Damaged
            If it is not there, or something else is in its place.
        """
        try:
            yield
        except InputError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            path = self._store.root / "cells" / f"{self._branch.id}.json"
            raise Damaged(path, f"not what is read of a run ({error!r})") from error

    def _table(self, name: str) -> Table:
        return self._store.run_table(name, self._part, self._branch.id, self.seed)

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
        found = {name: int(value) for name, value in self._run.items() if not name.endswith("sha256")}
        # Only protection 1+1 has copies.
        return {name: count for name, count in found.items() if count or name != "copied"}

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
    def arrived(self) -> dict[str, list[int]]:
        """By group, the flows that came at random, in the order of their numbers: places of their routes."""
        table = self._table("arrived")
        groups = table.distinct("group") if len(table) else ()
        return {group: table.where(group=group)["route"].tolist() for group in groups}

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
        return {name: _series(*self._store.run_columns(name, self._part, self._branch.id, self.seed))
                for name in self.names}  # fmt: skip


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
        return StoredRun(seed, branch, part, self.store)

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

    def pieces(self, table: str) -> Iterator[Table]:
        """The same rows as :meth:`table` has, a part of the files at a time: what need not fit into memory at once."""
        for part in sorted(self.store.parts, key=lambda part: min(seed for _, seed in part.places)):
            found, _ = self.rows(table, parts=[part])
            if len(found):
                yield found

    def rows(
        self, table: str, columns: Sequence[str] | None = None, parts: Sequence[Part] | None = None
    ) -> tuple[Table, NDArray[np.int64]]:
        """A table of all runs, and the run of each row: the place of its seed times the branches plus its branch's."""
        branches = {branch.id: at for at, branch in enumerate(self.grid.branches)}
        seeds = {seed: at for at, seed in enumerate(self.seeds)}
        chosen, of_run, lengths = [], [], []
        for part in self.store.parts if parts is None else parts:
            at = [
                seeds[seed] * len(branches) + branches[cell]
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
        interval_ps = metadata.get("optcp.interval_ps")
        whole = Table(found, int(interval_ps) / PICOSECONDS_A_SECOND if interval_ps else None)
        # Seeds of other calls may be in the same parts.
        return (whole, run) if (run >= 0).all() else (whole.rows(run >= 0), run[run >= 0])

    def table(self, name: str, columns: Sequence[str] | None = None) -> Table:
        """A table of all runs: an observation, ``scalars``, ``runs``, ``switches``, ``reroutes`` or ``arrived``."""
        return self.rows(name, columns)[0]

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables of these runs."""
        names = {table for part in self.store.parts for table in part.manifest["files"]}
        return tuple(sorted(names, key=lambda name: (name not in self.observations, name)))

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

    @functools.cached_property
    def completions(self) -> dict[str, Samples]:
        """How long flows took that ended, by group; of several observations of a group the first counts.

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
            ours = table.numbers("finished").astype(bool) & (codes == (texts.index(group) if group in texts else -1))
            took_s = (table.numbers("time_ps") - table.numbers("start_ps"))[ours] / PICOSECONDS_A_SECOND
            order = np.argsort(run[ours], kind="stable")
            values = np.empty(len(self.seeds) * len(branches), dtype=object)
            ends = np.searchsorted(run[ours][order], np.arange(1, values.size))
            for at, one in enumerate(np.split(took_s[order], ends)):
                values[at] = one
            shape = (len(self.seeds), *(len(axis) for axis in self.axes))
            found[group] = Samples(values.reshape(shape), self.axes, self.seeds, "completion", "s")
        return found

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
        from optcp.compare import compare

        chosen = self.metrics if metrics is None else {name: self.metric(name) for name in metrics}
        known = {axis.name: axis for cells in chosen.values() for axis in cells.axes}
        for name in at:
            position(list(known.values()), name)
        have = {name: cells for name, cells in chosen.items() if set(at) <= {axis.name for axis in cells.axes}}
        if not have:
            raise InputError(f"no metric has the axes {' and '.join(at)}")
        return compare(have, at=at)

    def report(self, path: str | Path) -> Path:
        """Write one HTML page of the study, which needs no network: world, metrics, comparison, figures, provenance."""
        from optcp.report.study import write

        return write(self, Path(path))

    def __repr__(self) -> str:
        from optcp.study.study import described

        observed = ", ".join(self.observations) or "none"
        return f"{described(self.grid, self.seeds)}\nobservations: {observed}\nmetrics: {', '.join(self.metrics)}"

    def _repr_html_(self) -> str:
        from optcp.labelled import html_table
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
        if name not in self.metrics:
            about = next((one["summary"] for one in _core.metrics() if one["name"] == name), "")
            known = f": {about}" if about else f"; {nearest(name, self.metrics)}"
            raise InputError(f"these runs have no metric {name!r}{known}")
        return self.metrics[name]
