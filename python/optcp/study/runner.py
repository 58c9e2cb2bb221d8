"""Execution of the missing runs of studies, in threads or on executors."""

from __future__ import annotations

import functools
import re
import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from optcp import _core
from optcp.study.done import StudyResult
from optcp.study.pool import Job, run_stages
from optcp.study.remote import World
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from optcp.scenarios.branch import Branch
    from optcp.study.grid import Grid
    from optcp.study.pool import Jobs, Progress
    from optcp.study.study import Study

MOST_CELLS = 8
"""Maximum number of combinations per call, which share their common start. Larger calls lose more on Ctrl-C."""
SINGLE = 64
"""Number of seeds times groups up to which every block has one seed, because runs may be long."""
FIRST = 16
"""Number of single-seed blocks of larger studies; their duration determines the size of the other blocks."""
HOPS_A_BLOCK = 4_000_000
"""Packet-hops per block, about 0.1 s of work, so that writing files costs little in comparison."""
MOST_SEEDS = 256
"""Maximum number of seeds per block."""
Todo = list[tuple[int, list[int]]]
"""Seeds, each with the indices of the combinations to run."""
LOOK_AGAIN_S = 0.2
"""Interval of checks whether another process has ended, in s."""


@dataclass(frozen=True)
class Block:
    """Group of parameter combinations and seeds of a study that one call runs.

    The division depends only on the study, so a continued study writes the same files.

    Attributes
    ----------
    grid
        Grid of the study.
    cells
        Indices of branches.
    seeds
        Seeds in the order of execution.
    """

    grid: Grid
    cells: tuple[int, ...]
    seeds: tuple[int, ...]

    def missing(self, store: Store) -> Todo:
        """Return, per seed, the indices in ``cells`` of missing runs."""
        branches = [self.grid.branches[cell] for cell in self.cells]
        todo = (
            (seed, [place for place, branch in enumerate(branches) if not store.has(branch, seed)])
            for seed in self.seeds
        )
        return [(seed, places) for seed, places in todo if places]

    def run(self, store: Store, cancel: _core.Cancel, threads: int = 1) -> None:
        """Perform and store the missing runs, each on this number of threads."""
        if todo := self.missing(store):
            manifests = self.make(todo, store.root, cancel, digest=store.digest, threads=threads)
            store.take((path.removeprefix("parts/") for path, _ in manifests), check=False)

    def make(
        self, todo: Todo, root: Path | None, cancel: _core.Cancel, *, digest: bool = False, threads: int = 1
    ) -> list[tuple[str, bytes]]:
        """Perform runs; write files below ``root`` and return their manifests, or return all files without ``root``."""
        grid = self.grid
        branches = [grid.branches[cell] for cell in self.cells]
        return _core.run_block(
            list(grid.columns),
            [(branch.id, grid.values(branch), branch.scenario) for branch in branches],
            todo,
            None if root is None else str(root),
            cancel=cancel,
            threads=threads,
            **self.options(digest=digest),
        )

    def options(self, *, digest: bool) -> dict[str, Any]:
        """Return the options of the runs; ``digest`` is also needed if the directory already has digests."""
        return {"fork": self.grid.fork, "digest": self.grid.digest or digest, "engine": self.grid.engine}


@dataclass(frozen=True)
class RemoteBlock:
    """Block for another process; implements :class:`optcp.study.pool.RemoteJob`.

    Remote blocks are not locked. If another process works on the study, runs may be performed twice with equal results.
    """

    block: Block
    store: Store

    @property
    def kind(self) -> tuple[str, ...]:
        """Directory of the study, and first combination of the block."""
        return str(self.store.root), self.block.grid.branches[self.block.cells[0]].id

    def task(self) -> Callable[[], list[tuple[str, bytes]]]:
        """Return the function that performs the missing runs."""
        grid = self.block.grid
        cells = [grid.branches[cell] for cell in self.block.cells]
        return functools.partial(
            _made_there,
            list(grid.columns),
            [(branch.id, grid.values(branch), World.of(branch.scenario)) for branch in cells],
            self.block.missing(self.store),
            self.block.options(digest=self.store.digest),
        )

    def keep(self, made: list[tuple[str, bytes]]) -> int:
        """Store the returned files."""
        return self.store.put(made)


