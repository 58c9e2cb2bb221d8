"""Jobs in threads: progress, failures that say what failed, and a Ctrl-C that leaves whole results only."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from optcp import _core
from optcp.errors import Interrupted, RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Progress(Protocol):
    """What is notified of progress; the unit is one run."""

    def start(self, total: int, kept: int) -> None:
        """Work begins: ``total`` runs in all, of which ``kept`` were stored before."""

    def advance(self, runs: int) -> None:
        """So many more runs are stored."""

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
    """

    label: str
    runs: int
    work: Callable[[_core.Cancel], None]
    stored: Callable[[], int]


def run_jobs(jobs: Sequence[Job], threads: int, progress: Progress, total: int) -> None:
    """Do all jobs; ``total`` is the number of runs that were asked for, those stored before included.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are stored.
    RunFailed
        If a job fails; the others stop and finished runs are stored.
    """
    progress.start(total, total - sum(job.runs for job in jobs))
    try:
        if jobs:
            _run(jobs, threads, progress, total)
    finally:
        progress.stop()


def _run(jobs: Sequence[Job], threads: int, progress: Progress, total: int) -> None:
    cancel = _core.Cancel()
    pool = ThreadPoolExecutor(max_workers=threads)
    waiting: dict[Future[None], Job] = {pool.submit(job.work, cancel): job for job in jobs}
    ended: set[Future[None]] = set()
    interrupted = False
    try:
        while waiting:
            # The timeout lets this thread see Ctrl-C between two waits on every platform.
            ended, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in ended:
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
        raise Interrupted(total - sum(job.runs - job.stored() for job in jobs), total)


def _raise_failure(future: Future[None], job: Job) -> None:
    error = future.exception()
    if error is not None:
        # A panic of the simulator is a BaseException; for the user it is a failed run like any other.
        raise RunFailed(f"{job.label}: {error or type(error).__name__}") from error
