"""What a failure costs short flows: the second of those that begin in it, and the wait of those that are under way."""

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
"""The outage that is none: the twin."""
RTTS_MS, QUICK_RTTS_MS = (20, 80), (20,)
PLACE = "middle"
ACCESS_BPS = 1e9
JUDGED_RTT_MS, JUDGED_SIZES = 20, "web-search"
FAILURES, FIRST_S, EVERY_S = 10, 5.0, 12.0
"""So many failures a run, of which the first begins then, and each so much later than the one before."""
LADDER_S = (1, 2, 3, 4, 5, 7, 11)
"""When a SYN without an answer is repeated, in Linux since 6.5."""
AFTER_S = 1.0
"""Flows count that are under way while the link does not work or so long afterwards."""
SECOND_S, MARGIN_MS = 1.0, 20.0
"""What a connection that begins in the outage is said to lose, and how near that must be."""
MOSTLY_FROM_MS, MOSTLY_UNTIL_MS = 200, 1000
PROBE_RTTS = (0.9, 1.3)
"""How long after a probe the repair begins, in round trips of the flow whose end is lost."""
TAIL_RTT_S = 0.04

ASSUMED = (
    Assumed("rate_mbps", 100, positive_int, "parameters.rate"),
    Assumed("load", 0.4, share, "parameters.load"),
    Assumed("queue_ms", 40.0, positive),
    Assumed("clamp_mb", 5.0, positive),
    built_in("access", "1 Gb/s, one host"),
)
NOTES = [
    f"Flows come at random over a link that fails {FAILURES} times a run, {EVERY_S:g} s apart, in both directions. "
    "Each flow is compared with itself in the same run without failures. Those count that are under way while the "
    f"link does not work or up to {AFTER_S:g} s later. `extra_s` is the sum of their extra times a failure, shorter "
    "ones included. The end of the run cuts the time of a flow that has not ended: it is longer than seen, and a value "
    "that falls there is printed by its lower bound.",
    "`syn_*` is of flows whose first SYN comes to the link while it does not work. Those whose SYN has passed and "
    "whose SYN-ACK is lost wait for the same timer and count with the others.",
    "`predicted_extra_s`: arrivals a second x (L x the ladder's mean + T x the wait), with T the mean time of a "
    "flow without failures. The wait is a round trip where L is below the round trip to the link, two where a "
    "probe comes through, else two and as many timeouts as it takes, and one more for the repair in each case. It "
    "knows nothing of windows that must grow again, nor of what flows that wait take from others afterwards.",
    f"`outage-syn-second` is judged for {JUDGED_SIZES} at {JUDGED_RTT_MS} ms.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Lengths of the outage by round trip and sizes, and the flow whose end is lost."""
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
    """A distribution of sizes in the scenario; what is larger than the clamp is as large."""
    found = Assumptions(sizes=name, clamp_mb=clamp_mb).points
    return {"kind": "points", "points": [(f"{size:.0f} B", float(f"{per_cent:g}")) for size, per_cent in found]}


def delays(rtt_ms: int) -> dict[str, str]:
    """The path in the scenario."""
    path = way(rtt_ms, PLACE, ACCESS_BPS)
    parts = {"near": path.near_s, "core": path.core_s, "far": path.far_s}
    return {f"parameters.{name}": f"{1e6 * delay_s:.0f} us" for name, delay_s in parts.items()}


def failing(length_ms: int) -> Settings:
    """The failures in the scenario."""
    outages_s = [(at_s, at_s + length_ms / 1000) for at_s in failures_s()]
    return {"failures": [{"link": ["A", "B"], "at": f"{at:g} s", "repair": f"{back:g} s"} for at, back in outages_s]}


def failures_s() -> list[float]:
    """When the link fails."""
    return [FIRST_S + EVERY_S * place for place in range(FAILURES)]


@dataclass(frozen=True)
class Costs:
    """What failures cost the flows of a study, over ``sizes``, ``rtt_ms`` and ``outage_ms``; as the notes have it."""

    fct_infl_p50: Cells
    fct_infl_p99: Cells
    syn_share_pct: Cells
    syn_extra_ms: Cells
    extra_s: Cells
    predicted_extra_s: Cells

    @classmethod
    def of(cls, done: StudyResult) -> Costs:
        """Compare every run with its twin."""
        lengths = done.axes[-1].values
        found = np.full((len(done.seeds), len(done.grid.branches), len(fields(cls)), 2), np.nan)
        for at, seed in enumerate(done.seeds):
            for place, branch in enumerate(done.grid.branches):
                written = done.grid.written(branch)
                if written[-1] == WITHOUT:
                    twin = Flows.of(done.run(branch, seed))
                    path = way(float(written[-2]), PLACE, ACCESS_BPS)
                else:
                    flows = Flows.of(done.run(branch, seed))
                    found[at, place] = cost(flows, twin, path, float(written[-1]) / 1000)
        kept = [length for length in lengths if length != WITHOUT]
        return cls(*(costs_of(done, found[..., one, :]).part(outage_ms=kept) for one in range(len(fields(cls)))))


def costs_of(done: StudyResult, found: NDArray[np.float64]) -> Cells:
    """Cells of values and lower bounds, shape (seeds, branches, 2)."""
    return done.cells(found[..., 0], at_least=found[..., 1])


@dataclass(frozen=True)
class Flows:
    """The flows of a run, in the order of their beginnings.

    Attributes
    ----------
    start_s, took_s
        When each began, and how long it took, or the run from there on where the flow had not ended.
    ended
        Which had ended.
    """

    start_s: NDArray[np.float64]
    took_s: NDArray[np.float64]
    ended: NDArray[np.bool_]

    @classmethod
    def of(cls, run: Run) -> Flows:
        """Read them."""
        ends = run["ends"]
        start = ends["start_ps"].astype(np.float64) / PS
        order = np.argsort(start, kind="stable")
        took = ends["time_ps"].astype(np.float64) / PS - start
        return cls(start[order], took[order], ends["finished"].astype(bool)[order])

    @property
    def times_s(self) -> Censored:
        """How long each took, cut of flows that had not ended."""
        return Censored(self.took_s, self.ended)


def cost(flows: Flows, twin: Flows, path: Way, outage_s: float) -> list[Bounded]:
    """What the failures of a run cost, in the order of the fields of :class:`Costs`; each with its lower bound."""
    begins = np.array(failures_s())[:, None]
    under_way = (flows.start_s < begins + outage_s + AFTER_S) & (flows.start_s + flows.took_s > begins)
    first_s = begins - path.near_s
    in_outage = (first_s <= flows.start_s) & (flows.start_s < first_s + outage_s)
    # A flow that had not ended without failures has nothing to be compared with.
    counted, syn = under_way.any(axis=0) & twin.ended, in_outage.any(axis=0) & twin.ended
    extra_s = Censored(flows.took_s - twin.took_s, flows.ended)
    times = flows.times_s.over(twin.took_s)[counted]
    total_s, syn_s = extra_s[counted].total(), extra_s[syn].total()
    # Of two sums that the end of the run cuts the share is not known, but for its sign.
    share_pct = 100 * syn_s[0] / total_s[0] if math.isfinite(total_s[0]) else math.inf
    share_at_least = share_pct if math.isfinite(share_pct) else 0.0
    syn_ms = _times(syn_s, 1000 / syn.sum()) if syn.any() else UNDEFINED
    arrivals = twin.start_s.size / (FIRST_S + FAILURES * EVERY_S)
    wait = arrivals * wait_s(path, outage_s)
    mean_s, mean_at_least = (
        arrivals * outage_s * ladder_s(outage_s) + one for one in _times(twin.times_s.mean(), wait)
    )
    return [
        times.quantile(0.5), times.quantile(0.99), (share_pct, share_at_least), syn_ms, _times(total_s, 1 / FAILURES),
        (mean_s, mean_at_least),
    ]  # fmt: skip


def _times(value: Bounded, factor: float) -> Bounded:
    return value[0] * factor, value[1] * factor


def ladder_s(outage_s: float) -> float:
    """How much later connections begin on average whose first SYN comes at any instant of an outage."""
    below = np.minimum((0, *LADDER_S), outage_s)
    return float((np.diff(below) * LADDER_S).sum()) / outage_s


def wait_s(path: Way, outage_s: float) -> float:
    """How much longer a flow under way takes: until it sends again, and a round trip of repair."""
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
    """What failures cost short flows by their length, and what of it is the second of those that began in them."""
    costs, tail = found.done["short"].once(Costs.of), found.done["tail"]
    metrics = {one.name: getattr(costs, one.name).mean() for one in fields(costs)}
    claims = {"outage-tail-probe-repairs": probes(tail), "outage-syn-second": seconds(costs)}
    shown = rows(metrics)
    for name, cells in {"probe_to_repair_ms": tail.each(after_probe_ms), "timeouts": tail.each(timeouts)}.items():
        shown += rows({name: cells.mean()}, key={"world": "the end of a flow"})
    return Findings(shown, claims, [], NOTES)


def after_probe_ms(run: Run) -> float:
    """From the first segment that is sent again, which is the probe, to the second."""
    at_ms = _when_ms(run, "resent")
    return float(at_ms[1] - at_ms[0])


def timeouts(run: Run) -> float:
    """How often the timer expired."""
    return float(_when_ms(run, "timeout").size)


def _when_ms(run: Run, event: str) -> NDArray[np.float64]:
    return np.asarray(1000 * run["events"].where(event=event)["time_ps"].astype(np.float64) / PS)


def probes(tail: StudyResult) -> list[Part]:
    """Judge: the repair begins a round trip after the probe, and no timer expires."""
    after, expired = tail.each(after_probe_ms), tail.each(timeouts)
    parts = []
    for sender in after.axis("sender").values:
        ms, count = (float(one.at(sender=sender).values[0]) for one in (after, expired))
        low, high = (1000 * TAIL_RTT_S * bound for bound in PROBE_RTTS)
        text = f"{sender}: {ms:.1f} ms from the probe to the repair, {count:g} timeouts"
        parts.append(judge.exact_part(text, low <= ms <= high and count == 0))
    return parts


def seconds(costs: Costs) -> list[Part]:
    """Judge: connections that begin in an outage lose a second each, from 200 ms on most of all extra time."""
    where = {"sizes": JUDGED_SIZES, "rtt_ms": str(JUDGED_RTT_MS)}
    extra_ms, share_pct = costs.syn_extra_ms.at(**where), costs.syn_share_pct.at(**where)
    parts = []
    for length in (one for one in OUTAGES_MS if one <= MOSTLY_UNTIL_MS):
        if str(length) not in extra_ms.axis("outage_ms").values:
            parts.append(not_run(f"{length} ms"))
            continue
        off_ms = extra_ms.at(outage_ms=str(length)).values - 1000 * SECOND_S
        known = off_ms[~np.isnan(off_ms)]
        if known.size:
            parts.append(judge.equivalence_part(f"{length} ms: extra time less a second", known, MARGIN_MS, "ms"))
        else:
            parts.append(not_run(f"{length} ms: connections that began in it"))
        if length >= MOSTLY_FROM_MS:
            mostly = share_pct.at(outage_ms=str(length)).values
            parts.append(
                judge.paired_part(f"{length} ms: their share less half", mostly, 50 + 0 * mostly, "above", "points")
            )
    return parts


SHORT = Exhibit(
    "outage/short",
    "What a failure costs short flows",
    "docs/details/outage.md, short flows",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS, {"tail": 1}), ASSUMED),
    find,
)
