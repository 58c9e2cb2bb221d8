"""A study: a grid of worlds and the seeds of each."""

from __future__ import annotations

import functools
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.common import arguments
from optcp.errors import InputError
from optcp.scenarios.scenario import ENGINES, Scenario, check_seed, load
from optcp.scenarios.warned import ScenarioWarning, of_cells
from optcp.stats import sequential
from optcp.study import room
from optcp.study.grid import Grid, Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.data.cells import Cells
    from optcp.study.done import StudyResult
    from optcp.study.pool import Executor, Progress

MOST_SEEDS = 1_000_000
"""Of a study: the records of its runs must fit into memory."""


@dataclass(frozen=True, init=False, repr=False)
class Study:
    """A scenario, axes and seeds: which runs are wanted.

    Parameters
    ----------
    world
        A scenario, its file, or the name of a shipped one; or a whole grid.
    over
        The axes: a key path and its values, as :meth:`optcp.Scenario.set` takes them; or a name, and for each of its
        values the settings that it stands for. Left out, they are those of the scenario's ``[sweep]``.
    seeds
        So many, from 1 on; or which.
    title
        For progress lines; the scenario's own if left out.
    digest
        Whether ``records_sha256`` is wanted, which takes longer.
    fork, engine
        How runs are made: whether cells share their warm-up, "fast" or "reference". Results are equal.

    Raises
    ------
    InputError
        If a seed or a value is none, an axis has no values, or the study does not fit into memory.
    ScenarioError
        If there is no such world; every cell is checked.

    Examples
    --------
    >>> study = Study("single-failure", {"parameters.switch_delay": ["0 ms", "50 ms"]}, seeds=3)
    >>> study
    One link fails, is protected, repaired and reverted to: 2 cells of switch_delay (0 ms, 50 ms), seeds 1 to 3
    >>> done = study.run()
    >>> goodput = done["goodput"].between("5 s", "7 s").total("group")
    >>> (goodput - goodput.at(switch_delay="0 ms")).at(switch_delay="50 ms").mean().n
    array(3)
    """

    grid: Grid
    seeds: tuple[int, ...]
    _of_axes: tuple[ScenarioWarning, ...] = field(compare=False)

    def __init__(
        self,
        world: Grid | Scenario | str | Path,
        over: Mapping[str, Values] | None = None,
        *,
        seeds: int | Sequence[int] = 1,
        title: str | None = None,
        digest: bool = False,
        fork: bool = True,
        engine: str = ENGINES[0],
    ) -> None:
        of_axes: tuple[ScenarioWarning, ...] = ()
        chosen = _seeds(seeds)
        # Exhibits have grids of which nothing is missing.
        if not chosen and not isinstance(world, Grid):
            raise InputError("seeds: the list is empty; a study has 1 seed or more")
        if not isinstance(world, Grid):
            scenario = world if isinstance(world, Scenario) else load(world)
            axes = scenario.axes if over is None else arguments.mapping(over, "over", "a mapping of axes to values")
            of_axes = scenario.warnings if over is None else ()
            world = Grid.grid(
                scenario.core,
                {},
                {arguments.text(name, "name of an axis"): _values(name, values) for name, values in axes.items()},
                title=None if title is None else arguments.text(title, "title"),
                digest=arguments.flag(digest, "digest"),
                fork=arguments.flag(fork, "fork"),
                engine=arguments.choice(engine, "engine", ENGINES),
            )
        object.__setattr__(self, "_of_axes", of_axes)
        object.__setattr__(self, "grid", world)
        object.__setattr__(self, "seeds", chosen)
        room.check_count(len(world.branches) * len(self.seeds), room.RUN, "runs")

    @property
    def warnings(self) -> tuple[ScenarioWarning, ...]:
        """What is possible and hardly meant in its cells, and of the number of seeds."""
        found = of_cells([branch.scenario for branch in self.grid.branches], len(self.seeds))
        # Cells have no axes any more.
        return (*(one for one in self._of_axes if one.name == "idle-in-sweep"), *found)

    def run(
        self,
        out: str | Path | None = None,
        *,
        jobs: int | None = None,
        executor: Executor | None = None,
        threads: int = 1,
        progress: Progress | None = None,
        force: bool = False,
        until: Callable[[StudyResult], Cells] | None = None,
        most: int = 8,
    ) -> StudyResult:
        """Make the runs that are not stored yet. Ctrl-C keeps those that are finished; the same call goes on.

        Parameters
        ----------
        out
            The study's directory; left out, one that is removed with the result.
        jobs
            Threads; as many as there are processors if left out.
        executor
            Makes the runs instead of threads: of ``concurrent.futures`` or joblib, or Dask's ``Client``. Its workers
            need optcp of the same version, and no file of this machine.
        threads
            Of each run; with more than one, runs follow one another. See :meth:`optcp.Scenario.run`.
        progress
            Notified of progress; left out, a bar on a terminal.
        force
            Whether another study in the directory is replaced.
        until
            From the runs so far to differences that are to be decided. Seeds are then added in stages that double,
            until the mean of each cell is significantly above or below zero, or ``most`` is reached: each look tests at
            a level of its own (:mod:`optcp.stats.sequential`), its cells corrected by Holm, so that the chance to be
            wrong anywhere stays below 5 %. The reference, which is zero in every seed, has nothing to decide. Other
            cells that are zero in every seed have not been seen to vary: seeds are added up to ``most``.
        most
            With ``until``: at most so many times the seeds.

        Raises
        ------
        InputError
            If another study is in the directory, with what differs; if ``most`` leaves no second look; or if there
            cannot be so many threads.
        Interrupted, RunFailed
            See :func:`optcp.study.runner.execute`.
        """
        from optcp.common.processors import check_threads, processors
        from optcp.data.cells import Cells
        from optcp.study.done import StudyResult
        from optcp.study.progress import on_terminal
        from optcp.study.runner import run_missing
        from optcp.study.store import Store

        jobs = None if jobs is None else arguments.whole(jobs, "jobs", 1)
        threads, most = arguments.whole(threads, "threads"), arguments.whole(most, "most")
        force = arguments.flag(force, "force")
        if until is not None:
            arguments.function(until, "until")
        if progress is not None and not all(
            hasattr(progress, name) for name in ("start", "advance", "simulated", "stop")
        ):
            raise arguments.refused(progress, "progress", "an object with start, advance, simulated and stop")
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise arguments.refused(executor, "executor", "an executor, which has a method submit")
        if executor is not None and jobs is not None:
            raise InputError("jobs are threads of this process, an executor has its own workers: give one of them")
        check_threads(threads, self.grid.engine)
        if threads > 1 and (executor is not None or (jobs or 1) > 1):
            raise InputError("several threads a run do not go with jobs or an executor: runs follow one another")
        here = jobs or (processors() if threads == 1 else 1)
        where = here if executor is None else executor
        kept = _Temporary() if out is None else None
        store = Store(kept.path if kept else arguments.path(out, "out"))
        store.open(self.grid, force=force)

        def made(seeds: tuple[int, ...]) -> StudyResult:
            run_missing([(Study(self.grid, seeds=seeds), store)], where, progress or on_terminal(), threads=threads)
            return StudyResult(self.grid, seeds, store, kept)

        if until is None:
            return made(self.seeds)
        try:
            looks = sequential.looks(most)
        except ValueError as error:
            raise InputError(str(error)) from error
        if most * len(self.seeds) > MOST_SEEDS:
            raise InputError(f"most: {most} times {len(self.seeds)} seeds are more than {MOST_SEEDS}")
        for times in looks:
            last = check_seed(max(self.seeds) + (times - 1) * len(self.seeds))
            more = range(max(self.seeds) + 1, last + 1)
            done = made((*self.seeds, *more))
            differences = arguments.one_of(until(done), Cells, "until", "a function from the runs to cells")
            if decided(differences, sequential.level(len(looks))):
                break
        return done

    def __repr__(self) -> str:
        return described(self.grid, self.seeds)


