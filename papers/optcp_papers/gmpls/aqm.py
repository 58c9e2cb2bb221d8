"""Extension of the paper: cost of a protection switchover with AQM queues and ECN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from optcp.data.censored import each
from optcp.papers.assume import Assumed, Value, built_in, overrides
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, defined, rows, runs_of
from optcp.papers.kit import (
    Cells,
    Censored,
    Estimates,
    Grid,
    Key,
    Options,
    Row,
    Run,
    Settings,
    StudyResult,
    assume,
    row,
)
from optcp_papers.gmpls import section5
from optcp_papers.gmpls.fig7 import settling
from optcp_papers.gmpls.paper import PAPER, PS, SOURCES
from optcp_papers.gmpls.section5_2 import resampled, settled_s

SEEDS = 40
DELTA_MS = (0, 50, 250)
WITHOUT = "no failure"
BEFORE_S, WINDOW_S, AFTER_S = 1.0, 1.5, 5.0
"""Observation times: queue before the failure, goodput after it, end of the run after it."""

MESH = "germany50"
QUICKLY = {"10+10, backbone only": (SEEDS, 0), "10+10": (SEEDS, 3), MESH: (30, 2)}
"""Quick runs: seeds of each network. The mesh has fewer, because its runs take longer."""
MESH_DELTA_MS = 50
MESH_FAILURE_S = 3.0
MESH_STARTS_S = (2.5, 4.5)
"""Start times of the flows whose completion times are evaluated."""
MESH_BEFORE, MESH_AFTER = "Erfurt->Wuerzburg", "Kassel->Fulda"
MESH_SCENARIO = section5.SCENARIO.with_name("gmpls-aqm-mesh.toml")

BEFORE, AFTER = "A->L0", section5.MERGE_PORT
"""Bottleneck of the switched flows before the failure, and of all flows after the switchover."""
OBSERVE = [
    {"name": "goodput", "kind": "goodput", "interval": "50 ms"},
    {"name": "ports", "kind": "ports", "links": [["A", "L0"], ["L5", "L6"]], "interval": "50 ms"},
]
BACKBONE = "links.3.queue"
"""Path of the key of the backbone queues in the scenario."""

ECN = {"tcp.all.ecn": "rfc3168"}
DCTCP = {"tcp.all.congestion": "dctcp", "tcp.all.ecn": "dctcp", "tcp.all.ect_packets": "all"}
PRAGUE = {"tcp.all.congestion": "prague", "tcp.all.ecn": "accurate", "tcp.all.pacing": "rate"}
BASE = "drop-tail"
"""Reference discipline: the only shallow queue."""
DISCIPLINES: dict[str, tuple[Settings, Settings]] = {
    BASE: ({"kind": "drop-tail"}, {}),
    "drop-tail, deep": ({"kind": "drop-tail"}, {}),
    "codel": ({"kind": "codel"}, {}),
    "codel, ecn": ({"kind": "codel", "ecn": True}, ECN),
    "fq-codel": ({"kind": "fq-codel", "ecn": False}, {}),
    "fq-codel, ecn": ({"kind": "fq-codel", "ecn": True}, ECN),
    "pie": ({"kind": "pie"}, {}),
    "pie, ecn": ({"kind": "pie", "ecn": True}, ECN),
    "step, dctcp": ({"kind": "step"}, DCTCP),
    "dualpi2, prague": ({"kind": "dualpi2"}, PRAGUE),
}
"""Queue of each discipline and the TCP settings of its senders."""

NOTES = [
    "Goodput is the total of all flows in the first 1.5 s after the failure. In section 5's network it is in % of the "
    "backbone rate (two sets of flows of 9 Mb/s each share 10 Mb/s). `minus_drop_tail_points` is the difference from "
    "drop-tail. `cost_pct` is the loss of goodput relative to the same run without the failure. "
    "`cost_minus_drop_tail_points` is the cost minus drop-tail's; `cost_minus_dropping_points` is the cost with ECN "
    "minus the cost of the same queue without ECN. All differences are paired by seed. Rows without `delta_ms` are "
    "runs without a failure.",
    f"`queue_before_ms` is the mean queue of the last second before the failure, at {BEFORE} or ({MESH}) "
    f"{MESH_BEFORE}. `queue_after_ms` is the mean queue at {AFTER} or {MESH_AFTER} from the switchover until 1.5 s "
    "after the failure, and `longest_ms` the maximum queueing delay there. `settle_s` is the settling time of the "
    "switched flows (rule of gmpls/fig7).",
    f"Completion times are of flows that start from {MESH_STARTS_S[0]} to {MESH_STARTS_S[1]} s. `extra_mean_ms` "
    "and `extra_p95_ms` are increases over the same run without the failure, paired by seed.",
    "`backbone only`: the access links, including A->L0, keep drop-tail with the paper's queue.",
    "With step and dualpi2 the senders differ too, because these queues require other senders.",
]


def window(text: str) -> Value:
    """Parse a window: a number of packets, or ``unlimited``."""
    return text if text == "unlimited" else assume.positive_int(text)


def failure_settings(value: Value) -> Settings:
    """Return the settings of a failure time. The run ends ``AFTER_S`` later."""
    return {"failures.0.at": f"{value} s", "stop": f"{float(value) + AFTER_S:g} s"}


def ruled_ports(text: str) -> str:
    """Parse the ports that have the discipline: ``all``, ``backbone``, or both of these variants."""
    places = [part.strip() for part in text.split(",")]
    if not set(places) <= {"all", "backbone"}:
        raise ValueError("expected all, backbone, or all, backbone")
    return ", ".join(dict.fromkeys(places))


def queue_parameter(name: str, value: int) -> Assumed:
    """Return an integer parameter that :func:`queues` applies."""
    return Assumed(name, value, assume.positive_int)


PROFILE = Assumed("profile", "linux-6", str, "tcp.all.profile")
SECTION5 = (
    PROFILE,
    *(
        parameter
        for parameter in section5.ASSUMED
        if parameter.name in ("backbone_bps", "access_share", "queue_packets", "link_delay_ms", "packet_bytes")
    ),
    Assumed("failure_s", 20, assume.positive_int, failure_settings),
    # The paper's simulator used one value for the receiver window and the initial ssthresh.
    Assumed("window_packets", "unlimited", window, ("tcp.all.window_limit", "tcp.all.initial_ssthresh")),
    Assumed("flows", "10+10, 100+100", section5.flow_readings),
    *(parameter for parameter in section5.ASSUMED if parameter.name == "start_spread_ms"),
)
ON_MESH = (
    PROFILE,
    Assumed("mesh_bps", 100_000_000, assume.positive_int, "parameters.rate"),
    Assumed("mesh_load", 0.6, assume.share, "parameters.load"),
)
ASSUMED = (
    *SECTION5,
    queue_parameter("deep_times", 10),
    queue_parameter("step_packets", 20),
    queue_parameter("dualpi2_min_delay_us", 800),
    Assumed("ruled_ports", "all, backbone", ruled_ports),
    *ON_MESH[1:],
    queue_parameter("mesh_queue_packets", 200),
    queue_parameter("mesh_step_packets", 12),
    built_in("mesh_switch_delay_ms", str(MESH_DELTA_MS)),
    built_in("controls", "what else a discipline has is at its default"),
)


def queues(chosen: Chosen, shallow: Value, step: Value, path: str) -> dict[str, Settings]:
    """Return the settings of each discipline: the queue at a key path, and its senders."""
    deep = f"{int(shallow) * int(chosen['deep_times'])} packets"
    thresholds = {
        "step": {"threshold": f"{step} packets"},
        "dualpi2": {"min_delay": f"{chosen['dualpi2_min_delay_us']} us"},
    }
    settings: dict[str, Settings] = {
        name: {path: {**queue, "limit": deep, **thresholds.get(queue["kind"], {})}, **tcp}
        for name, (queue, tcp) in DISCIPLINES.items()
    }
    return {**settings, BASE: {path: f"{shallow} packets"}}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids: section 5's network and the mesh, with every discipline and delay."""

    def section5_world(reading: str, place: str) -> Grid:
        per_source = int(reading.partition("+")[0]) // SOURCES
        settings = {**overrides(SECTION5, chosen), "parameters.flows_per_source": per_source, "observe": OBSERVE}
        path = "parameters.queue" if place == "all" else BACKBONE
        axes = {
            "queue": queues(chosen, chosen["queue_packets"], chosen["step_packets"], path),
            "delta_ms": {
                WITHOUT: {"failures": [], "protection": []},
                **{str(delta): {"parameters.switch_delay": f"{delta} ms"} for delta in DELTA_MS},
            },
        }
        return options.grid(section5.SCENARIO, settings, axes, f"gmpls aqm, section 5, {reading}, {place}")

    mesh_axes = {
        "queue": queues(chosen, chosen["mesh_queue_packets"], chosen["mesh_step_packets"], "parameters.queue"),
        "delta_ms": {WITHOUT: {"failures": []}, MESH_DELTA_MS: {}},
    }
    mesh = options.grid(MESH_SCENARIO, overrides(ON_MESH, chosen), mesh_axes, f"gmpls aqm, {MESH}")
    return {**{name: section5_world(*world) for name, world in worlds(chosen).items()}, MESH: mesh}


