"""Execution of jobs on executors, whose processes share no files with this one.

Executors are pools of ``concurrent.futures`` or joblib, or a Dask cluster. A task combines jobs of some seconds; its
results return as bytes and are stored here.
"""

from __future__ import annotations

import asyncio
import functools
import math
import pickle
import queue
import re
import time
import zlib
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.errors import InputError, RunFailed, told
from optcp.scenarios import topologies
from optcp.study.pool import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from optcp.study.pool import Executor, Job, Progress

TASK_S = 4.0
"""Maximum duration of a task in s, long compared with the milliseconds of scheduling."""
LEAST_S = 1.0
"""Minimum duration of a task in s, for balance at the end."""
PIECES = 256
"""Number of tasks into which the remaining work is divided, within these limits."""
TASK_BYTES = 32_000_000
"""Maximum size in bytes of the results of a task with several jobs."""
PROBES = 64
"""Number of single jobs sent as probes while durations are unknown; more if they outlast a task."""
MOST_TASKS = 1000
"""Maximum number of outstanding tasks, enough for hundreds of workers and autoscaling clusters."""
MOST_BYTES = 1_000_000_000
"""Maximum size in bytes of outstanding results."""
FILES = re.compile(r"\b(file|list|matrix)\b")
"""Words without which a scenario reads no other file."""


@dataclass(frozen=True)
class World:
    """Scenario for sending: text, contents of its files, and expected digest."""

    text: str
    files: tuple[tuple[str, bytes], ...]
    sha256: str

    @staticmethod
    @functools.lru_cache(maxsize=32)
    def of(scenario: _core.Scenario) -> World:
        """Create the sendable form of a scenario."""
        text, files = scenario.to_toml(), dict[str, bytes]()
        if FILES.search(text):
            with topologies.record_files(files):
                scenario.override([])
        return World(text, tuple(files.items()), scenario.sha256)

    @functools.lru_cache(maxsize=32)  # noqa: B019 - the tasks of a worker use the same scenarios
    def scenario(self) -> _core.Scenario:
        """Return the scenario.

        Raises
        ------
        RunFailed
            If its digest differs on this machine.
        """
        with topologies.use_files(dict(self.files)):
            found = _core.Scenario.parse(self.text, "scenario.toml")
        if found.sha256 != self.sha256:
            raise RunFailed(
                "a worker has a different network of this name; install the same version of topohub on all workers"
            )
        return found


def made(version: str, packed: bytes) -> list[tuple[Any, float]]:
    """Perform tasks on a worker; return the result and CPU time in s of each.

    Raises
    ------
    InputError
        If the worker has another version of optcp.
    RunFailed
        If a task fails.
    """
    if version != _core.version():
        raise InputError(
            f"a worker has optcp {_core.version()}, this is optcp {version}; install the same version on all workers"
        )
    answers = []
    tasks: list[tuple[str, Callable[[], Any]]] = pickle.loads(zlib.decompress(packed))  # noqa: S301 - as engines do
    for label, task in tasks:
        began = time.thread_time()
        try:
            answers.append((task(), time.thread_time() - began))
        except (KeyboardInterrupt, SystemExit, InputError):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic of the simulator is one, and cannot be pickled
            raise RunFailed(f"{label}: {told(error)}") from None
    return answers


