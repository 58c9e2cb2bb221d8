"""Beyond the paper: what a protection switch costs TCP where queues drop or mark by a control law, and with ECN."""

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
"""How long the queue is watched before the failure, how long goodput behind it, and how much longer runs last."""

MESH = "germany50"
QUICKLY = {"10+10, backbone only": (SEEDS, 0), "10+10": (SEEDS, 3), MESH: (30, 2)}
"""What a quick look has of the worlds; fewer runs of the mesh, which are longer."""
MESH_DELTA_MS = 50
MESH_FAILURE_S = 3.0
MESH_STARTS_S = (2.5, 4.5)
"""When the flows start whose completion times count."""
MESH_BEFORE, MESH_AFTER = "Erfurt->Wuerzburg", "Kassel->Fulda"
MESH_SCENARIO = section5.SCENARIO.with_name("gmpls-aqm-mesh.toml")

BEFORE, AFTER = "A->L0", section5.MERGE_PORT
"""The bottleneck of the switched flows before the failure, and of all flows behind the switch."""
OBSERVE = [
    {"name": "goodput", "kind": "goodput", "interval": "50 ms"},
    {"name": "ports", "kind": "ports", "links": [["A", "L0"], ["L5", "L6"]], "interval": "50 ms"},
]
BACKBONE = "links.3.queue"
"""The key path of the backbone's queues in the scenario."""

ECN = {"tcp.all.ecn": "rfc3168"}
DCTCP = {"tcp.all.congestion": "dctcp", "tcp.all.ecn": "dctcp", "tcp.all.ect_packets": "all"}
PRAGUE = {"tcp.all.congestion": "prague", "tcp.all.ecn": "accurate", "tcp.all.pacing": "rate"}
BASE = "drop-tail"
"""What the others are compared with: the only shallow queue."""
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
"""The queue of each, and what its senders do differently."""

NOTES = [
    "Goodput is of all flows together in the first 1.5 s after the failure: in section 5's world in per cent of the "
    "backbone's rate (two sets of flows of 9 Mb/s each come to share 10 Mb/s), and `minus_drop_tail_points` against "
    "drop-tail. `cost_pct` is how much less it is than in the same world without the failure; "
    "`cost_minus_drop_tail_points` is that against drop-tail, `cost_minus_dropping_points` with ECN against the same "
    "queue that drops. All are by seed. Rows without `delta_ms` are of the world without a failure.",
    f"`queue_before_ms` is the mean queue of the last second before the failure, at {BEFORE} and on {MESH} at "
    f"{MESH_BEFORE}; `queue_after_ms` that at {AFTER} and {MESH_AFTER} from the switch until 1.5 s after the failure; "
    "`longest_ms` is the longest that a packet has taken there by then. `settle_s` is of the switched flows, by the "
    "rule of gmpls/fig7.",
    f"Completion times are of the flows that start from {MESH_STARTS_S[0]} to {MESH_STARTS_S[1]} s; `extra_mean_ms` "
    "and `extra_p95_ms` are against the same world without the failure, by seed.",
    "`backbone only`: the access, A->L0 among it, stays drop-tail with the paper's queue.",
    "With step and dualpi2 the senders are others too, as these queues ask for.",
]


def window(text: str) -> Value:
    """Read a window: packets, or ``unlimited``."""
    return text if text == "unlimited" else assume.positive_int(text)


def failure_settings(value: Value) -> Settings:
    """When the link fails, and so when the run ends."""
    return {"failures.0.at": f"{value} s", "stop": f"{float(value) + AFTER_S:g} s"}


def ruled_ports(text: str) -> str:
    """Read which ports have the discipline: ``all``, ``backbone``, or both of these worlds."""
    places = [part.strip() for part in text.split(",")]
    if not set(places) <= {"all", "backbone"}:
        raise ValueError("expected all, backbone, or all, backbone")
    return ", ".join(dict.fromkeys(places))


def of_queues(name: str, value: int) -> Assumed:
    """A whole number that :func:`queues` puts into effect."""
    return Assumed(name, value, assume.positive_int)


