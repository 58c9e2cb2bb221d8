"""Study: scenario, swept parameters and seeds."""

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
"""Maximum number of seeds of a study, so that the records of its runs fit into memory."""


@dataclass(frozen=True, init=False, repr=False)
class Study:
    """Scenario with swept parameters and seeds.

    Parameters
    ----------
    world
        Scenario, scenario file or name of a shipped scenario; or a grid.
    over
        Axes: a key path with its values, as for :meth:`optcp.Scenario.set`, or a name with the settings of each value.
        The default is the ``[sweep]`` of the scenario.
    seeds
        Number of seeds, counted from 1, or list of seeds.
    title
        Title in progress lines; by default the title of the scenario.
    digest
        Whether to compute ``records_sha256``, which takes longer.
    fork
        Whether to simulate the common start of parameter combinations only once; results are equal.
    engine
        "fast" or "reference"; results are equal.

    Raises
    ------
    InputError
        If a seed or value is invalid, an axis has no values, or the study does not fit into memory.
    ScenarioError
        If the scenario of any parameter combination is invalid.

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
        # Experiments may have complete grids without missing runs.
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
        """Warnings about probable mistakes in the scenarios. Those about seeds need the runs."""
        found = of_cells([branch.scenario for branch in self.grid.branches])
        # The scenarios of combinations have no axes.
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
        """Run the study; stored runs are reused.

        Ctrl-C keeps the finished runs, and the same call continues.

        Parameters
        ----------
        out
            Directory of the study; by default a temporary one that is removed with the result.
        jobs
            Number of threads; by default the number of processors.
        executor
            Executor of ``concurrent.futures`` or joblib, or Dask's ``Client``, instead of threads. Its workers need the
            same version of optcp, but no files of this machine.
        threads
            Number of threads per run. With more than one, runs are sequential; see :meth:`optcp.Scenario.run`.
        progress
            Receiver of progress; by default a bar on a terminal.
        force
            Whether to replace another study in the directory.
        until
            Function that returns the differences to decide, from the runs so far. Seeds are added in stages that
            double, until the mean of every cell is significantly above or below zero, or ``most`` is reached. Each
            interim look has its own level (:mod:`optcp.stats.sequential`) and corrects its cells by Holm, so the
            familywise error rate is below 5 %. The reference, which is zero in every seed, needs no decision. Other
            cells that are zero in every seed stay undecided up to ``most``.
        most
            Maximum number of seeds with ``until``, as a multiple of the initial number.

        Raises
        ------
        InputError
            If the directory holds another study, if ``most`` leaves no second look, or if ``threads`` is too large.
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
            raise InputError("give either jobs (threads of this process) or an executor, not both")
        check_threads(threads, self.grid.engine)
        if threads > 1 and (executor is not None or (jobs or 1) > 1):
            raise InputError("threads > 1 cannot be combined with jobs or an executor, because runs are sequential")
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
    """Return the title, parameter combinations and seeds of a grid in one line."""
    axes = " x ".join(f"{axis.name} ({', '.join(axis.shown)})" for axis in grid.axes)
    cells = f"{len(grid.branches)} cells of {axes}" if axes else "one cell"
    if not seeds:
        return f"{grid.title}: {cells}, no seed"
    ends = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{grid.title}: {cells}, {ends}"


class _Temporary:
    """Temporary directory that is removed with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="optcp-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def decided(differences: Cells, level: float) -> bool:
    """Whether the mean of every cell is significantly different from zero, corrected by Holm.

    Parameters
    ----------
    level
        Level of all tests together, such as 0.05.
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
    """Whether exactly the reference cells of ``cells - cells.at(...)`` are zero.

    Parameters
    ----------
    zero : array of shape (length of each axis)
        Whether a cell is zero in every seed.
    """
    if zero.all():
        return False
    axes = range(zero.ndim)
    along = [zero.any(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    block = functools.reduce(np.logical_and.outer, along)
    return bool((zero == block).all()) and all(have.all() or have.sum() == 1 for have in along)


def _values(axis: str, values: Values) -> Values:
    """Return the values of an axis, at least one."""
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
    """Return the distinct seeds of a number or list of seeds."""
    if not isinstance(seeds, Iterable):
        return tuple(range(1, 1 + arguments.whole(seeds, "seeds", 1, MOST_SEEDS)))
    found = arguments.several(seeds, "seeds", "a number of seeds or a list of seeds")
    return tuple(dict.fromkeys(check_seed(seed) for seed in found))
