"""Running what is missing of some studies, in threads."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from optcp import _core
from optcp.scenario import check_seed
from optcp.study.pool import Job, run_jobs
from optcp.study.store import RunData, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from optcp.study.pool import Progress
    from optcp.study.spec import Study


T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """A study and the seeds wanted of it; InputError if one is none that there is."""

    study: Study
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        check_seed(max(self.seeds, default=0))


@dataclass(frozen=True)
class Done:
    """A study whose seeds are all stored."""

    study: Study
    seeds: tuple[int, ...]
    store: Store
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, reduce: Callable[[Done], T]) -> T:
        """Call ``reduce`` on this study once, however many exhibits ask for its result."""
        if reduce not in self._memo:
            self._memo[reduce] = reduce(self)
        result: T = self._memo[reduce]
        return result

    def __iter__(self) -> Iterator[tuple[int, list[RunData]]]:
        """Each seed with its runs, one a branch; one seed at a time is in memory."""
        for seed in self.seeds:
            yield seed, self.store.load(self.study, seed)


def execute(
    tasks: Sequence[Task],
    store: Store,
    jobs: int,
    progress: Progress,
) -> list[Done]:
    """Run every (study, seed) that is not stored yet; a study that several tasks name runs once.

    Parameters
    ----------
    tasks
        What is wanted. The results do not depend on ``jobs`` or on the order in which runs end.
    store
        Where finished runs are and go.
    jobs
        Threads, >= 1. Each runs all branches of one seed at a time.
    progress
        Notified of every finished seed.

    Returns
    -------
    list of Done
        One a task, in the order of the tasks; tasks that want the same share one.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are stored.
    RunFailed
        If a run fails; the others stop and finished runs are stored.
    """
    wanted: dict[tuple[str, int], Study] = {}
    for task in tasks:
        for seed in task.seeds:
            wanted.setdefault((task.study.hash, seed), task.study)
    total = sum(len(study.branches) for study in wanted.values())
    missing = [_job(study, seed, store) for (_, seed), study in wanted.items() if not store.has(study, seed)]
    run_jobs(missing, jobs, progress, total)
    done: dict[tuple[str, tuple[int, ...]], Done] = {}
    return [done.setdefault((task.study.hash, task.seeds), Done(task.study, task.seeds, store)) for task in tasks]


def _job(study: Study, seed: int, store: Store) -> Job:
    runs = len(study.branches)
    return Job(
        label=f"{study.title}, seed {seed}",
        runs=runs,
        work=lambda cancel: _run_seed(study, seed, store, cancel),
        stored=lambda: runs if store.has(study, seed) else 0,
    )


def _run_seed(study: Study, seed: int, store: Store, cancel: _core.Cancel) -> None:
    began = time.thread_time()
    scenarios = [branch.scenario for branch in study.branches]
    runs = _core.run_branches(scenarios, seed, fork=study.fork, digest=study.digest, kernel=study.kernel, cancel=cancel)
    cpu_s = time.thread_time() - began
    store.save(study, seed, [RunData.of(run, cpu_s) for run in runs])
