"""Linux's TCP behind a policer, recorded on a real-time link, and ``linux-6`` in the scenario ``policed``."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optcp.scenarios.run import Run
from optcp.scenarios.scenario import Scenario, load
from optcp_papers.evidence.kernel import CHOICES
from optcp_papers.evidence.outside import DATA

RUNS = DATA / "kernel_policed.json"
CONTROLS = ("bbr", "cubic", "reno")
BURSTS_KB = (15, 50, 500)
AFTER_S, END_S = 4, 12
"""Part of a run that is measured."""
SEEDS = 10


@dataclass(frozen=True)
class Did:
    """Goodput, and share of the data packets that are lost."""

    goodput_mbps: float
    lost_pct: float


@functools.cache
def recorded() -> dict[str, Any]:
    """Return the kernel's recordings."""
    return dict(json.loads(RUNS.read_text(encoding="utf-8")))


def recorded_runs(control: str, burst_kb: int) -> list[Did]:
    """Return each repetition of a set-up."""
    return [Did(run["goodput_mbps"], run["lost_pct"]) for run in recorded()["runs"][control][str(burst_kb)]]


def scenario(control: str, burst_kb: int) -> Scenario:
    """Return the scenario of a recorded set-up: the links of the recording have no jitter."""
    changed = {f"tcp.linux.{key}": value for key, value in CHOICES[control].items()}
    observe = [
        {"name": "goodput", "kind": "goodput", "interval": "1 s"},
        {"name": "packets", "kind": "packets", "after": f"{AFTER_S} s"},
    ]
    world = {"parameters.burst": f"{burst_kb} kB", "stop": f"{END_S} s", "links.0.jitter": "0 s", "observe": observe}
    return load("policed").set(changed | world | {"flows.0.start": "0 s", "measure": {}})


def simulated(run: Run) -> Did:
    """Return the behaviour of a simulated flow."""
    goodput, packets = run["goodput"], run["packets"]
    event = packets["event"][~packets["ack"]]
    sent, lost = (int(np.isin(event, kinds).sum()) for kinds in (["sent", "resent"], ["dropped"]))
    new_bytes = goodput["bytes"][goodput["time_ps"] > AFTER_S * 1e12].sum()
    return Did(8e-6 * float(new_bytes) / (END_S - AFTER_S), 100 * lost / sent)


def simulations(control: str, burst_kb: int) -> list[Did]:
    """Return the simulated flows of a set-up, one per seed."""
    prepared = scenario(control, burst_kb)
    return [simulated(prepared.run(seed=seed)) for seed in range(1, SEEDS + 1)]


def table() -> str:
    """Return the table of docs/details/token-buckets.md."""
    lines = [
        "| `congestion` | burst | goodput (Mb/s): kernel | simulated | data lost (%): kernel | simulated |",
        "|---|---|---|---|---|---|",
    ]
    for control, burst_kb in itertools.product(CONTROLS, BURSTS_KB):
        sides = recorded_runs(control, burst_kb), simulations(control, burst_kb)
        goodput = [range_text([did.goodput_mbps for did in side]) for side in sides]
        lost = [range_text([did.lost_pct for did in side]) for side in sides]
        lines.append(f"| `{control}` | {burst_kb} kB | {' | '.join([*goodput, *lost])} |")
    return "\n".join(lines) + "\n"


def range_text(values: Sequence[float]) -> str:
    """Return the range of a figure over repetitions or seeds."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"