PROFILE = Assumed("profile", "linux-6", str, "tcp.all.profile")
SECTION5 = (
    PROFILE,
    *(
        one
        for one in section5.ASSUMED
        if one.name in ("backbone_bps", "access_share", "queue_packets", "link_delay_ms", "packet_bytes")
    ),
    Assumed("failure_s", 20, assume.positive_int, failure_settings),
    # The receiver's window, and where slow start ends at first, as the paper's simulator had both.
    Assumed("window_packets", "unlimited", window, ("tcp.all.window_limit", "tcp.all.initial_ssthresh")),
    Assumed("flows", "10+10, 100+100", section5.flow_readings),
    *(one for one in section5.ASSUMED if one.name == "start_spread_ms"),
)
ON_MESH = (
    PROFILE,
    Assumed("mesh_bps", 100_000_000, assume.positive_int, "parameters.rate"),
    Assumed("mesh_load", 0.6, assume.share, "parameters.load"),
)
ASSUMED = (
    *SECTION5,
    of_queues("deep_times", 10),
    of_queues("step_packets", 20),
    of_queues("dualpi2_min_delay_us", 800),
    Assumed("ruled_ports", "all, backbone", ruled_ports),
    *ON_MESH[1:],
    of_queues("mesh_queue_packets", 200),
    of_queues("mesh_step_packets", 12),
    built_in("mesh_switch_delay_ms", str(MESH_DELTA_MS)),
    built_in("controls", "what else a discipline has is at its default"),
)


def queues(chosen: Chosen, shallow: Value, step: Value, path: str) -> dict[str, Settings]:
    """Each discipline's settings: the queue at a key path, and its senders."""
    deep = f"{int(shallow) * int(chosen['deep_times'])} packets"
    thresholds = {
        "step": {"threshold": f"{step} packets"},
        "dualpi2": {"min_delay": f"{chosen['dualpi2_min_delay_us']} us"},
    }
    found: dict[str, Settings] = {
        name: {path: {**queue, "limit": deep, **thresholds.get(queue["kind"], {})}, **tcp}
        for name, (queue, tcp) in DISCIPLINES.items()
    }
    return {**found, BASE: {path: f"{shallow} packets"}}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Section 5's worlds and the mesh: every discipline and delay."""

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
    """Names of section 5's worlds, to an interpretation of its number of flows and which ports have the discipline."""
    readings, places = (str(chosen[name]).split(", ") for name in ("flows", "ruled_ports"))
    return {
        reading if place == "all" else f"{reading}, backbone only": (reading, place)
        for place in places
        for reading in readings
    }


def find(found: Found) -> Findings:
    """What a failure costs in goodput and time under each discipline, and how long the queue is before and after."""
    shown = []
    for name in worlds(found.chosen):
        if found.done[name].seeds:
            shown += of_section5(found, name)
    return Findings([*shown, *of_mesh(found.done[MESH], found.number("mesh_bps"))], notes=NOTES)


def cost_pct(good: Cells, delta_ms: int) -> Cells:
    """What a failure costs, in per cent of the goodput without it, of bytes over ``queue`` and ``delta_ms``."""
    lost = "a run without any goodput in the window where nothing fails: its cost has no meaning"
    return 100 * (1 - defined(good.at(delta_ms=str(delta_ms)) / good.at(delta_ms=WITHOUT), lost))


def costs(cost: Cells) -> dict[str, Estimates]:
    """That, and against drop-tail."""
    return {"cost_pct": cost.mean(), "cost_minus_drop_tail_points": (cost - cost.at(queue=BASE)).mean()}


def of_marking(cells: Cells, metric: str, world: str, delta_ms: int) -> list[Row]:
    """What is different where a queue marks by ECN in place of dropping."""
    marking = {name: f"{name}, ecn" for name in DISCIPLINES if f"{name}, ecn" in DISCIPLINES}
    dropping = cells.part(queue=tuple(marking))
    difference = replace(cells.part(queue=tuple(marking.values())), axes=dropping.axes) - dropping
    return rows({metric: difference.mean()}, key=key_of(world, delta_ms))


def goodputs(good: Cells, delta_ms: str, rate_bps: float) -> dict[str, Estimates]:
    """Goodput in per cent of a rate, and against drop-tail."""
    pct = 100 * 8 / WINDOW_S / rate_bps * good.at(delta_ms=delta_ms)
    return {"goodput_pct": pct.mean(), "minus_drop_tail_points": (pct - pct.at(queue=BASE)).mean()}


