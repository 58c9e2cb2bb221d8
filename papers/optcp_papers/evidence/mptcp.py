"""Multipath TCP of Linux, recorded over two real-time links, and the profile ``linux-6`` in the same set-ups."""

from __future__ import annotations

import functools
import itertools
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from optcp.scenarios.run import Run
from optcp.scenarios.scenario import Scenario
from optcp_papers.evidence.kernel import CHOICES, FAST
from optcp_papers.evidence.kernel_worlds import HAND_OVER_MS
from optcp_papers.evidence.outside import DATA

WORLDS, RUNS = DATA / "kernel_mptcp.toml", DATA / "kernel_mptcp.json"
CONTROLS = ("cubic", "reno")
STEP_S = 0.1
"""Interval of recorded bytes, in s."""
MSS_BYTES, PACKET_BYTES = 1424, 1500
"""Payload of the recorded segments, whose headers have 24 B of DSS, and their size."""
GROUP = "mptcp"
STOP, STOP_S = "60 s", 60
AFTER_S = 2.0
"""Time after the begin of an outage in which received data are counted."""
DIGITS = {"completion_s": 3, "share_pct": 1, "resent": 0, "after_mb": 2}
"""Number of decimals of each figure of :class:`Did`."""
SEEDS = 10
"""Number of seeds: the clocks of both hosts are random."""


@dataclass(frozen=True)
class Link:
    """One link of a set-up; the file describes its keys."""

    rate_mbps: float
    queue: int
    delay_ms: float


@dataclass(frozen=True)
class MultipathWorld:
    """One set-up.

    Attributes
    ----------
    links
        Link of each subflow.
    size
        Bytes of the transfer.
    outage
        Failed link, and the times in s at which it fails and returns, if any.
    """

    links: tuple[Link, ...]
    size: int
    outage: tuple[int, float, float] | None


@functools.cache
def worlds() -> Mapping[str, MultipathWorld]:
    """Return all set-ups by name."""
    listed = tomllib.loads(WORLDS.read_text(encoding="utf-8"))
    default = listed.pop("default")
    return {name: _world(default | keys) for name, keys in listed.items()}


def _world(keys: Mapping[str, Any]) -> MultipathWorld:
    links = zip(keys["rate_mbps"], keys["queue"], keys["delay_ms"], strict=True)
    outage = tuple(keys["outage"]) if "outage" in keys else None
    return MultipathWorld(tuple(Link(*link) for link in links), keys["size"], outage)


@functools.cache
def recorded() -> dict[str, Any]:
    """Return the kernel's recordings."""
    return dict(json.loads(RUNS.read_text(encoding="utf-8")))


def scenario(world: MultipathWorld, control: str) -> Scenario:
    """Return the scenario of a recorded set-up with a congestion control."""
    nodes = [f"bottleneck{number}" for number in range(len(world.links))]
    links: list[dict[str, Any]] = []
    for node, link in zip(nodes, world.links, strict=True):
        queue = {"rate": f"{link.rate_mbps} Mbps", "delay": "0 s", "queue": f"{link.queue} packets", "reverse": FAST}
        links += [{"chain": ["sender", node], **queue}]
        links += [{"chain": [node, "receiver"], "delay": f"{link.delay_ms + HAND_OVER_MS:.3f} ms", **FAST}]
    tcp = {"profile": "linux-6", "handshake": True, "ack": "every-packet", "mss": f"{MSS_BYTES} B"}
    tables: dict[str, Any] = {
        "title": "Multipath TCP of Linux as it was recorded",
        "stop": STOP,
        "tcp": {GROUP: tcp | {"header": f"{PACKET_BYTES - MSS_BYTES} B"} | CHOICES[control]},
        "nodes": [{"names": ["sender", *nodes, "receiver"]}],
        "links": links,
        "flows": [
            {
                "group": GROUP,
                "tcp": GROUP,
                "size": f"{-(-world.size // MSS_BYTES)} segments",
                "multipath": {"paths": [["sender", node, "receiver"] for node in nodes]},
            }
        ],
        "observe": [
            {"name": "completions", "kind": "completions"},
            {"name": "goodput", "kind": "goodput", "groups": [GROUP], "interval": f"{STEP_S} s"},
            {"name": "packets", "kind": "packets"},
        ],
    }
    if world.outage:
        failed, start_s, end_s = world.outage
        failure = {"link": [nodes[failed], "receiver"], "at": f"{start_s} s"}
        tables["failures"] = [failure | ({"repair": f"{end_s} s"} if end_s < STOP_S else {})]
    return Scenario.from_dict(tables)


@dataclass(frozen=True)
class Did:
    """Behaviour of a connection, simulated or recorded.

    Attributes
    ----------
    completion_s
        Time from the first SYN until the receiver has all data.
    share_pct
        Share of the first subflow in the bytes that are sent once.
    resent
        Retransmissions of all subflows.
    after_mb
        Data that the receiver gets in :data:`AFTER_S` after an outage begins, in MB; NaN without an outage.
    """

    completion_s: float
    share_pct: float
    resent: int
    after_mb: float


def recorded_runs(name: str, control: str) -> list[Did]:
    """Return each repetition of a set-up."""
    return [
        Did(
            run["completion_s"],
            100 * run["new_bytes"][0] / sum(run["new_bytes"]),
            sum(run["retransmissions"]),
            after(worlds()[name], run["received"]),
        )
        for run in recorded()["runs"][name][control]
    ]


def after(world: MultipathWorld, received: Sequence[float]) -> float:
    """Return the data in MB after the outage, from the bytes received up to each :data:`STEP_S`."""
    if not world.outage:
        return np.nan
    begin, end = (round(at_s / STEP_S) - 1 for at_s in (world.outage[1], world.outage[1] + AFTER_S))
    return float(received[min(end, len(received) - 1)] - received[begin]) / 1e6


def simulated(run: Run, world: MultipathWorld) -> Did:
    """Return the behaviour of a simulated connection."""
    done, packets = run["completions"], run["packets"]
    sent = (packets["event"] == "sent") & ~packets["ack"] & (packets["data_seq"] > 0)
    first = packets["flow"] == f"{GROUP}.1/sender/0"
    return Did(
        float(done["time_ps"][done["flow"] == f"{GROUP}/sender/0"][0]) / 1e12,
        100 * float(np.sum(sent & first)) / float(np.sum(sent)),
        int(np.sum((packets["event"] == "resent") & ~packets["ack"])),
        after(world, np.cumsum(run["goodput"]["bytes"]).tolist()),
    )


def simulations(name: str, control: str) -> list[Did]:
    """Return the simulated connections of a set-up, one per seed."""
    world = worlds()[name]
    prepared = scenario(world, control)
    return [simulated(prepared.run(seed=seed), world) for seed in range(1, SEEDS + 1)]


def table() -> str:
    """Return the table of docs/details/mptcp.md."""
    lines = [
        "| set-up | control | completion (s): kernel | simulated | first link (%): kernel | simulated "
        "| retransmissions: kernel | simulated | MB in 2 s: kernel | simulated |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, control in itertools.product(worlds(), CONTROLS):
        kernel, ours = recorded_runs(name, control), simulations(name, control)
        cells = [f"`{name}`", f"`{control}`"]
        for figure, digits in DIGITS.items():
            theirs, mine = ([getattr(did, figure) for did in side] for side in (kernel, ours))
            cells += [range_text(theirs, digits), range_text(mine, digits)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def range_text(values: Sequence[float], digits: int) -> str:
    """Return the range of a figure over repetitions or seeds."""
    if np.isnan(values).all():
        return "-"
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
