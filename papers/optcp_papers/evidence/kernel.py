"""Linux's TCP, recorded on a real-time link, compared with the profile ``linux-6`` in the same set-ups."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from optcp.data.axes import Axis
from optcp.scenarios.run import Run
from optcp.scenarios.scenario import Scenario
from optcp.study import Study
from optcp_papers.evidence import outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp_papers.evidence.kernel_worlds import (
    BBR3,
    BOTH,
    CONTROLS,
    FORWARD,
    MSS_BYTES,
    PRAGUE,
    Flow,
    Outage,
    World,
    worlds,
)

RUNS = outside.DATA / "kernel_runs.json"
SOURCE = "Linux 6.18, recorded"
SEEDS = 10
"""Number of seeds. Only the start of BBR's gain cycle is random."""
CHOICES = {
    "cubic": {"congestion": "cubic", "slow_start": "hystart", "pacing": "none"},
    "reno": {"congestion": "reno", "slow_start": "standard", "pacing": "none"},
    "bbr": {"congestion": "bbr", "slow_start": "standard", "pacing": "rate"},
    BBR3: {"congestion": "bbr3", "slow_start": "standard", "pacing": "rate"},
    PRAGUE: {"congestion": "prague", "slow_start": "standard", "pacing": "rate"},
}
"""Scenario settings of each congestion control."""
PACED_BY_FQ = {"pacing": "window"}
"""Change of a control that does not pace itself, if the sender's queue is ``fq``."""
GROUPS = ("first", "second")
STOP = "100 s"
FAST = {"rate": "100 Gbps", "queue": "unlimited"}
BEGIN = "data begin (s)"
DIGITS = {
    BEGIN: 1,
    "completion (s)": 3,
    "first loss (s)": 3,
    "retransmissions": 0,
    "first ssthresh": 0,
    "ACKs a segment": 2,
    "maximum cwnd": 0,
}
"""Number of decimals of each figure, in the order of :meth:`Did.figures`."""


def scenario(world: World, control: str) -> Scenario:
    """Return the scenario of a recorded set-up, with its flows under a congestion control."""
    groups = GROUPS[: len(world.flows)]
    chosen = choices(world, control)
    links = [
        {
            "chain": ["sender", "bottleneck"],
            "rate": f"{world.rate_mbps} Mbps",
            "delay": "0 s",
            "queue": queue(world),
            "reverse": FAST,
        },
        *(wire(f"wire{number}", *path[1:], world.hand_over_ms) for number, path in enumerate(world.paths[:2])),
    ]
    flows = [
        {
            "group": group,
            "path": ["sender", "bottleneck", "wire0", "receiver"],
            "tcp": group,
            "start": f"{flow.start_s} s",
            "writes": [{"after": f"{at} s", "size": f"{segments} segments"} for at, segments in flow.writes],
        }
        for group, flow in zip(groups, world.flows, strict=True)
    ]
    tables = {
        "title": "Linux's TCP as it was recorded",
        "stop": f"{world.until_s} s" if world.until_s else STOP,
        "end_with_flows": True,
        "tcp": {group: connection(world) | chosen[group] for group in groups},
        "nodes": [{"names": ["sender", "bottleneck", "receiver"]}],
        "links": links,
        "losses": losses(world),
        "flows": flows,
        "observe": [{"name": "sender", "kind": "tcp"}, {"name": "packets", "kind": "packets"}],
    }
    return Scenario.from_dict(tables | changes(world, groups))


def queue(world: World) -> str | dict[str, str]:
    """Return the queue of the bottleneck."""
    limit = f"{world.queue} packets"
    if world.marks_above is None:
        return limit
    return {"kind": "step", "limit": limit, "threshold": f"{world.marks_above} packets"}


def connection(world: World) -> dict[str, Any]:
    """Return the profile with the changes of the set-up."""
    changed: dict[str, Any] = {"profile": "linux-6", "handshake": True}
    if world.large_buffer:
        changed["ack"] = "every-packet"
    if not world.sack:
        changed["recovery"] = "newreno"
    if world.tick_ms:
        changed["tick"] = f"{world.tick_ms} ms"
    return changed


def choices(world: World, control: str) -> dict[str, dict[str, str]]:
    """Return the changes of a congestion control to each group's connection."""
    chosen = {group: CHOICES[flow.congestion or control] for group, flow in zip(GROUPS, world.flows, strict=False)}
    if not world.fq:
        return chosen
    return {group: keys | PACED_BY_FQ if keys["pacing"] == "none" else keys for group, keys in chosen.items()}


