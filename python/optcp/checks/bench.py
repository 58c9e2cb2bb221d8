"""Benchmarks of the simulation speed: dumbbells, other scenarios, windows and threads, burst-switched core.

A packet-hop is one transmission of a data packet or an ACK over one link. Their number depends only on the workload,
not on the engine. Rows of one size are measured alternately, so that other load on the machine affects them equally,
and ratios are computed per round. Each run has its own process, so that its peak memory can be measured.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optcp import stats
from optcp.checks.bench_worlds import IN_ONE_RUN, WORLDS
from optcp.scenarios.shipped import scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

#: Flows and simulated seconds.
SIZES = ((10, 50), (100, 10), (1000, 10))

#: TCP of the flows, and the engine unless it is the fast one; the first row is the reference.
ROWS = ("newreno", "newreno, reference engine", "sack", "linux-6", "bbr")

#: Variants of a run: engine and number of threads. The first is the reference. A scenario that does not support
#: windows uses the event queue in all variants.
WAYS = {"calendar": ("calendar", 1), "windows": ("windows", 1), "two threads": ("fast", 2)}

_PEAK = """
import json, pathlib, re, sys, time
from optcp import _core

def peak_kb():
    # Not getrusage: its peak is inherited from the process that started this one.
    status = pathlib.Path("/proc/self/status")
    found = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) if found else 0
"""

_CHILD = (
    _PEAK
    + """
tcp, flows, seconds, engine = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
before_kb = peak_kb()
start = time.process_time()
dumbbell = _core.Dumbbell(tcp, flows, seconds, engine)
ready = time.process_time()
hops, utilisation, events = dumbbell.run()
end = time.process_time()
print(json.dumps({"hops": hops, "utilisation": utilisation, "events": events, "set_up_s": ready - start,
                  "cpu_s": end - ready, "memory_mb": (peak_kb() - before_kb) / 1024}))
"""
)

#: Runs the scenario burst-core with counts of all fibres from the start.
_CORE_CHILD = (
    _PEAK
    + """
before_kb = peak_kb()
counted = [("observe.0.after", "0 s"), ("observe.0.interval", "60 ms")]
scenario = _core.Scenario.load(sys.argv[1], counted)
start = time.process_time()
run = scenario.run(1)
end = time.process_time()
_, fibres = run.table("fibres")
print(json.dumps({"packets": run.counts["sent"], "requests": int(fibres["bursts"].sum()),
                  "lost": int(fibres["lost"].sum()), "cpu_s": end - start,
                  "memory_mb": (peak_kb() - before_kb) / 1024}))
"""
)

#: Runs a scenario file with seed 1.
_WORLD_CHILD = (
    _PEAK
    + """
scenario = _core.Scenario.load(sys.argv[1], [])
before_kb = peak_kb()
start = time.process_time()
run = scenario.run(1)
end = time.process_time()
print(json.dumps({"hops": run.counts["packet_hops"], "events": run.counts["events"], "dropped": run.counts["dropped"],
                  "cpu_s": end - start, "memory_mb": (peak_kb() - before_kb) / 1024}))
"""
)

#: Runs a scenario file with seed 1, or the dumbbell without a file.
_WAY_CHILD = (
    _PEAK
    + """
how = {"engine": sys.argv[1], "threads": int(sys.argv[2])}
file, settings = sys.argv[3], json.loads(sys.argv[4])
scenario = _core.Scenario.load(file, list(settings.items())) if file else None
before_kb = peak_kb()
wall, cpu = time.perf_counter(), time.process_time()
hops = scenario.run(1, **how).counts["packet_hops"] if scenario else _core.Dumbbell(**settings, **how).run()[0]
print(json.dumps({"hops": hops, "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu,
                  "memory_mb": (peak_kb() - before_kb) / 1024}))
