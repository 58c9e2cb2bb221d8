"""Cost of a failure for short flows: connections that start during it, and flows in progress."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from optcp.data.censored import UNDEFINED
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage.world import SIZES, Assumptions
from optcp.papers.assume import Assumed, built_in, overrides, positive, positive_int, share
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Bounded, Cells, Censored, Grid, Options, Part, Run, Settings, StudyResult, judge
from optcp_papers.outage.law import Way
from optcp_papers.outage.paper import PAPER, not_run, scenario, senders
from optcp_papers.outage.path import way

SEEDS, QUICK_SEEDS = 10, 2
OUTAGES_MS = (10, 20, 50, 100, 200, 500, 1000, 3000)
QUICK_OUTAGES_MS = (50, 200, 1000)
WITHOUT = "none"
"""Outage value of the twin run without failures."""
RTTS_MS, QUICK_RTTS_MS = (20, 80), (20,)
PLACE = "middle"
ACCESS_BPS = 1e9
JUDGED_RTT_MS, JUDGED_SIZES = 20, "web-search"
FAILURES, FIRST_S, EVERY_S = 10, 5.0, 12.0
"""Number of failures per run, time of the first one, and time between two failures."""
LADDER_S = (1, 2, 3, 4, 5, 7, 11)
"""Retransmission times of an unanswered SYN in Linux since 6.5, in s."""
AFTER_S = 1.0
"""Flows in progress up to this time after an outage count."""
SECOND_S, MARGIN_MS = 1.0, 20.0
"""Claimed delay of a connection that starts during the outage, and its tolerance."""
MOSTLY_FROM_MS, MOSTLY_UNTIL_MS = 200, 1000
PROBE_RTTS = (0.9, 1.3)
"""Time from a probe to the repair, in RTTs of the flow whose tail is lost."""
TAIL_RTT_S = 0.04

ASSUMED = (
    Assumed("rate_mbps", 100, positive_int, "parameters.rate"),
    Assumed("load", 0.4, share, "parameters.load"),
    Assumed("queue_ms", 40.0, positive),
    Assumed("clamp_mb", 5.0, positive),
    built_in("access", "1 Gb/s, one host"),
)
NOTES = [
    f"Flows arrive at random on a link that fails {FAILURES} times per run, {EVERY_S:g} s apart, in both directions. "
    "Each flow is compared with itself in the same run without failures. Flows count if they are in progress during an "
    f"outage or up to {AFTER_S:g} s later. `extra_s` is the sum of their additional times per failure, including "
    "negative ones. Times of flows that are unfinished at the end of the run are lower bounds; affected values are "
    "printed as lower bounds.",
    "`syn_*` is of flows whose first SYN reaches the link during an outage. Flows whose SYN has passed and whose "
    "SYN-ACK is lost wait for the same timer and count with the others.",
    "`predicted_extra_s`: arrivals per second x (L x mean of the SYN timeouts + T x wait), with T the mean time of a "
    "flow without failures. The wait is one RTT if L is below the RTT to the link, two if a probe gets through, else "
    "two plus the RTOs, and one more RTT for the repair in each case. The prediction ignores the regrowth of windows "
    "and the effect of delayed flows on others.",
    f"`outage-syn-second` is judged for {JUDGED_SIZES} at {JUDGED_RTT_MS} ms.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids over outage, RTT and sizes, and the flow whose tail is lost."""
    quick = options.size.is_quick
    queue_bytes = 125 * float(chosen["queue_ms"]) * float(chosen["rate_mbps"])
    stop = {"parameters.queue": f"{queue_bytes:.0f} B", "stop": f"{FIRST_S + FAILURES * EVERY_S:g} s"}
    settings = {**overrides(ASSUMED, chosen), **stop}
    axes = {
        "sizes": {name: {"flows.0.sizes": points(name, float(chosen["clamp_mb"]))} for name in SIZES},
        "rtt_ms": {rtt: delays(rtt) for rtt in (QUICK_RTTS_MS if quick else RTTS_MS)},
        "outage_ms": {WITHOUT: {"failures": []}}
        | {str(length): failing(length) for length in (QUICK_OUTAGES_MS if quick else OUTAGES_MS)},
    }
    tail = {"sender": senders("cubic", "bbr")}
    return {
        "short": options.grid(scenario("short"), settings, axes, "outage short"),
        "tail": options.grid(scenario("tail"), {}, tail, "outage short, the end of a flow"),
    }


def points(name: str, clamp_mb: float) -> Settings:
    """Return the settings of a size distribution; sizes above ``clamp_mb`` are clamped."""
    result = Assumptions(sizes=name, clamp_mb=clamp_mb).points
    return {"kind": "points", "points": [(f"{size:.0f} B", float(f"{per_cent:g}")) for size, per_cent in result]}


