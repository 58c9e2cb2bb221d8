"""How fast the simulator is: the dumbbell workload, counted in packet-hops a CPU second.

A packet-hop is one transmission of a data packet or an ACK over one link; the workload defines their number,
whatever the kernel executes for it. Every run has a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from dataclasses import dataclass

#: Flows and simulated seconds of the rows.
ROWS = ((10, 50), (100, 10), (1000, 10))

_CHILD = """
import json, pathlib, re, sys, time
from optcp import _core

def peak_kb():
    # Not getrusage: its peak is inherited from the process that started this one.
    status = pathlib.Path("/proc/self/status")
    found = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) if found else 0

flows, seconds = map(int, sys.argv[1:])
before_kb = peak_kb()
start = time.process_time()
dumbbell = _core.Dumbbell(flows, seconds)
ready = time.process_time()
hops, utilisation, events = dumbbell.run()
end = time.process_time()
print(json.dumps({"hops": hops, "utilisation": utilisation, "events": events, "set_up_s": ready - start,
                  "cpu_s": end - ready, "memory_mb": (peak_kb() - before_kb) / 1024}))
"""


@dataclass(frozen=True)
class Row:
    """Medians over the repetitions of one size of the workload.

    Attributes
    ----------
    flows, seconds
        The size; simulated seconds.
    packet_hops
        Transmissions over links as the workload defines them.
    hops_per_cpu_s
        Packet-hops by user and system time of the run, set-up not included.
    set_up_s, cpu_s
        CPU seconds of set-up and run.
    memory_mb
        What the run adds to the peak memory of its process, MiB; 0 where the system does not tell.
    utilisation
        Share of the bottleneck's rate that data took in the second half, 0 to 1.
    events_per_hop
        Events that the kernel executed for a packet-hop.
    """

    flows: int
    seconds: int
    packet_hops: int
    hops_per_cpu_s: float
    set_up_s: float
    cpu_s: float
    memory_mb: float
    utilisation: float
    events_per_hop: float


def measure(flows: int, seconds: int, repeat: int) -> Row:
    """Run one size ``repeat`` times.

    Raises
    ------
    subprocess.CalledProcessError
        If a run fails.
    """
    runs = []
    for _ in range(repeat):
        command = [sys.executable, "-c", _CHILD, str(flows), str(seconds)]
        child = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
        runs.append(json.loads(child.stdout))

    def median(name: str) -> float:
        return float(statistics.median(run[name] for run in runs))

    hops = runs[0]["hops"]
    return Row(
        flows=flows,
        seconds=seconds,
        packet_hops=hops,
        hops_per_cpu_s=statistics.median(run["hops"] / run["cpu_s"] for run in runs),
        set_up_s=median("set_up_s"),
        cpu_s=median("cpu_s"),
        memory_mb=median("memory_mb"),
        utilisation=runs[0]["utilisation"],
        events_per_hop=runs[0]["events"] / hops,
    )