class Remote:
    """Backend that uses an executor; implements :class:`optcp.study.pool.Workers`."""

    def __init__(self, executor: Executor) -> None:
        # With `pure=True`, Dask would reuse the result of an equal call.
        submit: Callable[..., Any] = executor.submit
        self._call = functools.partial(submit, pure=False) if hasattr(executor, "get_executor") else submit
        self._sent: dict[Any, tuple[list[Job], float]] = {}
        self._costs = Costs()

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:  # noqa: ARG002 - executors report no partial progress
        """Send jobs as tasks, and store their results."""
        todo, left = deque(jobs), sum(job.runs for job in jobs)
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        began = time.monotonic()
        while todo or self._sent:
            while todo and self._room(todo[0], time.monotonic() - began):
                batch, size = self._batch(todo, left)
                left -= sum(job.runs for job in batch)
                future = self._submit(batch)
                self._sent[future] = batch, size
                future.add_done_callback(ended.put)
            try:
                future = ended.get(timeout=WAIT_S)
            except queue.Empty:
                yield None
                continue
            self._keep(future)
            batch, _ = self._sent.pop(future)
            yield from batch

    def stop(self) -> None:
        """Store returned results, and cancel other tasks; running ones end without effect."""
        for future in self._sent:
            if future.done() and not future.cancelled() and future.exception() is None:
                self._keep(future)
            else:
                future.cancel()

    def _room(self, job: Job, waited_s: float) -> bool:
        """Whether another task may be sent."""
        if self._costs.of(job) is None and waited_s < TASK_S:
            return len(self._sent) < PROBES
        return len(self._sent) < MOST_TASKS and sum(size for _, size in self._sent.values()) < MOST_BYTES

    def _batch(self, todo: deque[Job], left: int) -> tuple[list[Job], float]:
        """Return the jobs of the next task, at least one, and the expected size of their results in bytes."""
        enough_s = _enough(left * self._costs.seconds_a_run)
        batch, seconds, size = [todo.popleft()], 0.0, 0.0
        cost = self._costs.of(batch[0])
        while cost is not None:
            seconds, size = seconds + cost[0], size + cost[1]
            cost = self._costs.of(todo[0]) if todo else None
            if cost is None or seconds + cost[0] > enough_s or size + cost[1] > TASK_BYTES:
                break
            batch.append(todo.popleft())
        return batch, size

    def _submit(self, batch: Sequence[Job]) -> Any:  # noqa: ANN401 - every engine has its own future
        tasks = [(job.label, job.away.task()) for job in batch]
        # The scenarios of a study are similar, so compression is effective.
        packed = zlib.compress(pickle.dumps(tasks), 1)
        try:
            return self._call(made, _core.version(), packed)
        except RuntimeError as error:
            # A process pool with a killed process accepts no more tasks.
            raise RunFailed(f"{batch[0].label}: {error}") from error

    def _keep(self, future: Any) -> None:  # noqa: ANN401
        batch, _ = self._sent[future]
        for job, (answer, seconds) in zip(batch, _answers(future, batch[0].label), strict=True):
            self._costs.learn(job, seconds, job.away.keep(answer))


def _answers(future: Any, label: str) -> list[tuple[Any, float]]:  # noqa: ANN401
    """Return the results of a task, or raise an error with its reason."""
    try:
        answers: list[tuple[Any, float]] = future.result()
    except (InputError, RunFailed):
        raise
    except ModuleNotFoundError as error:
        # Without optcp on the worker, its version cannot be checked.
        wanted = f"optcp {_core.version()} must be installed on all workers"
        raise InputError(f"a worker cannot run this ({error}): {wanted}") from error
    except (Exception, asyncio.CancelledError) as error:  # executors raise their own errors
        raise RunFailed(f"{label}: {' '.join(str(error).split()) or type(error).__name__}") from error
    return answers


def tasks_of(blocks: int, seconds: float, size: float) -> int:
    """Return the number of tasks for blocks with this total duration and size."""
    enough_s = _enough(seconds)
    return min(blocks, max(1, math.ceil(seconds / enough_s), math.ceil(size / TASK_BYTES)))


def _enough(left_s: float) -> float:
    """Return the duration of tasks, in s, for this remaining work."""
    return min(max(left_s / PIECES, LEAST_S), TASK_S)


class Costs:
    """Cost estimates of jobs, from finished jobs with similar keys."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, ...], tuple[int, float, int]] = {}
        self._dearest = 0.0, 0.0

    def learn(self, job: Job, seconds: float, size: int) -> None:
        """Add the CPU time and result size of a finished job."""
        for end in range(len(job.away.kind) + 1):
            runs, all_seconds, all_bytes = self._sums.get(job.away.kind[:end], (0, 0.0, 0))
            self._sums[job.away.kind[:end]] = runs + job.runs, all_seconds + seconds, all_bytes + size
        runs, seconds, size = self._sums[job.away.kind[:1]]
        self._dearest = max(self._dearest[0], seconds / runs), max(self._dearest[1], size / runs)

    @property
    def seconds_a_run(self) -> float:
        """Mean CPU time per finished run; 0 at first."""
        runs, seconds, _ = self._sums.get((), (0, 0.0, 0))
        return seconds / runs if runs else 0.0

    def of(self, job: Job) -> tuple[float, float] | None:
        """Return the expected CPU time in s and size in bytes of a job, from the most similar jobs, or None.

        For a study without finished runs, the costs of the most expensive study are used.
        """
        if not self._sums:
            return None
        for end in range(len(job.away.kind), 0, -1):
            if found := self._sums.get(job.away.kind[:end]):
                runs, seconds, size = found
                return job.runs * seconds / runs, job.runs * size / runs
        return job.runs * self._dearest[0], job.runs * self._dearest[1]
