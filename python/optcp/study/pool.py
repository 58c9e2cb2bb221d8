"""Execution of jobs in threads or executors, with progress, error labels and a safe Ctrl-C."""

from __future__ import annotations

import queue
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from optcp import _core
from optcp.errors import Interrupted, RunFailed, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType


WAIT_S = 0.2
"""Interval of checks for Ctrl-C, in s."""


class Progress(Protocol):
    """Receiver of progress, counted in runs."""

    def start(self, total: int, kept: int) -> None:
        """Start with ``total`` runs, of which ``kept`` are stored already."""

    def advance(self, runs: int) -> None:
        """Report that this number of further runs is stored."""

    def simulated(self, share: float) -> None:
        """Report the simulated share of the missing runs, from 0 to 1."""

    def stop(self) -> None:
        """End, after success or failure."""


class Executor(Protocol):
    """Executor of ``concurrent.futures`` or joblib, or Dask's ``Client``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - every engine has its own future
        """Schedule ``fn(*args)`` and return its future."""


Jobs = int | Executor
"""Number of threads, or an executor."""


class RemoteJob(Protocol):
    """Job for another process that shares no files with this one."""

    @property
    def kind(self) -> tuple[str, ...]:
        """Key of jobs with similar durations, from the study to its parameter combinations."""

    def task(self) -> Callable[[], Any]:
        """Return the picklable function that performs the runs remotely and returns a picklable result."""

    def keep(self, made: Any) -> int:  # noqa: ANN401 - of each kind of job its own
        """Store the result of the task and return its size in bytes."""


@dataclass(frozen=True)
class Job:
    """Group of runs that one call performs.

    Attributes
    ----------
    label
        Start of the error message if the job fails.
    runs
        Number of runs.
    work
        Function that performs and stores the runs in a thread; it raises an exception once the flag is set.
    stored
        Function that returns the number of its stored runs.
    away
        The same job for an :class:`Executor`.
    simulated_s
        Simulated time in s; zero if unknown.
    """

    label: str
    runs: int
    work: Callable[[_core.Cancel], None]
    stored: Callable[[], int]
    away: RemoteJob
    simulated_s: float = 0.0


class Workers(Protocol):
    """Interface of thread and executor backends."""

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:
        """Do all jobs and yield each when its runs are stored; yield None regularly while waiting.

        Raises
        ------
        InputError, RunFailed
            If a job fails.
        """

    def stop(self) -> None:
        """Cancel unfinished jobs, and store finished ones."""


def run_jobs(jobs: Sequence[Job], where: Jobs, progress: Progress, total: int) -> None:
    """Do all jobs; ``total`` is the number of requested runs, including stored ones.

    Raises
    ------
    Interrupted, RunFailed
        See :func:`run_stages`.
    """
    run_stages([jobs] if jobs else [], where, progress, total, sum(job.runs for job in jobs))


def run_stages(stages: Iterable[Sequence[Job]], where: Jobs, progress: Progress, total: int, missing: int) -> None:
    """Do all jobs stage by stage; the iterator is advanced when a stage has ended.

    Parameters
    ----------
    total, missing
        Number of requested runs, including stored ones, and number of missing runs.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are stored.
    InputError, RunFailed
        If a job fails; the others stop and finished runs are stored.
    """
    progress.start(total, total - missing)
    try:
        if missing:
            _run(stages, where, progress, total, missing)
    finally:
        progress.stop()


def _run(stages: Iterable[Sequence[Job]], where: Jobs, progress: Progress, total: int, missing: int) -> None:
    if isinstance(where, int):
        workers: Workers = Threads(where)
    else:
        from optcp.study.remote import Remote

        workers = Remote(where)
    begun: list[Job] = []
    interrupted = False
    pressed, forget = _record_sigint()
    try:
        for jobs in stages:
            begun += jobs
            for job in workers.do(jobs, progress):
                if job:
                    progress.advance(job.runs)
                if pressed():
                    raise KeyboardInterrupt
    except KeyboardInterrupt:
        interrupted = True
    finally:
        workers.stop()
        forget()
    if interrupted:
        # Count again: runs may have ended between the last wait and the cancellation.
        raise Interrupted(total - missing + sum(job.stored() for job in begun), total)


def _record_sigint() -> tuple[Callable[[], bool], Callable[[], object]]:
    """Record the first SIGINT instead of raising ``KeyboardInterrupt``.

    Python prints and drops an exception that a signal handler raises inside a finalizer, for example of a Dask future.
    The second SIGINT raises ``KeyboardInterrupt``. Nothing changes outside the main thread or with a custom handler.

    Returns
    -------
    received
        Function that returns whether SIGINT has arrived.
    restore
        Function that restores the default handler.
    """
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        return lambda: False, lambda: None
    pressed: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        if len(pressed) > 1:
            usual(number, frame)

    signal.signal(signal.SIGINT, handle)
    return lambda: bool(pressed), lambda: signal.signal(signal.SIGINT, usual)


class Threads:
    """Backend that uses threads of this process."""

    def __init__(self, threads: int) -> None:
        self._cancel = _core.Cancel()
        self._pool = ThreadPoolExecutor(max_workers=threads)
        self._waiting: dict[Future[None], Job] = {}
        self._simulated_s = 0.0

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:
        """Implement :class:`Workers`."""
        ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        self._simulated_s += sum(job.simulated_s for job in jobs)
        for job in jobs:
            self._waiting[self._pool.submit(job.work, self._cancel)] = job
        for future in self._waiting:
            future.add_done_callback(ended.put)
        while self._waiting:
            try:
                # On Windows, a wait without timeout would block the handler of Ctrl-C.
                future = ended.get(timeout=WAIT_S)
            except queue.Empty:
                if self._simulated_s:
                    progress.simulated(min(self._cancel.simulated_s / self._simulated_s, 1.0))
                yield None
                continue
            _raise_failure(future, self._waiting[future])
            yield self._waiting.pop(future)

    def stop(self) -> None:
        """Implement :class:`Workers`."""
        self._cancel.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _raise_failure(future: Future[None], job: Job) -> None:
    error = future.exception()
    if error is not None:
        # A panic of the simulator is a BaseException, but for the user it is a failed run.
        raise RunFailed(f"{job.label}: {told(error)}") from error