def described(grid: Grid, seeds: Sequence[int]) -> str:
    """What a grid is of, its cells and seeds, in a line."""
    axes = " x ".join(f"{axis.name} ({', '.join(axis.shown)})" for axis in grid.axes)
    cells = f"{len(grid.branches)} cells of {axes}" if axes else "one cell"
    if not seeds:
        return f"{grid.title}: {cells}, no seed"
    ends = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{grid.title}: {cells}, {ends}"


class _Temporary:
    """A directory that goes with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="optcp-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def decided(differences: Cells, level: float) -> bool:
    """Whether the mean of every cell is significantly above or below zero, all of them corrected together by Holm.

    Parameters
    ----------
    level
        Of the tests together, such as 0.05.
    """
    from optcp import stats

    zero = (differences.values == 0).all(axis=0)
    if zero.any() and not _is_reference(zero):
        return False
    columns = differences.values.reshape(len(differences.seeds), -1).T
    open_ = [column[~np.isnan(column)] for column in columns if np.any(column != 0)]
    if any(column.size < 2 for column in open_):
        return False
    return all(stats.holm([stats.paired(column, np.zeros_like(column)).p for column in open_], level))


def _is_reference(zero: NDArray[np.bool_]) -> bool:
    """Whether the cells that are zero are those of one value of some axes, as of ``cells - cells.at(...)``.

    Parameters
    ----------
    zero
        Shape (length of each axis).
    """
    if zero.all():
        return False
    axes = range(zero.ndim)
    along = [zero.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    block = functools.reduce(np.logical_and.outer, along)
    return bool((zero == block).all()) and all(have.all() or have.sum() == 1 for have in along)


def _values(axis: str, values: Values) -> Values:
    """The values of an axis, of which there is one at least."""
    expected = f"a list of values, such as {[values] if isinstance(values, str) else ['50 ms', '300 ms']}"
    if isinstance(values, Mapping):
        found: Values = {
            str(name): arguments.mapping(of, f"value {name!r} of axis {axis!r}", "a mapping of settings")
            for name, of in values.items()
        }
    else:
        found = list(arguments.several(values, f"axis {axis!r}", expected))
    if not found:
        raise InputError(f"axis {axis!r} has no values")
    return found


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The seeds that a number or a list of them means, each once."""
    if not isinstance(seeds, Iterable):
        return tuple(range(1, 1 + arguments.whole(seeds, "seeds", 1, MOST_SEEDS)))
    found = arguments.several(seeds, "seeds", "a number of seeds or a list of seeds")
    return tuple(dict.fromkeys(check_seed(seed) for seed in found))