def wire(name: str, there_ms: float, back_ms: float, hand_over_ms: float) -> dict[str, Any]:
    """Return a pair of delays without a queue."""
    there, back = (f"{delay_ms + hand_over_ms:.3f} ms" for delay_ms in (there_ms, back_ms))
    return {"chain": ["bottleneck", "receiver"], "name": name, "delay": there, **FAST, "reverse": {"delay": back}}


def losses(world: World) -> list[dict[str, Any]]:
    """Return one table of losses per transmission number; data follow the SYN, which is segment 0."""
    place = {"link": ["sender", "bottleneck"], "flows": GROUPS[0]}
    numbers = sorted({nth for _, nth in world.lost})
    return [
        {**place, "segments": [1 + segment for segment, other in world.lost if other == nth], "transmission": nth}
        for nth in numbers
    ]


def changes(world: World, groups: Sequence[str]) -> dict[str, Any]:
    """Return the outages and path changes of a set-up.

    A path change is a failure of the first path. Protection switches to the other path immediately, or at the end of
    an outage.
    """
    if len(world.paths) == 1:
        return {"failures": [failure(outage) for outage in world.outages]} if world.outages else {}
    switched, *back = (path[0] for path in world.paths[1:])
    failed = world.outages[0].start_s if world.outages else switched
    failures = {"link": "wire0", "at": f"{failed} s", "packets": "lost" if world.outages else "kept"}
    repair = {"repair": f"{back[0]} s"} if back else {}
    backup = {"link": "wire0", "backup": ["bottleneck", "wire1", "receiver"]}
    delay = {"switch_delay": f"{round((switched - failed) * 1e6)} us"}
    protection = [{"flows": group, **backup, **delay, "revert": "electrical"} for group in groups]
    return {"failures": [failures | repair], "protection": protection}


def failure(outage: Outage) -> dict[str, Any]:
    """Return the failure of the link during an outage."""
    times = {"at": f"{outage.start_s} s", "repair": f"{outage.end_s} s"}
    if outage.direction == BOTH:
        return {"link": "wire0", **times}
    ends = ["bottleneck", "receiver"]
    return {"link": ends if outage.direction == FORWARD else ends[::-1], "direction": "forward", **times}


@dataclass(frozen=True)
class Did:
    """Behaviour of one flow, simulated or recorded; times from its first data, in seconds."""

    begin_s: float
    completion_s: float | None
    first_loss_s: float | None
    lost: int
    retransmissions: int
    acks: int
    ssthresh: list[int]
    maximum_cwnd: int

    def figures(self, segments: int) -> list[float]:
        """Return the compared figures, NaN if undefined (:data:`DIGITS`)."""
        first_loss = np.nan if self.first_loss_s is None else self.first_loss_s
        ssthresh = self.ssthresh[0] if self.ssthresh else 0
        times = [self.begin_s, np.nan if self.completion_s is None else self.completion_s, first_loss]
        return [*times, self.retransmissions, ssthresh, self.acks / segments, self.maximum_cwnd]


@functools.cache
def recorded(file: Path = RUNS) -> dict[str, Any]:
    """Return the kernel's recordings of a file."""
    return dict(json.loads(file.read_text(encoding="utf-8")))


def repetitions(name: str, control: str) -> list[list[Did]]:
    """Return each flow of each repetition."""
    wanted = Did.__dataclass_fields__
    runs = recorded()["runs"].get(name, {}).get(control, [])
    return [[Did(**{key: flow[key] for key in wanted}) for flow in run] for run in runs]


