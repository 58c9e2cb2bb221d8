"""Overhead of a Dask cluster: an empty task, and studies in threads and on one and two workers of this machine.

``python benches/cluster.py`` prints the figures of docs/developers/performance.md. On a machine with other load, CPU
times are more reliable than wall times.
"""

from __future__ import annotations

import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from rich.console import Console

import optcp
from optcp import _core
from optcp.study import remote
from optcp.study.cluster import connected
from optcp.study.progress import Silent

if TYPE_CHECKING:
    from collections.abc import Iterator

DELAYS = ["0 ms", "50 ms", "250 ms", "500 ms", "1 s"]
STUDIES = {
    "section 5 of the GMPLS paper, 5 cells of 800 seeds": ("gmpls-section5", 800),
    "single-failure with its packets, 5 cells of 60 seeds": ("single-failure", 60),
}
TURNS = 3
TASKS = 2000


def main() -> None:
    """Start a scheduler and then its workers, and measure."""
    say = Console(highlight=False, soft_wrap=True).print
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        children = [started(place, "scheduler", "--port", "0", "--scheduler-file", "scheduler.json")]
        try:
            while not (place / "scheduler.json").is_file():
                time.sleep(0.1)
            address = json.loads((place / "scheduler.json").read_text())["address"]
            with connected(address) as client:
                for workers in (1, 2):
                    children.append(started(place, "worker", address, "--nthreads", "1", "--no-nanny"))
                    client.wait_for_workers(workers, timeout=60)
                    processes = [psutil.Process(), *(psutil.Process(child.pid) for child in children)]
                    say(f"{workers} workers, a task of nothing: {overhead(client, processes)}")
                    for title, (world, seeds) in STUDIES.items():
                        study = optcp.Study(world, {"parameters.switch_delay": DELAYS}, seeds=seeds)
                        for line in compared(study, workers, client, processes):
                            say(f"{title}, {line}")
        finally:
            for child in children:
                child.kill()
                child.wait()


def started(place: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a process of the cluster."""
    here = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    command = [sys.executable, "-m", "dask", *words, *here]
    return subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603


def cpu_s(processes: list[psutil.Process]) -> list[float]:
    """Return the CPU time of each process."""
    return [sum(process.cpu_times()[:2]) for process in processes]


def overhead(client: Any, processes: list[psutil.Process]) -> str:  # noqa: ANN401 - Dask types a part of itself
    """Return wall and CPU time per empty task, all submitted at once."""
    packed = zlib.compress(pickle.dumps([("nothing", int)]), 1)
    began, before = time.monotonic(), cpu_s(processes)
    futures = [client.submit(remote.made, _core.version(), packed, pure=False) for _ in range(TASKS)]
    for future in futures:
        future.result()
    took = time.monotonic() - began
    asking, scheduler, *workers = (now - then for now, then in zip(cpu_s(processes), before, strict=True))
    shares = {"asking": asking, "scheduler": scheduler, "workers": sum(workers)}
    of_each = ", ".join(f"{name} {1000 * share / TASKS:.2f} ms" for name, share in shares.items())
    return f"{1000 * took / TASKS:.2f} ms; CPU time: {of_each}"


def compared(study: optcp.Study, workers: int, client: Any, processes: list[psutil.Process]) -> Iterator[str]:  # noqa: ANN401
    """Yield timings of a study in threads and on workers, alternating."""
    found: dict[str, list[tuple[float, ...]]] = {"threads": [], "workers": []}
    for _ in range(TURNS):
        for how, where in (("threads", {"jobs": workers}), ("workers", {"executor": client})):
            with tempfile.TemporaryDirectory() as out:
                began, before = time.monotonic(), cpu_s(processes)
                study.run(out, progress=Silent(), **where)
                wall = time.monotonic() - began
                spent = [now - then for now, then in zip(cpu_s(processes), before, strict=True)]
                parts = [json.loads(path.read_text()) for path in Path(out).glob("parts/*.json")]
            size = sum(file["bytes"] for part in parts for file in part["files"].values())
            found[how].append((wall, sum(spent), spent[0], spent[1], len(parts), size / 1e6))
    for how, rows in found.items():
        wall, cpu, asking, scheduler, parts, size = (statistics.median(column) for column in zip(*rows, strict=True))
        more = f", of it asking {asking:.2f}, scheduler {scheduler:.2f}" if how == "workers" else ""
        yield f"{workers} {how}: {wall:.2f} s, {cpu:.2f} CPU s{more}; {parts:.0f} parts, {size:.0f} MB"
    quotients = [t[0] / w[0] for t, w in zip(found["threads"], found["workers"], strict=True)]
    yield f"threads over {workers} workers, turn by turn: {statistics.median(quotients):.3f}"


if __name__ == "__main__":
    main()
