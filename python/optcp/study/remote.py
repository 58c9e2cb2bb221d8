"""Jobs done by other processes, here or elsewhere, that share no files with this one.

Who starts and feeds these processes is somebody else's engine: a pool of ``concurrent.futures`` or joblib, a Dask
cluster. A task is as many jobs as take some seconds; what it made comes back as bytes, and is stored here.
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
from optcp.errors import InputError, RunFailed
from optcp.scenarios import topologies
from optcp.study.pool import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from optcp.study.pool import Executor, Job, Progress

TASK_S = 4.0
"""A task takes so long: an engine needs milliseconds for one, and its scheduler must keep up with many workers."""
LEAST_S = 1.0
"""Shorter ones divide the work better where little is left."""
PIECES = 256
"""What is left is cut into so many tasks, between these two."""
TASK_BYTES = 32_000_000
"""Of results: a task of several jobs brings no more at once."""
PROBES = 64
"""Jobs that are sent one by one while nobody knows how long they take; more once that is longer than a task."""
MOST_TASKS = 1000
"""Sent and not stored yet: enough for hundreds of workers, and for clusters that grow with what waits."""
MOST_BYTES = 1_000_000_000
"""Of results that are on their way."""
FILES = re.compile(r"\b(file|matrix)\b")
"""A scenario without these words reads no other file."""


@dataclass(frozen=True)
class World:
    """A scenario that can be sent: its text, the files that it names, and what must come of it there."""

    text: str
    files: tuple[tuple[str, bytes], ...]
    sha256: str

    @staticmethod
    @functools.lru_cache(maxsize=32)
    def of(scenario: _core.Scenario) -> World:
        """Pack a scenario."""
        text, files = scenario.to_toml(), dict[str, bytes]()
        if FILES.search(text):
            with topologies.record_files(files):
                scenario.override([])
        return World(text, tuple(files.items()), scenario.sha256)

    @functools.lru_cache(maxsize=32)  # noqa: B019 - a worker needs the same worlds task after task
    def scenario(self) -> _core.Scenario:
        """Unpack it.

        Raises
        ------
        RunFailed
            If it is another world here.
        """
        with topologies.use_files(dict(self.files)):
            found = _core.Scenario.parse(self.text, "scenario.toml")
        if found.sha256 != self.sha256:
            raise RunFailed("a worker finds another network by that name: install one version of topohub everywhere")
        return found


def made(version: str, packed: bytes) -> list[tuple[Any, float]]:
    """Do tasks, on a worker: what each returns, and the CPU time in seconds that it took.

    Raises
    ------
    InputError
        If the worker's optcp is not that of whoever asks.
    RunFailed
        If one fails.
    """
    if version != _core.version():
        raise InputError(
            f"a worker has optcp {_core.version()}, this is optcp {version}: install one version everywhere"
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
            raise RunFailed(f"{label}: {str(error) or type(error).__name__}") from None
    return answers


class Remote:
    """Workers behind an engine that runs functions; see :class:`optcp.study.pool.Workers`."""

    def __init__(self, executor: Executor) -> None:
        # Dask's client knows what it has sent before by its hash, unless it is told not to.
        submit: Callable[..., Any] = executor.submit
        self._call = functools.partial(submit, pure=False) if hasattr(executor, "get_executor") else submit
        self._sent: dict[Any, tuple[list[Job], float]] = {}
        self._costs = Costs()

    def do(self, jobs: Sequence[Job], progress: Progress) -> Iterator[Job | None]:  # noqa: ARG002 - nobody knows more there
        """Send jobs as tasks, and store what comes back."""
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
        """Store what has come back, and call back the rest; what a worker is at ends there for nobody."""
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
        """Take the jobs of the next task, one at least; and what they bring, in bytes."""
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
        # Worlds of one study are much alike.
        packed = zlib.compress(pickle.dumps(tasks), 1)
        try:
            return self._call(made, _core.version(), packed)
        except RuntimeError as error:
            # A pool of processes of which one was killed takes nothing any more.
            raise RunFailed(f"{batch[0].label}: {error}") from error

    def _keep(self, future: Any) -> None:  # noqa: ANN401
        batch, _ = self._sent[future]
        for job, (answer, seconds) in zip(batch, _answers(future, batch[0].label), strict=True):
            self._costs.learn(job, seconds, job.away.keep(answer))


def _answers(future: Any, label: str) -> list[tuple[Any, float]]:  # noqa: ANN401
    """What a task returned, or a sentence that says why it did not."""
    try:
        answers: list[tuple[Any, float]] = future.result()
    except (InputError, RunFailed):
        raise
    except ModuleNotFoundError as error:
        # The version of optcp cannot be asked there.
        wanted = f"optcp {_core.version()} must be installed on all workers"
        raise InputError(f"a worker cannot run this ({error}): {wanted}") from error
    except (Exception, asyncio.CancelledError) as error:  # every engine has errors of its own
        raise RunFailed(f"{label}: {' '.join(str(error).split()) or type(error).__name__}") from error
    return answers


def tasks_of(blocks: int, seconds: float, size: float) -> int:
    """In how many tasks blocks are sent that take so many seconds and bring so many bytes, all of them together."""
    enough_s = _enough(seconds)
    return min(blocks, max(1, math.ceil(seconds / enough_s), math.ceil(size / TASK_BYTES)))


def _enough(left_s: float) -> float:
    """How many seconds a task takes while so many are left."""
    return min(max(left_s / PIECES, LEAST_S), TASK_S)


class Costs:
    """What jobs have cost so far, by what they have in common."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, ...], tuple[int, float, int]] = {}
        self._dearest = 0.0, 0.0

    def learn(self, job: Job, seconds: float, size: int) -> None:
        """Take up a job that has ended: its CPU time, and the bytes that it made."""
        for end in range(len(job.away.kind) + 1):
            runs, all_seconds, all_bytes = self._sums.get(job.away.kind[:end], (0, 0.0, 0))
            self._sums[job.away.kind[:end]] = runs + job.runs, all_seconds + seconds, all_bytes + size
        runs, seconds, size = self._sums[job.away.kind[:1]]
        self._dearest = max(self._dearest[0], seconds / runs), max(self._dearest[1], size / runs)

    @property
    def seconds_a_run(self) -> float:
        """CPU time of a run, of all that have ended; 0 at first."""
        runs, seconds, _ = self._sums.get((), (0, 0.0, 0))
        return seconds / runs if runs else 0.0

    def of(self, job: Job) -> tuple[float, float] | None:
        """CPU time in seconds and bytes that a job will cost, by those that are most like it; None while none is known.

        Of a study of which no run is known it is what runs of the dearest one cost.
        """
        if not self._sums:
            return None
        for end in range(len(job.away.kind), 0, -1):
            if found := self._sums.get(job.away.kind[:end]):
                runs, seconds, size = found
                return job.runs * seconds / runs, job.runs * size / runs
        return job.runs * self._dearest[0], job.runs * self._dearest[1]
