"""Flow labels of Linux, recorded behind failures by label, and the profile ``linux-6`` in the same set-ups.

A failure affects the first labels of a direction. Here, the first labels of a connection take distinct paths, and the
paths of the affected labels fail.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optcp.scenarios.run import Run
from optcp.scenarios.scenario import Scenario
from optcp_papers.evidence.kernel import FAST
from optcp_papers.evidence.kernel_worlds import HAND_OVER_MS
from optcp_papers.evidence.outside import DATA

WORLDS, RUNS = DATA / "kernel_repathing.toml", DATA / "kernel_repathing.json"
MSS_BYTES, HEADER_BYTES = 1428, 60
"""Payload of the recorded segments, and their headers without the timestamp option."""
SEEDS = 10
"""Number of seeds: the clocks of both hosts are random."""
START_S, STOP = 1, "60 s"
LAST_S = 100
"""Outages that end later do not end."""
PATHS = 136
"""Number of paths, so many that the first labels of both directions take distinct ones."""
LABELS = 7
"""Number of first labels whose paths are used."""
GROUP = "flow"
DATA_PACKETS, ACKS = SIDES = ("data", "acks")
NEAR, FAR = {DATA_PACKETS: "A", ACKS: "B"}, {DATA_PACKETS: "B", ACKS: "A"}
"""First and last node of the paths, by direction."""
PS_PER_MS = 1_000_000_000
LOST = ("link-down", "lost-in-flight")
"""Reasons of losses by an outage."""
Change = tuple[float, int, int]
"""Change of a label: time in ms from the first lost packet, and segment and transmission that triggered it."""
Changes = Mapping[str, Sequence[Change]]
"""Changes of the labels of both directions."""


@dataclass(frozen=True)
class Kernel:
    """Differences of a recorded kernel.

    Attributes
    ----------
    tcp
        Settings of the profile.
    hand_over_ms
        Delay that handing a packet over adds in real time, each way.
    """

    tcp: Mapping[str, Any]
    hand_over_ms: float


KERNELS = {
    "Linux 6.1": Kernel({"repath": "rto", "syn_linear_timeouts": 0}, 0.0),
    "Linux 6.18": Kernel({"repath": "rto-first"}, HAND_OVER_MS),
}


@dataclass(frozen=True)
class LabelWorld:
    """One set-up; the file describes its keys."""

    rate_mbps: float
    queue: int
    delay_ms: float
    writes: tuple[tuple[float, int], ...]
    outage: tuple[float, float]
    failed: tuple[int, int]


@functools.cache
def worlds() -> Mapping[str, LabelWorld]:
    """Return all set-ups by name."""
    listed = tomllib.loads(WORLDS.read_text(encoding="utf-8"))
    default = listed.pop("default")
    return {name: _world(default | keys) for name, keys in listed.items()}


def _world(keys: Mapping[str, Any]) -> LabelWorld:
    lists = {name: tuple(keys[name]) for name in ("outage", "failed")}
    return LabelWorld(**(dict(keys) | lists | {"writes": tuple(tuple(write) for write in keys["writes"])}))


@functools.cache
def recorded() -> Mapping[str, Mapping[str, Sequence[Changes]]]:
    """Return the recorded repetitions by kernel and set-up."""
    return dict(json.loads(RUNS.read_text(encoding="utf-8")))


def scenario(world: LabelWorld, kernel: Kernel, failed: Mapping[str, Sequence[str]]) -> Scenario:
    """Return the scenario of a set-up. ``failed``: by direction, the nodes of the failing paths."""
    nodes = every_node()
    delay_ms = world.delay_ms + kernel.hand_over_ms
    queue = {"rate": f"{world.rate_mbps} Mbps", "queue": f"{world.queue} packets", "reverse": FAST}
    size = {"mss": f"{MSS_BYTES} B", "header": f"{HEADER_BYTES} B"}
    start_s, end_s = world.outage
    times = {
        # An outage from the start on also affects the SYN.
        "at": f"{START_S + start_s if start_s else START_S / 2} s",
        **({"repair": f"{START_S + end_s} s"} if end_s < LAST_S else {}),
    }
    writes = [
        {"after": f"{at + (2e-3 * delay_ms if at else 0):.6f} s", "size": f"{segments} segments"}
        for at, segments in world.writes
    ]
    return Scenario.from_dict(
        {
            "title": "Flow labels of Linux as they were recorded",
            "stop": STOP,
            "end_with_flows": True,
            "silence": ["cut-for-good", "idle-failure"],
            "tcp": {"host": {"profile": "linux-6", "handshake": True, "ack": "every-packet", **size, **kernel.tcp}},
            "nodes": [{"names": ["sender", "A", *nodes, "B", "receiver"]}],
            "links": [
                {"chains": [["sender", "A"], ["B", "receiver"]], "delay": "0 s", **FAST},
                {"chains": [["A", node] for node in nodes], "delay": "0 s", **queue},
                {"chains": [[node, "B"] for node in nodes], "delay": f"{delay_ms:.3f} ms", **FAST},
            ],
            "routing": {"ecmp": "hash-threshold", "ecmp_seed": 1, "detection": "1 h"},
            "flows": [
                {
                    "group": GROUP,
                    "from": "sender",
                    "to": "receiver",
                    "tcp": "host",
                    "start": f"{START_S} s",
                    "writes": writes,
                }
            ],
            "failures": [
                {"link": [node, FAR[side]], "direction": "forward", **times} for side in SIDES for node in failed[side]
            ],
            "observe": [
                {"name": "packets", "kind": "packets", "links": [[end, node] for end in "AB" for node in nodes]}
            ],
        }
    )


def every_node() -> list[str]:
    """Return the node of each path."""
    return [f"m{at}" for at in range(PATHS)]


@functools.cache
def nodes_of_labels() -> Mapping[str, Sequence[str]]:
    """Return the node of the path of each of the first labels, by direction: all paths fail."""
    world = worlds()["forward-all-10-s"]
    found = {}
    for side in SIDES:
        failed = {other: every_node() if other == side else [] for other in SIDES}
        run = scenario(world, KERNELS["Linux 6.18"], failed).run(seed=1)
        packets = run["packets"]
        ports = packets["port"][packets["event"] == "queued"]
        near = [port.split("->") for port in ports.tolist() if port.startswith(f"{NEAR[side]}->")]
        found[side] = list(dict.fromkeys(node for _, node in near))[:LABELS]
    return found


def simulation(name: str, kernel: Kernel, seed: int) -> Changes:
    """Return the changes of labels of a simulated connection."""
    world = worlds()[name]
    failed = {
        side: nodes_of_labels()[side][:count] if count <= LABELS else every_node()
        for side, count in zip(SIDES, world.failed, strict=True)
    }
    return simulated(scenario(world, kernel, failed).run(seed=seed), world)


def simulated(run: Run, world: LabelWorld) -> Changes:
    """Return the changes of labels in a run."""
    packets = run["packets"]
    columns = [packets[name].tolist() for name in ("time_ps", "event", "ack", "seq", "port", "reason")]
    sent: dict[tuple[bool, int], list[int]] = defaultdict(list)
    ports = dict.fromkeys(SIDES, "")
    changed: dict[str, list[tuple[int, int, int]]] = {side: [] for side in SIDES}
    lost: list[int] = []
    arrived = (0, 0)
    delay_ps = world.delay_ms * PS_PER_MS
    for time, event, is_ack, seq, port, reason in zip(*columns, strict=True):
        side = ACKS if is_ack else DATA_PACKETS
        if event in {"sent", "resent"}:
            sent[is_ack, seq].append(time)
        elif event == "arrived" and not is_ack:
            arrived = (seq - 1, sum(at + delay_ps <= time for at in sent[is_ack, seq]))
        elif event == "queued" and port.startswith(f"{NEAR[side]}->"):
            if is_ack:
                sent[is_ack, seq].append(time)
            if ports[side] not in {"", port}:
                changed[side].append((time, *(arrived if is_ack else (seq - 1, len(sent[is_ack, seq])))))
            ports[side] = port
        elif event == "dropped" and reason in LOST:
            # Several ACKs may have one number. The oldest in flight is lost first.
            in_flight = [at for at in sent[is_ack, seq] if at + delay_ps + PS_PER_MS > time]
            lost.append(in_flight[0] if is_ack else sent[is_ack, seq][-1])
    return {
        side: [(round((time - min(lost)) / PS_PER_MS, 2), segment, nth) for time, segment, nth in changed[side]]
        for side in SIDES
    }


@dataclass(frozen=True)
class Event:
    """One change of a label, on one side of a set-up.

    Attributes
    ----------
    recorded, simulated
        The change in each repetition and seed in which it happens.
    repetitions, seeds
        Number of all repetitions and seeds.
    """

    recorded: Sequence[Change]
    simulated: Sequence[Change]
    repetitions: int
    seeds: int

    @property
    def is_usual(self) -> bool:
        """Whether it happens in at least half of the repetitions or seeds."""
        return 2 * len(self.recorded) >= self.repetitions or 2 * len(self.simulated) >= self.seeds

    @property
    def is_median_within(self) -> bool:
        """Whether the median time of the seeds is within the kernel's range, with a recorded transmission."""
        if 2 * len(self.simulated) < self.seeds:
            return False
        at_ms, _, _ = sorted(self.simulated)[len(self.simulated) // 2]
        return self._is_in_range(at_ms) and self._is_trigger_recorded(Counter(self._triggers()).most_common(1)[0][0])

    @property
    def within(self) -> int:
        """Number of seeds whose change is within the kernel's range, with a recorded transmission."""
        return sum(self._is_in_range(at) and self._is_trigger_recorded(nth) for at, _, nth in self.simulated)

    def _triggers(self) -> list[int]:
        return [nth for _, _, nth in self.simulated]

    def _is_in_range(self, at_ms: float) -> bool:
        times = [at for at, _, _ in self.recorded]
        return bool(times) and min(times) <= at_ms <= max(times)

    def _is_trigger_recorded(self, transmission: int) -> bool:
        return transmission in {nth for _, _, nth in self.recorded}


def events(name: str, kernel: str) -> list[Event]:
    """Return the usual changes of a set-up on both sides, in order of their number."""
    repetitions = recorded()[kernel][name]
    simulations = [simulation(name, KERNELS[kernel], seed) for seed in range(1, SEEDS + 1)]
    found = []
    for side in SIDES:
        for at in range(max(len(changes[side]) for changes in [*repetitions, *simulations])):
            theirs, ours = (
                [every[side][at] for every in group if len(every[side]) > at] for group in (repetitions, simulations)
            )
            found.append(Event(theirs, ours, len(repetitions), SEEDS))
    return [event for event in found if event.is_usual]


@dataclass(frozen=True)
class Share:
    """Share of changes within the kernel's range.

    Attributes
    ----------
    changes, within
        Number of changes, and of those whose median over the seeds is within the range.
    values, values_within
        The same for each seed's change.
    """

    changes: int = 0
    within: int = 0
    values: int = 0
    values_within: int = 0

    def __add__(self, other: Share) -> Share:
        """Return the share of both."""
        return Share(
            self.changes + other.changes,
            self.within + other.within,
            self.values + other.values,
            self.values_within + other.values_within,
        )


@functools.cache
def share(name: str, kernel: str) -> Share:
    """Return the share of a set-up's changes."""
    found = events(name, kernel)
    within = sum(event.is_median_within for event in found)
    return Share(len(found), within, SEEDS * len(found), sum(event.within for event in found))


def total(kernel: str) -> Share:
    """Return the share of all set-ups."""
    return sum((share(name, kernel) for name in worlds()), Share())


def table() -> str:
    """Return the table of docs/details/giving-up.md."""
    heads = "".join(f" {kernel}: changes | median in range | each seed in range (%) |" for kernel in KERNELS)
    rows = {f"`{name}`": {kernel: share(name, kernel) for kernel in KERNELS} for name in worlds()}
    rows["all"] = {kernel: total(kernel) for kernel in KERNELS}
    lines = [f"| set-up |{heads}", "|---|" + "---|" * (3 * len(KERNELS))]
    lines += [f"| {name} |" + "".join(map(_cells, row.values())) for name, row in rows.items()]
    return "\n".join(lines) + "\n"


def _cells(one: Share) -> str:
    return f" {one.changes} | {one.within} | {100 * one.values_within / one.values:.0f} |"