def delays(rtt_ms: int) -> dict[str, str]:
    """Return the path delays of the scenario."""
    path = way(rtt_ms, PLACE, ACCESS_BPS)
    parts = {"near": path.near_s, "core": path.core_s, "far": path.far_s}
    return {f"parameters.{name}": f"{1e6 * delay_s:.0f} us" for name, delay_s in parts.items()}


def failing(length_ms: int) -> Settings:
    """Return the failures of the scenario."""
    outages_s = [(at_s, at_s + length_ms / 1000) for at_s in failures_s()]
    return {"failures": [{"link": ["A", "B"], "at": f"{at:g} s", "repair": f"{back:g} s"} for at, back in outages_s]}


def failures_s() -> list[float]:
    """Return the times of the failures, in s."""
    return [FIRST_S + EVERY_S * place for place in range(FAILURES)]


@dataclass(frozen=True)
class Costs:
    """Cost of failures for flows, over ``sizes``, ``rtt_ms`` and ``outage_ms`` (metrics as defined in ``NOTES``)."""

    fct_infl_p50: Cells
    fct_infl_p99: Cells
    syn_share_pct: Cells
    syn_extra_ms: Cells
    extra_s: Cells
    predicted_extra_s: Cells

    @classmethod
    def of(cls, done: StudyResult) -> Costs:
        """Compare every run with its twin without failures."""
        lengths = done.axes[-1].values
        result = np.full((len(done.seeds), len(done.grid.branches), len(fields(cls)), 2), np.nan)
        for at, seed in enumerate(done.seeds):
            for place, branch in enumerate(done.grid.branches):
                written = done.grid.written(branch)
                if written[-1] == WITHOUT:
                    twin = Flows.of(done.run(branch, seed))
                    path = way(float(written[-2]), PLACE, ACCESS_BPS)
                else:
                    flows = Flows.of(done.run(branch, seed))
                    result[at, place] = cost(flows, twin, path, float(written[-1]) / 1000)
        kept = [length for length in lengths if length != WITHOUT]
        return cls(*(costs_of(done, result[..., item, :]).part(outage_ms=kept) for item in range(len(fields(cls)))))


def costs_of(done: StudyResult, found: NDArray[np.float64]) -> Cells:
    """Return values with lower bounds, from an array of shape (seeds, branches, 2)."""
    return done.cells(found[..., 0], at_least=found[..., 1])


@dataclass(frozen=True)
class Flows:
    """Flows of a run, in the order of their start times.

    Attributes
    ----------
    start_s, took_s
        Start time, and completion time (or time to the end of the run if unfinished), in s.
    ended
        Whether a flow has finished.
    """

    start_s: NDArray[np.float64]
    took_s: NDArray[np.float64]
    ended: NDArray[np.bool_]

    @classmethod
    def of(cls, run: Run) -> Flows:
        """Read the flows of a run."""
        ends = run["ends"]
        start = ends["start_ps"].astype(np.float64) / PS
        order = np.argsort(start, kind="stable")
        took = ends["time_ps"].astype(np.float64) / PS - start
        return cls(start[order], took[order], ends["finished"].astype(bool)[order])

    @property
    def times_s(self) -> Censored:
        """Completion times; times of unfinished flows are censored."""
        return Censored(self.took_s, self.ended)


def cost(flows: Flows, twin: Flows, path: Way, outage_s: float) -> list[Bounded]:
    """Return the cost of a run's failures, in the order of the fields of :class:`Costs`, each with its lower bound."""
    begins = np.array(failures_s())[:, None]
    under_way = (flows.start_s < begins + outage_s + AFTER_S) & (flows.start_s + flows.took_s > begins)
    first_s = begins - path.near_s
    in_outage = (first_s <= flows.start_s) & (flows.start_s < first_s + outage_s)
    # A flow that was unfinished without failures has no reference.
    counted, syn = under_way.any(axis=0) & twin.ended, in_outage.any(axis=0) & twin.ended
    extra_s = Censored(flows.took_s - twin.took_s, flows.ended)
    times = flows.times_s.over(twin.took_s)[counted]
    total_s, syn_s = extra_s[counted].total(), extra_s[syn].total()
    # The share of two censored sums is unknown, except for its sign.
    share_pct = 100 * syn_s[0] / total_s[0] if math.isfinite(total_s[0]) else math.inf
    share_at_least = share_pct if math.isfinite(share_pct) else 0.0
    syn_ms = _times(syn_s, 1000 / syn.sum()) if syn.any() else UNDEFINED
    arrivals = twin.start_s.size / (FIRST_S + FAILURES * EVERY_S)
    wait = arrivals * wait_s(path, outage_s)
    mean_s, mean_at_least = (
        arrivals * outage_s * ladder_s(outage_s) + time for time in _times(twin.times_s.mean(), wait)
    )
    return [
        times.quantile(0.5), times.quantile(0.99), (share_pct, share_at_least), syn_ms, _times(total_s, 1 / FAILURES),
        (mean_s, mean_at_least),
    ]  # fmt: skip


