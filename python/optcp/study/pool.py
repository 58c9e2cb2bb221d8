"""Jobs in threads: progress, failures that say what failed, and a Ctrl-C that leaves whole results only."""

from __future__ import annotations

import queue
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from optcp import _core
from optcp.errors import Interrupted, RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Progress(Protocol):
    """What is notified of progress; the unit is one run."""

    def start(self, total: int, kept: int) -> None:
        """Work begins: ``total`` runs in all, of which ``kept`` were stored before."""

    def advance(self, runs: int) -> None:
        """So many more runs are stored."""

    def simulated(self, share: float) -> None:
        """So much of the time of the missing runs has been simulated, from 0 to 1."""

    def stop(self) -> None:
        """Work has ended, one way or another."""


@dataclass(frozen=True)
class Job:
    """Some runs that one call makes.

    Attributes
    ----------
    label
        Begins the message if the job fails.
    runs
        How many runs it makes.
    work
        Makes and stores them; called in a thread. It stops with an exception once the flag is raised.
    stored
        Counts those of its runs that are stored now.
    simulated_s
        How much time it simulates, in seconds; zero where nobody knows.
    """

    label: str
    runs: int
    work: Callable[[_core.Cancel], None]
    stored: Callable[[], int]
    simulated_s: float = 0.0


def run_jobs(jobs: Sequence[Job], threads: int, progress: Progress, total: int) -> None:
    """Do all jobs; ``total`` is the number of runs that were asked for, those stored before included.

    Raises
    ------
    Interrupted, RunFailed
        See :func:`run_stages`.
    """
    run_stages([jobs] if jobs else [], threads, progress, total, sum(job.runs for job in jobs))


def run_stages(stages: Iterable[Sequence[Job]], threads: int, progress: Progress, total: int, missing: int) -> None:
    """Do all jobs, stage by stage: a stage is asked for when the one before it has ended.

    Parameters
    ----------
    total, missing
        How many runs were asked for, those stored before included, and how many of them are to be made.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are stored.
    RunFailed
        If a job fails; the others stop and finished runs are stored.
    """
    progress.start(total, total - missing)
    try:
        if missing:
            _run(stages, threads, progress, total, missing)
    finally:
        progress.stop()


def _run(stages: Iterable[Sequence[Job]], threads: int, progress: Progress, total: int, missing: int) -> None:
    cancel = _core.Cancel()
    pool = ThreadPoolExecutor(max_workers=threads)
    ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
    begun: list[Job] = []
    simulated_s = 0.0
    interrupted = False
    try:
        for jobs in stages:
            begun += jobs
            simulated_s += sum(job.simulated_s for job in jobs)
            waiting: dict[Future[None], Job] = {pool.submit(job.work, cancel): job for job in jobs}
            for future in waiting:
                future.add_done_callback(ended.put)
            while waiting:
                try:
                    # The timeout lets this thread see Ctrl-C between two waits on every platform.
                    future = ended.get(timeout=0.2)
                except queue.Empty:
                    if simulated_s:
                        progress.simulated(min(cancel.simulated_s / simulated_s, 1.0))
                    continue
                job = waiting.pop(future)
                _raise_failure(future, job)
                progress.advance(job.runs)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        cancel.cancel()
        pool.shutdown(wait=True, cancel_futures=True)
    if interrupted:
        # Runs that ended between the last wait and the cancellation are stored too.
        raise Interrupted(total - missing + sum(job.stored() for job in begun), total)


def _raise_failure(future: Future[None], job: Job) -> None:
    error = future.exception()
    if error is not None:
        # A panic of the simulator is a BaseException; for the user it is a failed run like any other.
        raise RunFailed(f"{job.label}: {error or type(error).__name__}") from error