def _made_there(
    columns: list[str], cells: list[tuple[str, list[float | str], World]], todo: Todo, options: dict[str, Any]
) -> list[tuple[str, bytes]]:
    """Perform the runs of a block and return all files, part by part."""
    worlds = [(id_, values, world.scenario()) for id_, values, world in cells]
    return _core.run_block(columns, worlds, todo, None, **options)


def groups_of(grid: Grid) -> list[tuple[int, ...]]:
    """Return the groups of combinations that are run together."""
    cells = grid.distinct
    return [tuple(cells[first : first + MOST_CELLS]) for first in range(0, len(cells), MOST_CELLS)]


def blocks(
    grid: Grid, seeds: Sequence[int], hops_a_run: Callable[[Sequence[Branch], int], float]
) -> Iterator[list[Block]]:
    """Yield the blocks of a study in two stages; the first stage determines the size of blocks in the second.

    Parameters
    ----------
    hops_a_run
        :meth:`optcp.study.store.Store.hops_a_run`, called after the first stage.
    """
    groups = groups_of(grid)
    single = len(seeds) if len(groups) * len(seeds) <= SINGLE else min(len(seeds), -(-FIRST // len(groups)))
    yield [Block(grid, group, (seed,)) for group in groups for seed in seeds[:single]]
    rest = seeds[single:]
    if rest:
        yield [
            block for group in groups for block in _aligned(grid, group, rest, _size(grid, group, seeds[0], hops_a_run))
        ]


def _size(grid: Grid, group: tuple[int, ...], seed: int, hops_a_run: Callable[[Sequence[Branch], int], float]) -> int:
    """Return the number of seeds per block, a power of two."""
    hops = hops_a_run([grid.branches[cell] for cell in group], seed) * len(group)
    return 1 << min(MOST_SEEDS, max(1, round(HOPS_A_BLOCK / max(hops, 1)))).bit_length() - 1


def _aligned(grid: Grid, group: tuple[int, ...], seeds: Sequence[int], size: int) -> Iterator[Block]:
    """Yield blocks that start at multiples of their size, so that studies with more seeds share most blocks."""
    start = 0
    for place in range(1, len(seeds) + 1):
        if place == len(seeds) or seeds[place] // size != seeds[start] // size:
            yield Block(grid, group, tuple(seeds[start:place]))
            start = place


def directory(root: Path, grid: Grid) -> Path:
    """Return the directory of a study, named by its title and hash."""
    words = re.sub(r"[^a-z0-9.+]+", "-", grid.title.lower()).strip("-")[:60]
    return root / f"{words}-{grid.hash[:12]}"


def opened(grid: Grid, root: Path) -> Store:
    """The directory of a study among others, made if it is not there."""
    store = Store(directory(root, grid))
    store.open(grid)
    return store


def execute(studies: Sequence[Study], root: Path, jobs: Jobs, progress: Progress) -> list[StudyResult]:
    """Run every (grid, seed) that is not stored yet; runs of several studies are made once.

    Parameters
    ----------
    studies
        Studies to run. The results do not depend on ``jobs`` or on the order in which runs end.
    root
        Holds the directories of the studies.
    jobs
        Threads, >= 1, or an executor.
    progress
        Notified of every finished block.

    Returns
    -------
    list of StudyResult
        One a study, in their order; those that want the same share one.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are stored.
    RunFailed
        If a run fails; the others stop and finished runs are stored.
    """
    stores: dict[str, Store] = {}
    for study in studies:
        if study.grid.hash not in stores:
            stores[study.grid.hash] = opened(study.grid, root)
    placed = [(study, stores[study.grid.hash]) for study in studies]
    run_missing(placed, jobs, progress)
    done: dict[tuple[str, tuple[int, ...]], StudyResult] = {}
    return [
        done.setdefault((study.grid.hash, study.seeds), StudyResult(study.grid, study.seeds, store))
        for study, store in placed
    ]


def run_missing(studies: Sequence[tuple[Study, Store]], jobs: Jobs, progress: Progress, *, threads: int = 1) -> None:
    """Run what is not there of each study, in its store; see :func:`execute`.

    Parameters
    ----------
    threads
        Of each run; more than one only where ``jobs`` is 1.
    """
    wanted: dict[tuple[Path, int], tuple[Grid, Store, dict[int, None]]] = {}
    for study, store in studies:
        _, _, seeds = wanted.setdefault((store.root, id(store)), (study.grid, store, {}))
        seeds |= dict.fromkeys(study.seeds)
    total = sum(len(grid.distinct) * len(seeds) for grid, _, seeds in wanted.values())
    missing = sum(
        not store.has(grid.branches[cell], seed)
        for grid, store, seeds in wanted.values()
        for cell in grid.distinct
        for seed in seeds
    )
    run_stages(
        _stages([(grid, store, sorted(seeds)) for grid, store, seeds in wanted.values()], threads),
        jobs,
        progress,
        total,
        missing,
    )


def _stages(wanted: Sequence[tuple[Grid, Store, Sequence[int]]], threads: int) -> Iterator[list[Job]]:
    lanes: dict[Path, Lane] = {}
    cuts = [(blocks(grid, seeds, store.hops_a_run), store) for grid, store, seeds in wanted]
    while cuts:
        stages = [(next(cut, None), store) for cut, store in cuts]
        yield [
            job
            for stage, store in stages
            for block in stage or ()
            if (job := _job(block, store, lanes, threads)) is not None
        ]
        cuts = [one for one, (stage, _) in zip(cuts, stages, strict=True) if stage is not None]


class Lane:
    """Some cells and seeds of a study, at which one process works at a time.

    Processes may have cut the study elsewhere, so that it is more than a block. The threads of a process share it.

    Parameters
    ----------
    store
        The study's.
    name
        Of the lane's files among the parts.
    """

    def __init__(self, store: Store, name: str) -> None:
        parts = store.root / "parts"
        parts.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(parts / f".{name}.lock", thread_local=False)
        self._store, self._last = store, parts / f".{name}.last"
        self._me = uuid.uuid4().hex
        self._threads = 0
        self._counting = threading.Lock()

    def enter(self) -> bool:
        """Enter a thread into the lane unless another process holds it; also read the runs that others have stored."""
        with self._counting:
            if not self._threads:
                try:
                    self._lock.acquire(blocking=False)
                except Timeout:
                    return False
                try:
                    self._look()
                except BaseException:
                    self._lock.release()
                    raise
            self._threads += 1
            return True

    def leave(self) -> None:
        """Give it back."""
        with self._counting:
            self._threads -= 1
            if not self._threads:
                self._lock.release()

    def _look(self) -> None:
        """Take up what other processes have made since this one had the lane last."""
        if not self._last.is_file() or self._last.read_text() != self._me:
            self._store.scan()
            self._last.write_text(self._me)


def _job(block: Block, store: Store, lanes: dict[Path, Lane], threads: int) -> Job | None:
    """Return the job of the missing runs of a block; None if all runs are stored."""
    runs = sum(len(places) for _, places in block.missing(store))
    if not runs:
        return None
    seeds = f"seed {block.seeds[0]}" + (f" to {block.seeds[-1]}" if len(block.seeds) > 1 else "")
    name = f"{block.grid.branches[block.cells[0]].id}-{block.seeds[0] // MOST_SEEDS}"
    lane = lanes.get(store.root / name) or lanes.setdefault(store.root / name, Lane(store, name))

    def work(cancel: _core.Cancel) -> None:
        while not cancel.is_set:
            if lane.enter():
                try:
                    return block.run(store, cancel, threads)
                except _core.Cancelled:
                    break
                finally:
                    lane.leave()
            time.sleep(LOOK_AGAIN_S)
        # Some of its parts may be there, or another process has made some.
        store.scan()
        raise _core.Cancelled

    def stored() -> int:
        return runs - sum(len(places) for _, places in block.missing(store))

    # Cells of a block are seldom of unlike lengths.
    stop_s = block.grid.branches[block.cells[0]].scenario.summary()["stop_s"]
    return Job(f"{block.grid.title}, {seeds}", runs, work, stored, RemoteBlock(block, store), runs * float(stop_s))