"""
)


@dataclass(frozen=True)
class Row:
    """Medians over the repetitions of one size of the workload with one TCP.

    Attributes
    ----------
    tcp
        TCP of the flows, and the engine unless it is the fast one.
    flows, seconds
        Number of flows, and simulated time in seconds.
    packet_hops
        Transmissions over links.
    hops_per_cpu_s
        Packet-hops per second of user and system time of the run, without set-up.
    relative
        Ratio to the first row in the same round.
    set_up_s, cpu_s
        CPU seconds of set-up and run.
    memory_mb
        Increase of the peak memory of the process by the run in MiB; 0 if unknown.
    utilisation
        Share of the bottleneck's rate that data took in the second half, 0 to 1.
    events_per_hop
        Executed events per packet-hop.
    """

    tcp: str
    flows: int
    seconds: int
    packet_hops: int
    hops_per_cpu_s: float
    relative: float
    set_up_s: float
    cpu_s: float
    memory_mb: float
    utilisation: float
    events_per_hop: float


@dataclass(frozen=True)
class World:
    """Result for a scenario of :mod:`optcp.checks.bench_worlds`; medians over the repetitions.

    Attributes
    ----------
    name
        Name of the scenario.
    packet_hops
        Transmissions of packets by ports.
    dropped
        Packets that were dropped.
    hops_per_cpu_s
        Packet-hops per second of user and system time of the run and its set-up, without reading the file.
    cpu_s
        User and system time in seconds.
    memory_mb
        Increase of the peak memory of the process by the run in MiB; 0 if unknown.
    events_per_hop
        Executed events per packet-hop.
    """

    name: str
    packet_hops: int
    dropped: int
    hops_per_cpu_s: float
    cpu_s: float
    memory_mb: float
    events_per_hop: float


@dataclass(frozen=True)
class Way:
    """Measurements of a scenario with one of ``WAYS``: medians over the repetitions.

    Attributes
    ----------
    ns_per_hop
        Nanoseconds of wall time of the run with its set-up, the file already read, by packet-hops.
    cpu_s
        CPU seconds of that, of all threads.
    memory_mb
        Increase of the peak memory of the process by the run in MiB; 0 if unknown.
    relative
        The first way's wall time by this one's in the same turn: above 1 this one is faster.
    relative_ci95
        95 % interval of the geometric mean of these quotients; None with one repetition.
    """

    ns_per_hop: float
    cpu_s: float
    memory_mb: float
    relative: float
    relative_ci95: tuple[float, float] | None


@dataclass(frozen=True)
class InOneRun:
    """Measurements of a scenario with the event queue, in windows, and on two threads.

    Attributes
    ----------
    name
        Name of the scenario.
    packet_hops
        Transmissions of packets by ports, the same with all.
    ways
        Measurements by the names of ``WAYS``.
    """

    name: str
    packet_hops: int
    ways: dict[str, Way]


@dataclass(frozen=True)
class Core:
    """The scenario ``burst-core``: 14 nodes, 8 wavelengths a fibre, load 0.5; medians over the repetitions.

    Attributes
    ----------
    packets
        Packets that the sources sent.
    requests, lost
        How often a burst asked for a wavelength of a fibre, and how often there was none.
    cpu_s
        CPU seconds of the run with its set-up, the file already read.
    memory_mb
        Increase of the peak memory of the process by the run in MiB; 0 if unknown.
    """

    packets: int
    requests: int
    lost: int
    cpu_s: float
    memory_mb: float


def measure_core(repeat: int) -> Core:
    """Run the core of burst switches ``repeat`` times.

    Raises
    ------
    subprocess.CalledProcessError
        If a run fails.
    """
    command = [sys.executable, "-c", _CORE_CHILD, str(scenarios()["burst-core"])]
    turns = [_child(command) for _ in range(repeat)]
    counts = {name: int(turns[0][name]) for name in ("packets", "requests", "lost")}
    cpu_s, memory_mb = (statistics.median(turn[name] for turn in turns) for name in ("cpu_s", "memory_mb"))
    return Core(**counts, cpu_s=cpu_s, memory_mb=memory_mb)


def measure_worlds(repeat: int) -> list[World]:
    """Run each scenario ``repeat`` times, in turn.

    Raises
    ------
    subprocess.CalledProcessError
        If a run fails.
    """
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in WORLDS}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{number}.toml" for number, name in enumerate(WORLDS)}
        for name, file in files.items():
            file.write_text(WORLDS[name](), encoding="utf-8")
        for _ in range(repeat):
            for name, file in files.items():
                turns[name].append(_child([sys.executable, "-c", _WORLD_CHILD, str(file)]))
    return [_world(name, found) for name, found in turns.items()]


def _world(name: str, turns: list[dict[str, float]]) -> World:
    hops, events, dropped = (int(turns[0][count]) for count in ("hops", "events", "dropped"))
    cpu_s, memory_mb = (statistics.median(turn[name] for turn in turns) for name in ("cpu_s", "memory_mb"))
    return World(name, hops, dropped, hops / cpu_s, cpu_s, memory_mb, events / hops)


def measure_in_one_run(
    repeat: int, worlds: Mapping[str, tuple[Callable[[], str] | None, Mapping[str, str | int]]] = IN_ONE_RUN
) -> list[InOneRun]:
    """Run each scenario ``repeat`` times with the event queue, in windows, and on two threads, in turn.

    Raises
    ------
    subprocess.CalledProcessError
        If a run fails.
    RuntimeError
        If the numbers of packet-hops differ.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (write, settings) in worlds.items():
            what = ["", json.dumps(settings)]
            if write is not None:
                file = Path(folder) / "world.toml"
                file.write_text(write(), encoding="utf-8")
                what[0] = str(file)
            turns = [
                {
                    way: _child([sys.executable, "-c", _WAY_CHILD, engine, str(threads), *what])
                    for way, (engine, threads) in WAYS.items()
                }
                for _ in range(repeat)
            ]
            rows.append(_in_one_run(name, turns))
    return rows


