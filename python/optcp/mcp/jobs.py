"""Processes of tool calls: start, progress, limits and end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import IO, TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.streams.buffered import BufferedByteReceiveStream

from optcp.mcp.limits import MB, Limits
from optcp.mcp.problems import FAILED, LIMIT, problem

if TYPE_CHECKING:
    from pathlib import Path

    from anyio.abc import Process

Tell = Callable[[float, float, str], Awaitable[None]]
"""Receiver of progress: done, total, message."""

MOST_BYTES = 16 * MB
"""Maximum length of one message of a call."""
LOOK_EVERY_S = 0.2
"""Interval of checks of the disk space, in s."""
TAIL = 2000
"""Number of characters of the error output in a message."""
NO_MEMORY = ("memory allocation of", "MemoryError", "Cannot allocate memory", "out of memory", "start new thread")
ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",  # each arena reserves 64 MB, which the limit counts
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",  # each thread reserves memory, too
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}
CACHE = ".optcp-mcp"
"""Folder below the directory where Matplotlib keeps its list of fonts."""


class Stopped(Exception):  # noqa: N818 - named after the event
    """Call that ended with a problem.

    Attributes
    ----------
    problem
        The problem as JSON values.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__(found["message"])
        self.problem = found


@dataclass
class Jobs:
    """Execution of tool calls, one after another, each in a separate process.

    Attributes
    ----------
    directory
        Directory of the server.
    limits
        Limits of each call.
    """

    directory: Path
    limits: Limits
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def call(self, tool: str, arguments: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Execute a tool and return its result. If the caller is cancelled, the process is killed.

        Raises
        ------
        Stopped
            If the call ends with a problem, or a limit ends it.
        """
        async with self._turn:
            with tempfile.TemporaryFile(dir=self.directory) as errors:
                # A separate session, so that Ctrl-C at the terminal of the server does not reach it.
                process = await anyio.open_process(
                    [sys.executable, "-P", "-m", "optcp.mcp.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, **ENVIRONMENT, "MPLCONFIGDIR": str(self.directory / CACHE)},
                    start_new_session=True,
                )
                try:
                    return await self._talk(process, {"tool": tool, "arguments": arguments}, tell, errors)
                finally:
                    with anyio.CancelScope(shield=True):
                        if process.returncode is None:
                            process.kill()
                        await process.aclose()

    async def _talk(self, process: Process, job: dict[str, Any], tell: Tell, errors: IO[bytes]) -> dict[str, Any]:
        job |= {"limits": asdict(self.limits), "directory": str(self.directory)}
        watch = _Watch(self.directory, self.limits.disk_mb * MB)
        await watch.begin()
        found: dict[str, Any] = {}
        last: list[str] = []
        with anyio.move_on_after(self.limits.wall_s) as patience:
            async with anyio.create_task_group() as group:
                group.start_soon(watch.stop_if_full, process)
                found = await _messages(process, job, tell, last)
                await process.wait()
                group.cancel_scope.cancel()
        if patience.cancelled_caught:
            raise Stopped(problem(LIMIT, f"the call took more than {self.limits.wall_s:g} s, although it may wait"))
        # A process that ends before the next look may have written too much, too.
        if watch.full or await watch.is_full():
            raise Stopped(problem(LIMIT, f"the call wrote more than {self.limits.disk_mb} MB (`--disk`); {_KEPT}"))
        if "result" in found:
            result: dict[str, Any] = found["result"]
            return result
        if "problem" in found:
            raise Stopped(found["problem"])
        ended = self._ended(process.returncode, errors)
        if ended["kind"] == LIMIT and last:
            ended["message"] += f"; reached: {last[-1]}"
        raise Stopped(ended)

    def _ended(self, status: int | None, errors: IO[bytes]) -> dict[str, Any]:
        """Return the problem of a process that ended without a result."""
        errors.seek(0)
        said = errors.read().decode(errors="replace")[-TAIL:]
        if status == -signal.SIGXCPU:
            return problem(LIMIT, f"the call took more than {self.limits.cpu_s} s of CPU time (`--cpu`); {_KEPT}")
        if any(text in said for text in NO_MEMORY):
            return problem(
                LIMIT, f"the call needs more than {self.limits.memory_mb} MB of memory (`--memory`); {_KEPT}"
            )
        if status == -signal.SIGKILL:
            return problem(
                LIMIT, "the process of the call was killed: the machine has no free memory, or a person ended it"
            )
        return problem(FAILED, f"the process of the call ended with status {status}: {said}")


_KEPT = (
    "finished runs are stored, and the same call continues; or use fewer runs, mechanisms or observations, or a "
    "shorter `stop`"
)


async def _messages(process: Process, job: dict[str, Any], tell: Tell, last: list[str]) -> dict[str, Any]:
    """Send a job, pass its progress on, and return its last message; empty if the process ends without one.

    ``last`` receives the texts of the progress.
    """
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process has no pipes")
    try:
        await process.stdin.send(json.dumps(job).encode() + b"\n")
        stream = BufferedByteReceiveStream(process.stdout)
        while True:
            message: dict[str, Any] = json.loads(await stream.receive_until(b"\n", MOST_BYTES))
            if "progress" not in message:
                return message
            at = message["progress"]
            last[:] = [at["message"]]
            await tell(at["done"], at["total"], at["message"])
    except (anyio.IncompleteRead, anyio.EndOfStream, anyio.BrokenResourceError):
        return {}


@dataclass
class _Watch:
    """Growth of a directory during a call."""

    directory: Path
    most_bytes: int
    full: bool = False
    _before: int = 0

    async def begin(self) -> None:
        self._before = await anyio.to_thread.run_sync(size, self.directory)

    async def is_full(self) -> bool:
        return await anyio.to_thread.run_sync(size, self.directory) - self._before > self.most_bytes

    async def stop_if_full(self, process: Process) -> None:
        while not self.full:
            await anyio.sleep(LOOK_EVERY_S)
            self.full = await self.is_full()
        process.kill()


def size(directory: Path) -> int:
    """Return the size of all files below a directory in bytes; links count as themselves."""
    total, folders = 0, [str(directory)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:  # removed meanwhile
            continue
    return total