def _times(value: Bounded, factor: float) -> Bounded:
    return value[0] * factor, value[1] * factor


def ladder_s(outage_s: float) -> float:
    """Return the mean delay of connections whose first SYN is lost at a random time of an outage."""
    below = np.minimum((0, *LADDER_S), outage_s)
    return float((np.diff(below) * LADDER_S).sum()) / outage_s


def wait_s(path: Way, outage_s: float) -> float:
    """Return the additional time of a flow in progress: until it sends again, plus one RTT of repair."""
    rtt_s = path.rtt_s
    if outage_s < 2 * path.near_s:
        return 2 * rtt_s
    again_s = 2 * rtt_s
    rto_s = max(rtt_s + 0.2, 3 * rtt_s)
    while 2 * path.near_s + again_s < outage_s:
        again_s += rto_s
        rto_s *= 2
    return again_s + rtt_s


def find(found: Found) -> Findings:
    """Return the cost of failures for short flows by outage length, and the share of lost SYNs in it."""
    costs, tail = found.done["short"].once(Costs.of), found.done["tail"]
    metrics = {field.name: getattr(costs, field.name).mean() for field in fields(costs)}
    claims = {"outage-tail-probe-repairs": probes(tail), "outage-syn-second": seconds(costs)}
    shown = rows(metrics)
    for name, cells in {"probe_to_repair_ms": tail.each(after_probe_ms), "timeouts": tail.each(timeouts)}.items():
        shown += rows({name: cells.mean()}, key={"world": "the end of a flow"})
    return Findings(shown, claims, [], NOTES)


def after_probe_ms(run: Run) -> float:
    """Return the time from the first retransmission, which is the probe, to the second, in ms."""
    at_ms = _when_ms(run, "resent")
    return float(at_ms[1] - at_ms[0])


def timeouts(run: Run) -> float:
    """Return the number of RTOs."""
    return float(_when_ms(run, "timeout").size)


def _when_ms(run: Run, event: str) -> NDArray[np.float64]:
    return np.asarray(1000 * run["events"].where(event=event)["time_ps"].astype(np.float64) / PS)


def probes(tail: StudyResult) -> list[Part]:
    """Judge: the repair starts one RTT after the probe, and no RTO fires."""
    after, expired = tail.each(after_probe_ms), tail.each(timeouts)
    parts = []
    for sender in after.axis("sender").values:
        ms, count = (float(item.at(sender=sender).values[0]) for item in (after, expired))
        low, high = (1000 * TAIL_RTT_S * bound for bound in PROBE_RTTS)
        text = f"{sender}: {ms:.1f} ms from the probe to the repair, {count:g} timeouts"
        parts.append(judge.exact_part(text, low <= ms <= high and count == 0))
    return parts


def seconds(costs: Costs) -> list[Part]:
    """Judge: connections that start in an outage lose 1 s each, which is most of the extra time from 200 ms on."""
    where = {"sizes": JUDGED_SIZES, "rtt_ms": str(JUDGED_RTT_MS)}
    extra_ms, share_pct = costs.syn_extra_ms.at(**where), costs.syn_share_pct.at(**where)
    parts = []
    for length in (outages_m for outages_m in OUTAGES_MS if outages_m <= MOSTLY_UNTIL_MS):
        if str(length) not in extra_ms.axis("outage_ms").values:
            parts.append(not_run(f"{length} ms"))
            continue
        off_ms = extra_ms.at(outage_ms=str(length)).values - 1000 * SECOND_S
        known = off_ms[~np.isnan(off_ms)]
        if known.size:
            parts.append(judge.equivalence_part(f"{length} ms: extra time minus 1 s", known, MARGIN_MS, "ms"))
        else:
            parts.append(not_run(f"{length} ms: connections that start in it"))
        if length >= MOSTLY_FROM_MS:
            mostly = share_pct.at(outage_ms=str(length)).values
            parts.append(
                judge.paired_part(f"{length} ms: their share minus half", mostly, 50 + 0 * mostly, "above", "points")
            )
    return parts


SHORT = Exhibit(
    "outage/short",
    "Cost of a failure for short flows",
    "docs/details/outage.md, short flows",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS, {"tail": 1}), ASSUMED),
    find,
)