def worlds(chosen: Chosen) -> dict[str, tuple[str, str]]:
    """Return the variants of section 5's network by name, with flow count and ports of the discipline."""
    readings, places = (str(chosen[name]).split(", ") for name in ("flows", "ruled_ports"))
    return {
        reading if place == "all" else f"{reading}, backbone only": (reading, place)
        for place in places
        for reading in readings
    }


def find(found: Found) -> Findings:
    """Return the cost of a failure in goodput and time under each discipline, and the queues before and after it."""
    shown = []
    for name in worlds(found.chosen):
        if found.done[name].seeds:
            shown += section5_rows(found, name)
    return Findings([*shown, *mesh_rows(found.done[MESH], found.number("mesh_bps"))], notes=NOTES)


def cost_pct(good: Cells, delta_ms: int) -> Cells:
    """Return the cost of a failure in % of the goodput without it, from bytes over ``queue`` and ``delta_ms``."""
    lost = "a run without failure has no goodput in the window: the cost is undefined"
    return 100 * (1 - defined(good.at(delta_ms=str(delta_ms)) / good.at(delta_ms=WITHOUT), lost))


def costs(cost: Cells) -> dict[str, Estimates]:
    """Return the cost and its difference from drop-tail."""
    return {"cost_pct": cost.mean(), "cost_minus_drop_tail_points": (cost - cost.at(queue=BASE)).mean()}


