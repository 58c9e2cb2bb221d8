"""Jobs, and the threads that do them: progress, failures that say what failed, a Ctrl-C that leaves whole results."""

from __future__ import annotations

import queue
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from optcp import _core
from optcp.errors import Interrupted, RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType


WAIT_S = 0.2
"""Seconds between two looks at whether Ctrl-C was pressed."""


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


class Executor(Protocol):
    """What runs functions elsewhere: one of ``concurrent.futures``, joblib's, Dask's ``Client``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - every engine has its own future
        """Have ``fn(*args)`` called; a future of what it returns."""


Jobs = int | Executor
"""Where jobs are done: so many threads, or what runs functions elsewhere."""


class RemoteJob(Protocol):
    """A job as another process does it, which shares no files with this one."""

    @property
    def kind(self) -> tuple[str, ...]:
        """What jobs have in common that take equally long, from the whole study to the cells."""

    def task(self) -> Callable[[], Any]:
        """What makes the runs there: it can be pickled, and returns what can be."""

    def keep(self, made: Any) -> int:  # noqa: ANN401 - of each kind of job its own
        """Store what the task returned; how many bytes that is."""


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
    away
        The same for an :class:`Executor`.
    simulated_s
        How much time it simulates, in seconds; zero where nobody knows.
    """

    label: str
    runs: int
    work: Callable[[_core.Cancel], None]
    stored: Callable[[], int]
    away: RemoteJob
    simulated_s: float = 0.0


class Workers(Protocol):
    """Who does jobs."""

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:
        """Do all jobs and yield each when its runs are stored; yield None while none has ended for a moment.

        Raises
        ------
        InputError, RunFailed
            If one fails.
        """

    def stop(self) -> None:
        """Give up what is not finished, and store what is."""


def run_jobs(jobs: Sequence[Job], where: Jobs, progress: Progress, total: int) -> None:
    """Do all jobs; ``total`` is the number of runs that were asked for, those stored before included.

    Raises
    ------
    Interrupted, RunFailed
        See :func:`run_stages`.
    """
    run_stages([jobs] if jobs else [], where, progress, total, sum(job.runs for job in jobs))


def run_stages(stages: Iterable[Sequence[Job]], where: Jobs, progress: Progress, total: int, missing: int) -> None:
    """Do all jobs, stage by stage: a stage is asked for when the one before it has ended.

    Parameters
    ----------
    total, missing
        How many runs were asked for, those stored before included, and how many of them are to be made.

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
        # Runs that ended between the last wait and the cancellation are stored too.
        raise Interrupted(total - missing + sum(job.stored() for job in begun), total)


def _record_sigint() -> tuple[Callable[[], bool], Callable[[], object]]:
    """Return a function that tells whether Ctrl-C was pressed, and one that restores the usual handler.

    The first Ctrl-C is only noted. An exception raised by the handler could surface inside a finalizer, as that of a
    Dask future, where Python prints and drops it. The second Ctrl-C raises KeyboardInterrupt at once.
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
    """Threads of this process."""

    def __init__(self, threads: int) -> None:
        self._cancel = _core.Cancel()
        self._pool = ThreadPoolExecutor(max_workers=threads)
        self._waiting: dict[Future[None], Job] = {}
        self._simulated_s = 0.0

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:
        """See :class:`Workers`."""
        ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        self._simulated_s += sum(job.simulated_s for job in jobs)
        for job in jobs:
            self._waiting[self._pool.submit(job.work, self._cancel)] = job
        for future in self._waiting:
            future.add_done_callback(ended.put)
        while self._waiting:
            try:
                # On Windows a wait without a timeout would keep the handler of Ctrl-C from running.
                future = ended.get(timeout=WAIT_S)
            except queue.Empty:
                if self._simulated_s:
                    progress.simulated(min(self._cancel.simulated_s / self._simulated_s, 1.0))
                yield None
                continue
            _raise_failure(future, self._waiting[future])
            yield self._waiting.pop(future)

    def stop(self) -> None:
        """See :class:`Workers`."""
        self._cancel.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _raise_failure(future: Future[None], job: Job) -> None:
    error = future.exception()
    if error is not None:
        # A panic of the simulator is a BaseException; for the user it is a failed run like any other.
        raise RunFailed(f"{job.label}: {str(error) or type(error).__name__}") from error
