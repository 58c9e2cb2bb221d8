"""Running what is missing of some studies, in threads."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from optcp import _core
from optcp.errors import Interrupted, RunFailed
from optcp.study.store import RunData, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from optcp.study.spec import Study


T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """A study and the seeds wanted of it."""

    study: Study
    seeds: tuple[int, ...]


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


class Progress(Protocol):
    """Who is told how far the work is; the unit is one run."""

    def start(self, total: int, kept: int) -> None:
        """Work begins: ``total`` runs in all, of which ``kept`` were stored before."""

    def advance(self, runs: int) -> None:
        """So many more runs are stored."""

    def stop(self) -> None:
        """Work has ended, one way or another."""


def execute(
    tasks: Sequence[Task],
    store: Store,
    jobs: int,
    progress: Progress,
    on_stored: Callable[[Study, int], None] | None = None,
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
        Told about every finished seed.
    on_stored
        Called in this thread with (study, seed) for every wanted seed once it is stored, old ones included.

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
    missing, kept = [], 0
    for (_, seed), study in wanted.items():
        if store.has(study, seed):
            kept += len(study.branches)
            if on_stored:
                on_stored(study, seed)
        else:
            missing.append((study, seed))
    progress.start(total, kept)
    try:
        if missing:
            _run_missing(missing, store, jobs, progress, on_stored, (kept, total))
    finally:
        progress.stop()
    done: dict[tuple[str, tuple[int, ...]], Done] = {}
    return [done.setdefault((task.study.hash, task.seeds), Done(task.study, task.seeds, store)) for task in tasks]


def _run_missing(
    missing: list[tuple[Study, int]],
    store: Store,
    jobs: int,
    progress: Progress,
    on_stored: Callable[[Study, int], None] | None,
    counted: tuple[int, int],
) -> None:
    kept, total = counted
    cancel = _core.Cancel()
    pool = ThreadPoolExecutor(max_workers=jobs)
    waiting: dict[Future[None], tuple[Study, int]] = {
        pool.submit(_run_seed, study, seed, store, cancel): (study, seed) for study, seed in missing
    }
    ended: set[Future[None]] = set()
    interrupted = False
    try:
        while waiting:
            # The timeout lets this thread see Ctrl-C between two waits on every platform.
            ended, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in ended:
                study, seed = waiting.pop(future)
                _raise_failure(future, study, seed)
                kept += len(study.branches)
                progress.advance(len(study.branches))
                if on_stored:
                    on_stored(study, seed)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        cancel.cancel()
        pool.shutdown(wait=True, cancel_futures=True)
    if interrupted:
        # Seeds that ended between the last wait and the cancellation are stored too.
        kept = total - sum(len(study.branches) for study, seed in missing if not store.has(study, seed))
        raise Interrupted(kept, total)


def _run_seed(study: Study, seed: int, store: Store, cancel: _core.Cancel) -> None:
    began = time.thread_time()
    scenarios = [branch.scenario for branch in study.branches]
    runs = _core.run_branches(scenarios, seed, fork=study.fork, digest=study.digest, cancel=cancel)
    cpu_s = time.thread_time() - began
    store.save(study, seed, [RunData.of(run, cpu_s) for run in runs])


def _raise_failure(future: Future[None], study: Study, seed: int) -> None:
    error = future.exception()
    if error is not None:
        # A panic of the simulator is a BaseException; for the user it is a failed run like any other.
        raise RunFailed(f"{study.title}, seed {seed}: {error or type(error).__name__}") from error