def marking_rows(cells: Cells, metric: str, world: str, delta_ms: int) -> list[Row]:
    """Return the differences between queues that mark with ECN and the same queues without ECN."""
    marking = {name: f"{name}, ecn" for name in DISCIPLINES if f"{name}, ecn" in DISCIPLINES}
    dropping = cells.part(queue=tuple(marking))
    difference = replace(cells.part(queue=tuple(marking.values())), axes=dropping.axes) - dropping
    return rows({metric: difference.mean()}, key=key_of(world, delta_ms))


def goodputs(good: Cells, delta_ms: str, rate_bps: float) -> dict[str, Estimates]:
    """Return the goodput in % of a rate, and its difference from drop-tail."""
    pct = 100 * 8 / WINDOW_S / rate_bps * good.at(delta_ms=delta_ms)
    return {"goodput_pct": pct.mean(), "minus_drop_tail_points": (pct - pct.at(queue=BASE)).mean()}


@dataclass(frozen=True)
class Queues:
    """Queues of the ports of a scenario, by interval.

    Attributes
    ----------
    mean_bytes
        Mean queue length of an interval, in bytes, over ``port`` and ``time``.
    longest_ps
        Maximum time that a packet has taken by the end of the interval, in ps, over ``port`` and ``time``.
    """

    mean_bytes: Cells
    longest_ps: Cells

    @classmethod
    def of(cls, done: StudyResult) -> Queues:
        """Read the observation ``ports`` of a study."""
        ports = done["ports"]
        return cls(ports.cells("mean_bytes"), ports.cells("longest_ps"))

    def mean_ms(self, delta_ms: str, port: str, span_s: tuple[float, float], rate_bps: float) -> Estimates:
        """Return the transmission time of a port's mean queue, in ms."""
        queue = self.mean_bytes.at(delta_ms=delta_ms, port=port)
        first, last = (queue.axis("time").bound(time_s) for time_s in span_s)
        return (1000 * 8 / rate_bps / (last - first) * queue.between(*span_s)).mean()

    def longest_ms(self, delta_ms: str, port: str, until_s: float) -> Estimates:
        """Return the maximum time that a packet took at a port until ``until_s``, in ms."""
        return (1000 / PS * self.longest_ps.at(delta_ms=delta_ms, port=port, time=until_s)).mean()