@dataclass(frozen=True)
class Queues:
    """What the ports of a world hold, in intervals.

    Attributes
    ----------
    mean_bytes, longest_ps
        The mean queue of an interval, and the longest that a packet has taken by its end; over ``port`` and ``time``.
    """

    mean_bytes: Cells
    longest_ps: Cells

    @classmethod
    def of(cls, done: StudyResult) -> Queues:
        """What a study observed."""
        ports = done["ports"]
        return cls(ports.cells("mean_bytes"), ports.cells("longest_ps"))

    def mean_ms(self, delta_ms: str, port: str, span_s: tuple[float, float], rate_bps: float) -> Estimates:
        """How long the mean queue of a port takes to be sent."""
        queue = self.mean_bytes.at(delta_ms=delta_ms, port=port)
        first, last = (queue.axis("time").bound(one) for one in span_s)
        return (1000 * 8 / rate_bps / (last - first) * queue.between(*span_s)).mean()

    def longest_ms(self, delta_ms: str, port: str, until_s: float) -> Estimates:
        """How long the slowest packet took at a port until then."""
        return (1000 / PS * self.longest_ps.at(delta_ms=delta_ms, port=port, time=until_s)).mean()


def of_section5(found: Found, name: str) -> list[Row]:
    """The rows of one of section 5's worlds."""
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
        shown += of_marking(cost, "cost_minus_dropping_points", world, delta_ms)
        for queue in DISCIPLINES:
            switched = goodput.at(queue=queue, delta_ms=delta, group="switched")
            settled = resampled(settling(switched, switch_s, failure_s + AFTER_S), settled_s)
            shown.append(row({"world": world, "queue": queue, "delta_ms": delta_ms}, "settle_s", None, settled, ""))
    return shown


def of_mesh(done: StudyResult, rate_bps: float) -> list[Row]:
    """The rows of the mesh."""
    end_s = MESH_FAILURE_S + WINDOW_S
    good, held = done["goodput"].between(MESH_FAILURE_S, end_s).total("group"), done.once(Queues.of)
    before = held.mean_ms(WITHOUT, MESH_BEFORE, (MESH_FAILURE_S - BEFORE_S, MESH_FAILURE_S), rate_bps)
    delta = str(MESH_DELTA_MS)
    cost = cost_pct(good, MESH_DELTA_MS)
    metrics, marking = costs(cost), of_marking(cost, "cost_minus_dropping_points", MESH, MESH_DELTA_MS)
    for name, times_ms in (("mean", done.once(mean_time_ms)), ("p95", done.once(slow_time_ms))):
        extra = times_ms.at(delta_ms=delta) - times_ms.at(delta_ms=WITHOUT)
        metrics[f"completion_{name}_ms"] = times_ms.at(delta_ms=delta).mean()
        metrics[f"extra_{name}_ms"] = extra.mean()
        metrics[f"extra_{name}_minus_drop_tail_ms"] = (extra - extra.at(queue=BASE)).mean()
        marking += of_marking(extra, f"extra_{name}_minus_dropping_ms", MESH, MESH_DELTA_MS)
    switch_s = MESH_FAILURE_S + MESH_DELTA_MS / 1000
    metrics["queue_after_ms"] = held.mean_ms(delta, MESH_AFTER, (switch_s, end_s), rate_bps)
    metrics["longest_ms"] = held.longest_ms(delta, MESH_AFTER, end_s)
    shown = rows({"queue_before_ms": before}, key={"world": MESH})
    return [*shown, *rows(metrics, key=key_of(MESH, MESH_DELTA_MS)), *marking]


def key_of(world: str, delta_ms: int) -> Callable[[Key], Key]:
    """The key of rows over ``queue``."""
    return lambda here: {"world": world, **here, "delta_ms": delta_ms}


def mean_time_ms(done: StudyResult) -> Cells:
    """The mean completion time in each run."""
    return each(done, lambda run: times_ms(run).mean())


def slow_time_ms(done: StudyResult) -> Cells:
    """The 95th percentile of completion times in each run."""
    return each(done, lambda run: times_ms(run).quantile(0.95))


def times_ms(run: Run) -> Censored:
    """How long the flows took that start around the failure; cut of flows that have not ended."""
    ends = run["ends"]
    start_s = ends["start_ps"].astype(np.float64) / PS
    counted = (MESH_STARTS_S[0] <= start_s) & (start_s < MESH_STARTS_S[1])
    times = Censored(1000 * (ends["time_ps"].astype(np.float64) / PS - start_s), ends["finished"].astype(bool))
    return times[counted]


AQM = Exhibit(
    "gmpls/aqm",
    "A protection switch under queues that drop or mark by a control law",
    "beyond the paper, in section 5's world and on germany50",
    Setup(PAPER, None, grids, runs_of(SEEDS, 0, QUICKLY), ASSUMED),
    find,
)
