"""Record Linux's TCP in simulated time, in the set-ups of ``kernel_outages_1000_hz.toml`` or ``kernel_bbr3.toml``.

``queue_linux_build.sh FOLDER`` builds a Linux that runs as a process with simulated time; then, as root:
``python tools/recorders/kernel_uml.py FOLDER [WORLD|CONTROL ...]``. The file boots that kernel with itself as the first
process (``time-travel=inf-cpu``): computation takes no time, and a sleep ends exactly on time. Reading a clock takes
256 ns. Sender, receiver and link are as in ``kernel_runs.py``, but the link has no lateness and never busy-waits.
With ``sender_queue = "fq"`` the sender's device has that discipline.

A recording is a function of the set-up and of the phase of the kernel's clock. Repetitions start at
:data:`REPETITIONS` phases of a slot of its timer wheel, :data:`PHASE_S` apart. ``--other FILE`` writes another kernel's
recordings elsewhere, for example to calibrate with set-ups whose result is known (``--experiment outages``).
``--experiment bbr3-kernel`` or ``prague-kernel`` needs a kernel with the code of others (``queue_linux_build.sh``).
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import kernel_runs
from linux_uml_runs import shell
from optcp_papers.evidence.kernel_worlds import BBR3, CONTROLS, FILES, MSS_BYTES, PRAGUE, World, worlds
from records import RECORDS

HERE = Path(__file__).resolve()
NAME = "outages-1000-hz"
OUT = {
    NAME: RECORDS / "kernel_outages_1000_hz.json",
    "bbr3-kernel": RECORDS / "kernel_bbr3.json",
    "prague-kernel": RECORDS / "kernel_prague.json",
}
ONLY = {"bbr3-kernel": (BBR3,), "prague-kernel": (PRAGUE,)}
"""Congestion controls of an experiment, where they are not all."""
KERNEL_NAMES = {BBR3: "bbr"}
STEP_S = 0.1
REPETITIONS = 3
PHASE_S = 0.0213
MEMORY = "1024M"
POWER_OFF = 0x4321FEDC
LOAD, TREE = "floating.so", "linux-source-*/linux"


def repetition(link: Path, world: World, control: str, number: int, traces: Path | None) -> list[kernel_runs.Run]:
    """Run a set-up once, at one phase of the kernel's clock."""
    slot = PHASE_S * REPETITIONS
    time.sleep(slot - time.monotonic() % slot + number * PHASE_S)
    samples, output = kernel_runs.transfer(link, world, KERNEL_NAMES.get(control, control))
    passed, (_, late_ns, latest_ns) = kernel_runs.parse_link_output(output)
    if traces:
        traces.with_suffix(".link").write_text(output, encoding="ascii")
        traces.with_suffix(".samples").write_text(json.dumps(samples), encoding="ascii")
    failed = min((outage.start_s * 1e9 for outage in world.outages), default=0)
    flows = enumerate(zip(samples, world.flows, strict=True))
    runs = [kernel_runs.measured(rows, passed[at], flow.segments, STEP_S, failed) for at, (rows, flow) in flows]
    return [run | {"late_us": [late_ns / 1e3, latest_ns / 1e3]} for run in runs]


def record(options: argparse.Namespace) -> None:
    """Run the requested set-ups."""
    known = worlds(options.experiment)
    names = [name for name in known if name in options.asked] or list(known)
    possible = ONLY.get(options.experiment, CONTROLS)
    controls = [control for control in possible if control in options.asked] or list(possible)
    out = options.other or OUT[options.experiment]
    runs = json.loads(out.read_text(encoding="utf-8"))["runs"] if out.exists() else {}
    for name, control in itertools.product(names, controls):
        traces = options.traces / f"{name}-{control}" if options.traces else None
        numbers = range(options.repetitions)
        done = [repetition(options.link, known[name], control, number, traces) for number in numbers]
        runs.setdefault(name, {})[control] = done
        ends = [(run[0]["completion_s"], run[0]["stall_s"][1], run[0]["retransmissions"]) for run in done]
        sys.stdout.write(f"{name} {control} {ends} late {done[0][0]['late_us']}\n")
        sys.stdout.flush()
        ordered = {name: runs[name] for name in known if name in runs}
        head = {"kernel": f"Linux {os.uname().release}, as a process, time-travel=inf-cpu", "mss": MSS_BYTES}
        kernel_runs.write(ordered, out, head | {"step_s": STEP_S})
        os.sync()


def boot(program: Path, words: Sequence[str], preload: Path | None = None) -> None:
    """Boot a Linux whose first process is this Python with a file and its options."""
    kernel = [str(program), "time-travel=inf-cpu", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "quiet"]
    kernel += [
        f"mem={MEMORY}",
        "console=tty0",
        "con=null",
        "con0=fd:0,fd:1",
        f"PYTHONPATH={os.environ.get('PYTHONPATH', '')}",
    ]
    kernel += [f"init={sys.executable}", "--", *words]
    loaded = {"LD_PRELOAD": str(preload)} if preload else {}
    subprocess.run(kernel, check=True, env=os.environ | loaded)  # noqa: S603


def run_as_first_process(do: Callable[[], None]) -> None:
    """Run a function as the first process of the kernel, and stop the kernel."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        shell("mount", "-t", "proc", "proc", "/proc")
        Path("/proc/sys/net/ipv4/tcp_mem").write_text("1000000 1000000 1000000", encoding="ascii")
        do()
    except Exception:  # noqa: BLE001 - the kernel stops before anybody else could print it
        traceback.print_exc()
    os.sync()
    sys.stdout.flush()
    ctypes.CDLL(None).reboot(POWER_OFF)


def compiled_link(folder: Path) -> Path:
    """Compile the link for simulated time."""
    link = folder / "kernel_link"
    shell("cc", "-O2", "-D_GNU_SOURCE", "-DSPIN_NS=0", "-o", str(link), str(kernel_runs.LINK))
    return link


def main() -> None:
    """Boot the kernel, or record if this is its first process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of queue_linux_build.sh")
    parser.add_argument("--experiment", choices=FILES, default=NAME, help="which set-ups")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="number of phases of the clock")
    parser.add_argument("--other", type=Path, help="file of the recordings, other than the experiment's")
    parser.add_argument("--traces", type=Path, help="folder for the packets and samples of the last repetitions")
    parser.add_argument("--link", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("asked", nargs="*", metavar="WORLD|CONTROL")
    options = parser.parse_intermixed_args()
    if os.getpid() == 1:
        run_as_first_process(lambda: record(options))
        return
    folder = options.folder.resolve()
    if options.traces:
        options.traces.mkdir(parents=True, exist_ok=True)
    (program,) = folder.glob(TREE)
    boot(program, [str(HERE), *sys.argv[1:], "--link", str(compiled_link(folder))], preload=folder / LOAD)


if __name__ == "__main__":
    main()