def section5_rows(found: Found, name: str) -> list[Row]:
    """Return the rows of one variant of section 5's network."""
    done, world, failure_s = found.done[name], f"section 5, {name}", found.number("failure_s")
    backbone_bps, end_s = found.number("backbone_bps"), failure_s + WINDOW_S
    goodput, held = done["goodput"].cells(), done.once(Queues.of)
    good = goodput.between(failure_s, end_s).total("group")
    access_bps = found.number("access_share") * backbone_bps
    before = held.mean_ms(WITHOUT, BEFORE, (failure_s - BEFORE_S, failure_s), access_bps)
    shown = rows({"queue_before_ms": before, **goodputs(good, WITHOUT, backbone_bps)}, key={"world": world})
    for delta_ms in DELTA_MS:
        delta, switch_s = str(delta_ms), failure_s + delta_ms / 1000
        cost = cost_pct(good, delta_ms)
        metrics = {**goodputs(good, delta, backbone_bps), **costs(cost)}
        if delta_ms:
            gain = 100 * (good.at(delta_ms=delta) / good.at(delta_ms=str(DELTA_MS[0])) - 1)
            metrics["rel_goodput_pct"] = gain.mean()
        metrics["queue_after_ms"] = held.mean_ms(delta, AFTER, (switch_s, end_s), backbone_bps)
        metrics["longest_ms"] = held.longest_ms(delta, AFTER, end_s)
        shown += rows(metrics, key=key_of(world, delta_ms))
        shown += marking_rows(cost, "cost_minus_dropping_points", world, delta_ms)
        for queue in DISCIPLINES:
            switched = goodput.at(queue=queue, delta_ms=delta, group="switched")
            settled = resampled(settling(switched, switch_s, failure_s + AFTER_S), settled_s)
            shown.append(row({"world": world, "queue": queue, "delta_ms": delta_ms}, "settle_s", None, settled, ""))
    return shown


def mesh_rows(done: StudyResult, rate_bps: float) -> list[Row]:
    """Return the rows of the mesh."""
    end_s = MESH_FAILURE_S + WINDOW_S
    good, held = done["goodput"].between(MESH_FAILURE_S, end_s).total("group"), done.once(Queues.of)
    before = held.mean_ms(WITHOUT, MESH_BEFORE, (MESH_FAILURE_S - BEFORE_S, MESH_FAILURE_S), rate_bps)
    delta = str(MESH_DELTA_MS)
    cost = cost_pct(good, MESH_DELTA_MS)
    metrics, marking = costs(cost), marking_rows(cost, "cost_minus_dropping_points", MESH, MESH_DELTA_MS)
    for name, times_ms in (("mean", done.once(mean_time_ms)), ("p95", done.once(p95_time_ms))):
        extra = times_ms.at(delta_ms=delta) - times_ms.at(delta_ms=WITHOUT)
        metrics[f"completion_{name}_ms"] = times_ms.at(delta_ms=delta).mean()
        metrics[f"extra_{name}_ms"] = extra.mean()
        metrics[f"extra_{name}_minus_drop_tail_ms"] = (extra - extra.at(queue=BASE)).mean()
        marking += marking_rows(extra, f"extra_{name}_minus_dropping_ms", MESH, MESH_DELTA_MS)
    switch_s = MESH_FAILURE_S + MESH_DELTA_MS / 1000
    metrics["queue_after_ms"] = held.mean_ms(delta, MESH_AFTER, (switch_s, end_s), rate_bps)
    metrics["longest_ms"] = held.longest_ms(delta, MESH_AFTER, end_s)
    shown = rows({"queue_before_ms": before}, key={"world": MESH})
    return [*shown, *rows(metrics, key=key_of(MESH, MESH_DELTA_MS)), *marking]


def key_of(world: str, delta_ms: int) -> Callable[[Key], Key]:
    """Return a function that completes the key of rows over ``queue``."""
    return lambda here: {"world": world, **here, "delta_ms": delta_ms}


def mean_time_ms(done: StudyResult) -> Cells:
    """Return the mean completion time of each run, in ms."""
    return each(done, lambda run: times_ms(run).mean())


def p95_time_ms(done: StudyResult) -> Cells:
    """Return the 95th percentile of the completion times of each run, in ms."""
    return each(done, lambda run: times_ms(run).quantile(0.95))


def times_ms(run: Run) -> Censored:
    """Return the completion times of flows that start around the failure, in ms; unfinished flows are censored."""
    ends = run["ends"]
    start_s = ends["start_ps"].astype(np.float64) / PS
    counted = (MESH_STARTS_S[0] <= start_s) & (start_s < MESH_STARTS_S[1])
    times = Censored(1000 * (ends["time_ps"].astype(np.float64) / PS - start_s), ends["finished"].astype(bool))
    return times[counted]


AQM = Exhibit(
    "gmpls/aqm",
    "A protection switch under queues that drop or mark by a control law",
    "beyond the paper, in the scenario of section 5 and on germany50",
    Setup(PAPER, None, grids, runs_of(SEEDS, 0, QUICKLY), ASSUMED),
    find,
)