def _in_one_run(name: str, turns: list[dict[str, dict[str, float]]]) -> InOneRun:
    first = next(iter(WAYS))
    hops = int(turns[0][first]["hops"])
    if any(found["hops"] != hops for turn in turns for found in turn.values()):
        raise RuntimeError(f"{name}: packet-hops depend on windows or threads: {turns}")

    def way(one: str) -> Way:
        wall_s, cpu_s, memory_mb = (
            statistics.median(turn[one][key] for turn in turns) for key in ("wall_s", "cpu_s", "memory_mb")
        )
        relative = [turn[first]["wall_s"] / turn[one]["wall_s"] for turn in turns]
        # The first way is compared with itself: its quotient of 1 is no estimate.
        ends = stats.exact(0.0) if one == first else stats.mean([math.log(quotient) for quotient in relative])
        ci95 = (math.exp(ends.low), math.exp(ends.high)) if len(turns) > 1 else None
        return Way(wall_s / hops * 1e9, cpu_s, memory_mb, statistics.median(relative), ci95)

    return InOneRun(name, hops, {one: way(one) for one in WAYS})


def measure(tcps: Sequence[str], flows: int, seconds: int, repeat: int) -> list[Row]:
    """Run one size ``repeat`` times with each TCP, in turn; the rows are compared with the first.

    Raises
    ------
    subprocess.CalledProcessError
        If a run fails.
    """
    turns = [{tcp: _run(tcp, flows, seconds) for tcp in tcps} for _ in range(repeat)]
    return [_row(tcp, flows, seconds, turns, tcps[0]) for tcp in tcps]


def _run(tcp: str, flows: int, seconds: int) -> dict[str, float]:
    name, _, engine = tcp.removesuffix(" engine").partition(", ")
    command = [sys.executable, "-c", _CHILD, name, str(flows), str(seconds), engine or "fast"]
    found = _child(command)
    return {**found, "speed": found["hops"] / found["cpu_s"]}


def _child(command: list[str]) -> dict[str, float]:
    child = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
    found: dict[str, float] = json.loads(child.stdout)
    return found


def _row(tcp: str, flows: int, seconds: int, turns: list[dict[str, dict[str, float]]], first: str) -> Row:
    def median(name: str) -> float:
        return statistics.median(turn[tcp][name] for turn in turns)

    counts = turns[0][tcp]
    return Row(
        tcp=tcp,
        flows=flows,
        seconds=seconds,
        packet_hops=int(counts["hops"]),
        hops_per_cpu_s=median("speed"),
        relative=statistics.median(turn[tcp]["speed"] / turn[first]["speed"] for turn in turns),
        set_up_s=median("set_up_s"),
        cpu_s=median("cpu_s"),
        memory_mb=median("memory_mb"),
        utilisation=counts["utilisation"],
        events_per_hop=counts["events"] / counts["hops"],
    )
