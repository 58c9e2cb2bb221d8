"""Runs in a user-mode kernel: Linux as a program, in whose time computing takes no time.

``tools/uml/build.sh`` builds such a kernel. Started with ``time-travel=inf-cpu``, its clock only moves while all its
programs wait, and then jumps to the next timer. Reading the clock takes 1 ns. With nothing random left in it, a run is
a function of its inputs: the packets of two runs are equal.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.errors import InputError, RunFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.emulate.one import Task

MEMORY = "1G"
CONNECTIONS = 512
"""Size of the table of connections: each sample of the sockets reads all of it."""
POWER_OFF = 0x4321FEDC
LAST_LINES = 5
"""Lines of a kernel's console that an error message repeats."""
FOLDERS = ("/run", "/dev/shm")  # noqa: S108 - of the kernel's own file system
VARIABLES = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/run"}


@dataclass(frozen=True)
class Kernel:
    """Kernel, and the runs to execute in it.

    Attributes
    ----------
    program
        File of the kernel.
    scenario
        File of the scenario.
    overrides
        Changed keys of the scenario, and their values.
    task
        Task of each run.
    compare
        Whether the study also has simulated runs.
    out
        Directory of the study.
    """

    program: Path
    scenario: Path
    overrides: Sequence[tuple[str, str]]
    task: Task
    compare: bool
    out: Path

    def check(self) -> None:
        """Check that the kernel can be started.

        Raises
        ------
        InputError
            If it is not a program.
        """
        if not os.access(self.program, os.X_OK) or self.program.is_dir():
            raise InputError(f"--kernel {self.program}: not a program; tools/uml/build.sh builds a suitable one")

    def execute(self, cell: int, seed: int) -> None:
        """Start the kernel for a run, which it stores.

        Raises
        ------
        InputError, RunFailed
            If the run raised it, or if the kernel did not execute the run.
        """
        with tempfile.TemporaryDirectory(prefix="optcp-kernel-") as name:
            folder = Path(name)
            self._prepare(folder, cell, seed)
            with (folder / "console").open("wb") as console:
                self._boot(folder, console.fileno())
            for stream, file in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
                if (written := folder / file).exists():
                    stream.write(written.read_text(encoding="utf-8", errors="replace"))
                    stream.flush()
            if not (folder / "result").exists():
                lines = (folder / "console").read_text(encoding="utf-8", errors="replace").splitlines()
                raise RunFailed(f"the kernel stopped before the run ended: {' / '.join(lines[-LAST_LINES:])}")
            result = json.loads((folder / "result").read_text(encoding="utf-8"))
        if result["error"] is not None:
            raise InputError(result["error"]) if result["input"] else RunFailed(result["error"])

    def _prepare(self, folder: Path, cell: int, seed: int) -> None:
        """Write the task of the first process and its program into a folder."""
        task = {
            "scenario": str(self.scenario.resolve()),
            "overrides": list(self.overrides),
            "task": asdict(self.task),
            "compare": self.compare,
            "out": str(self.out.resolve()),
            "cell": cell,
            "seed": seed,
            "result": str(folder / "result"),
        }
        (folder / "task").write_text(json.dumps(task), encoding="utf-8")
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), **VARIABLES}
        python = shlex.quote(sys.executable)
        lines = [
            "#!/bin/sh",
            *(f"export {key}={shlex.quote(value)}" for key, value in variables.items() if key.isidentifier()),
            "mount -t proc proc /proc",
            "mount -t sysfs sysfs /sys",
            "mount -t devtmpfs devtmpfs /dev",
            "mkdir -p /dev/shm",
            *(f"mount -t tmpfs tmpfs {path}" for path in FOLDERS),
            "ip link set lo up",
            f"cd {shlex.quote(str(Path.cwd()))}",
            f"{python} -m optcp.emulate.inside {folder}/task > {folder}/stdout 2> {folder}/stderr < /dev/null",
            f"{python} -S -c 'import ctypes; ctypes.CDLL(None).reboot({POWER_OFF})'",
        ]
        first = folder / "init"
        first.write_text("\n".join(lines) + "\n", encoding="utf-8")
        first.chmod(0o755)

    def _boot(self, folder: Path, console: int) -> None:
        # The kernel and its programs alternate. On one processor, none has to be woken from rest; other work moves.
        processors = sorted(os.sched_getaffinity(0))
        command = [
            *("taskset", "--cpu-list", str(processors[os.getpid() % len(processors)])),
            *("setarch", "--addr-no-randomize", str(self.program.resolve())),
            *("time-travel=inf-cpu", "time-travel-start=0", "norandmaps", "panic=-1", "quiet", f"mem={MEMORY}"),
            f"thash_entries={CONNECTIONS}",
            *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={folder}/init"),
            *("con=null", "con0=null,fd:1", f"uml_dir={folder}/"),
        ]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True
        ) as kernel:
            try:
                kernel.wait()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(kernel.pid, signal.SIGKILL)
