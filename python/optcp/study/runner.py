"""Running what is missing of some studies, in threads."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from optcp import _core
from optcp.study.done import Done
from optcp.study.pool import Job, run_jobs
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from optcp.study.grid import Grid
    from optcp.study.pool import Progress
    from optcp.study.study import Study

MOST_CELLS = 8
"""Cells that are run by one call share their warm-up; more of them gain little and lose more on Ctrl-C."""
BLOCKS = 256
"""Into about so many blocks a large study is cut: enough for many processors, and few files."""
MOST_SEEDS = 256
"""Of a block."""
LOOK_AGAIN_S = 0.2
"""Whether another process has ended."""


@dataclass(frozen=True)
class Block:
    """Some cells and seeds of a study, run by one call.

    The cut follows from the task alone: what is made after an interruption goes into the same files.

    Attributes
    ----------
    grid
        The study's.
    cells
        Indices of branches.
    seeds
        In the order in which they are run.
    """

    grid: Grid
    cells: tuple[int, ...]
    seeds: tuple[int, ...]

    def missing(self, store: Store) -> list[tuple[int, list[int]]]:
        """For each seed the places in ``cells`` of the runs that are not there."""
        branches = [self.grid.branches[cell] for cell in self.cells]
        todo = (
            (seed, [place for place, branch in enumerate(branches) if not store.has(branch, seed)])
            for seed in self.seeds
        )
        return [(seed, places) for seed, places in todo if places]

    def run(self, store: Store, cancel: _core.Cancel) -> None:
        """Make and store what is missing."""
        grid = self.grid
        branches = [grid.branches[cell] for cell in self.cells]
        _core.run_block(
            list(grid.columns),
            [(branch.id, grid.values(branch), branch.scenario) for branch in branches],
            self.missing(store),
            str(store.root),
            fork=grid.fork,
            digest=grid.digest or store.digest,
            kernel=grid.kernel,
            cancel=cancel,
        )
        store.scan()


def blocks(grid: Grid, seeds: Sequence[int]) -> Iterator[Block]:
    """Cut a study."""
    cells = range(len(grid.branches))
    groups = [tuple(cells[first : first + MOST_CELLS]) for first in range(0, len(cells), MOST_CELLS)]
    # A power of two, so that a study of more seeds is mostly cut at the same places.
    size = min(MOST_SEEDS, 1 << max(0, len(groups) * len(seeds) // BLOCKS).bit_length() >> 1) or 1
    for group in groups:
        start = 0
        for place in range(1, len(seeds) + 1):
            if place == len(seeds) or seeds[place] // size != seeds[start] // size:
                yield Block(grid, group, tuple(seeds[start:place]))
                start = place


def processors() -> int:
    """How many processors may be used: a container or a batch system may allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def directory(root: Path, grid: Grid) -> Path:
    """Where a study is among others: its title for people, its hash for certain."""
    words = re.sub(r"[^a-z0-9.+]+", "-", grid.title.lower()).strip("-")[:60]
    return root / f"{words}-{grid.hash[:12]}"


def opened(grid: Grid, root: Path) -> Store:
    """The directory of a study among others, made if it is not there."""
    store = Store(directory(root, grid))
    store.open(grid)
    return store


def execute(studies: Sequence[Study], root: Path, jobs: int, progress: Progress) -> list[Done]:
    """Run every (grid, seed) that is not stored yet; what several studies want runs once.

    Parameters
    ----------
    studies
        What is wanted. The results do not depend on ``jobs`` or on the order in which runs end.
    root
        Holds the directories of the studies.
    jobs
        Threads, >= 1.
    progress
        Notified of every finished block.

    Returns
    -------
    list of Done
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
    done: dict[tuple[str, tuple[int, ...]], Done] = {}
    return [
        done.setdefault((study.grid.hash, study.seeds), Done(study.grid, study.seeds, store)) for study, store in placed
    ]


def run_missing(studies: Sequence[tuple[Study, Store]], jobs: int, progress: Progress) -> None:
    """Run what is not there of each study, in its store; see :func:`execute`."""
    wanted: dict[tuple[Path, int], tuple[Grid, Store, dict[int, None]]] = {}
    for study, store in studies:
        _, _, seeds = wanted.setdefault((store.root, id(store)), (study.grid, store, {}))
        seeds |= dict.fromkeys(study.seeds)
    total = sum(len(grid.branches) * len(seeds) for grid, _, seeds in wanted.values())
    cut = [(block, store) for grid, store, seeds in wanted.values() for block in blocks(grid, sorted(seeds))]
    locks: dict[Path, FileLock] = {}
    run_jobs([_job(block, store, locks) for block, store in cut if block.missing(store)], jobs, progress, total)


def _job(block: Block, store: Store, locks: dict[Path, FileLock]) -> Job:
    runs = sum(len(places) for _, places in block.missing(store))
    seeds = f"seed {block.seeds[0]}" + (f" to {block.seeds[-1]}" if len(block.seeds) > 1 else "")
    # Processes may have cut the study elsewhere: what one of them works at is more than a block. Its threads share it.
    path = store.root / "parts" / f".{block.grid.branches[block.cells[0]].id}-{block.seeds[0] // MOST_SEEDS}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = locks.setdefault(path, FileLock(path, thread_local=False))

    def work(cancel: _core.Cancel) -> None:
        while not cancel.is_set:
            try:
                with lock.acquire(blocking=False):
                    store.scan()  # another process may have made some of it meanwhile
                    return block.run(store, cancel)
            except Timeout:
                time.sleep(LOOK_AGAIN_S)
        raise _core.Cancelled

    def stored() -> int:
        store.scan()
        return runs - sum(len(places) for _, places in block.missing(store))

    return Job(f"{block.grid.title}, {seeds}", runs, work, stored)