def measured(run: Run, group: str, world: World) -> Did:
    """Return the behaviour of a simulated flow."""
    flow = world.flows[GROUPS.index(group)]
    packets, sender = run["packets"], run["sender"]
    mine = packets["flow"] == f"{group}/sender/0"
    time, seq, event, ack = (packets[column][mine] for column in ("time_ps", "seq", "event", "ack"))
    data = ~ack & (seq > 0)
    sent = data & ((event == "sent") | (event == "resent"))
    begin = time[sent][0]
    acked = (event == "acked") & (time > begin)

    def since_begin(chosen: Any) -> float | None:  # noqa: ANN401 - numpy's mask
        return float(time[chosen][0] - begin) / 1e12 if chosen.any() else None

    own = sender["flow"] == f"{group}/sender/0"
    thresholds = np.floor(sender["ssthresh_bytes"][own] / MSS_BYTES)
    thresholds = thresholds[np.isfinite(thresholds)].astype(int)
    return Did(
        begin_s=float(begin) / 1e12 - flow.start_s,
        completion_s=since_begin(acked & (seq > flow.segments)),
        first_loss_s=since_begin(data & (event == "dropped")),
        lost=int(np.sum(data & (event == "dropped"))),
        retransmissions=int(np.sum(sent) - len(np.unique(seq[sent]))),
        acks=int(np.sum(acked)),
        ssthresh=[int(value) for value, _ in itertools.groupby(thresholds)],
        maximum_cwnd=int(np.max(sender["cwnd_bytes"][own]) // MSS_BYTES),
    )


def beside(
    key: Mapping[str, str], values: Sequence[float], digits: Mapping[str, int] = DIGITS, source: str = SOURCE
) -> outside.Figure:
    """Return the range of the repetitions, each plus or minus half a unit of its last digit."""
    low, high = (f"{value:.{digits[key['quantity']]}f}" for value in (min(values), max(values)))
    text = low if low == high else f"{low} to {high}"
    return outside.Figure(source, "kernel", key, text, outside.printed_range(low)[0], outside.printed_range(high)[1])


def studies(seeds: int | None) -> Studies:
    """Return one study per set-up, over the congestion controls."""
    return studies_of(worlds(), seeds or SEEDS)


def studies_of(known: Mapping[str, World], seeds: int) -> Studies:
    """Return one study for each of these set-ups, over the congestion controls."""
    return {
        name: Study(
            scenario(world, CONTROLS[0]),
            {"control": {control: settings(name, world, control) for control in controls(world)}},
            seeds=seeds,
            title=name,
        )
        for name, world in known.items()
    }


def controls(world: World) -> tuple[str, ...]:
    """Return the congestion controls of a set-up: without SACK, BBR is not allowed."""
    return tuple(control for control in CONTROLS if world.sack or control != "bbr")


def settings(name: str, world: World, control: str) -> dict[str, str]:
    """Return overrides for a congestion control; the title distinguishes set-ups in stored results."""
    chosen = choices(world, control)
    return {"title": name, **{f"tcp.{group}.{key}": value for group, of in chosen.items() for key, value in of.items()}}


def case(world: World, name: str, number: int, control: str) -> dict[str, str]:
    """Return the key of a flow in a result."""
    flow = {"flow": GROUPS[number]} if len(world.flows) > 1 else {}
    return {"world": name, **flow, "control": control}


def find(done: Found) -> Figures:
    """Yield each figure of each flow, set-up and congestion control that both sides have."""
    for name, runs in done.items():
        world = worlds()[name]
        for number, (group, flow) in enumerate(zip(GROUPS, world.flows, strict=False)):

            def figures(run: Run, group: str = group, world: World = world, flow: Flow = flow) -> list[float]:
                return measured(run, group, world).figures(flow.segments)

            for at, ours in runs.each(figures, Axis("quantity", tuple(DIGITS))).mean():
                kernel = [run[number].figures(flow.segments) for run in repetitions(name, at["control"])]
                theirs = [run[list(DIGITS).index(at["quantity"])] for run in kernel]
                usual = at["quantity"] == BEGIN and not any(segment < 0 for segment, _ in world.lost)
                if ours.n and np.all(np.isfinite(theirs)) and (ours.estimate or any(theirs)) and not usual:
                    key = {**case(world, name, number, at["control"]), "quantity": at["quantity"]}
                    yield key, ours, beside(key, theirs)


KERNEL = Experiment(
    name="kernel",
    title="Linux's own TCP",
    value="ours",
    digits=2,
    source=Runs("kernel_worlds.toml", studies, find),
    about=(
        "The profile `linux-6` with CUBIC, Reno and BBR, compared with Linux 6.18 in the same set-ups. "
        "`papers/optcp_papers/evidence/data/kernel_worlds.toml` describes them, `tools/recorders/kernel_runs.py` "
        "records them, `kernel_runs.json` holds every repetition. The kernel sends over a real-time link between two "
        "network namespaces of one machine. A repetition was repeated if one packet was forwarded more than 2 ms "
        "late, or all of them 50 us late on average. Forwarding takes 0.094 ms each way, half of the excess of a "
        "SYN's RTT there over the delays, and is added to the delays here. All kernel settings have their defaults "
        "except for buffers: the sender's never limits. With a `large` receive buffer Linux acknowledged every "
        'segment (84 of 100 in `queue-2-long`), and the profile gets `ack = "every-packet"`. With the `default` '
        "buffer the profile is unchanged. Without SACK `recovery` is `newreno`, and BBR, which needs SACK here, is "
        "omitted.",
        "Times count from the first data, after the SYN exchange. The time of the first data, from the first SYN, is "
        "shown if a SYN is lost. The range of the kernel's repetitions is in parentheses, with half a unit of its "
        "last digit either way. An ssthresh of 0 was never set. A first loss on one side only is not shown, but its "
        "retransmissions are; both are omitted if neither side has losses.",
    ),
)
