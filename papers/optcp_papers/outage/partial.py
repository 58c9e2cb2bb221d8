"""Value of restoring part of a link early, compared with all of it late."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from optcp.outage.world import MSS_SHARE, Assumptions
from optcp.papers.assume import Assumed, built_in, overrides, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Bounded, Cells, Censored, Grid, Options, Part, Run, Settings, StudyResult, judge
from optcp.stats.quantiles import sample_quantile
from optcp_papers.outage.paper import PAPER, not_run, scenario, senders
from optcp_papers.outage.short import Flows, costs_of, points

SEEDS, QUICK_SEEDS = 10, 1
LIGHTPATHS = 4
NEVER = "94 s"
"""End of the window: a repair must come before the end of the run."""
SHARES: dict[str, dict[str, str]] = {
    "0.25": {"parameters.second": NEVER, "parameters.others": NEVER},
    "0.5": {"parameters.second": "$works", "parameters.others": NEVER},
    "1.0": {"parameters.second": "$works", "parameters.others": "$works"},
}
"""Lightpaths that are restored, by share; the others are restored at the end of the run."""
QUICK_SHARES = ("0.5", "1.0")
RESTORED_S, QUICK_RESTORED_S = ("1", "8", "60"), ("8", "60")
SENDERS, QUICK_SENDERS = ("cubic", "bbr", "newreno"), ("cubic",)
CUT_S, WINDOW_S = 4.0, 90.0
COUNTED_S = 61.0
"""Short flows in progress up to this time after the cut count: one second after the latest restoration."""
REACHED_AFTER_S = 10.0
SETTLED = 0.9
EARLY, LATE = ("0.5", "8"), ("1.0", "60")
"""Share and restoration time of the two compared cases."""

ASSUMED = (
    Assumed("host_mbps", 4.0, positive, "parameters.host"),
    Assumed("lightpath_mbps", 25.0, positive, "parameters.lightpath"),
    Assumed("short_mbps", 10.0, positive),
    Assumed("queue_ms", 40.0, positive),
    Assumed("clamp_mb", 5.0, positive),
    built_in("selection", "flow-hash"),
    built_in("long_flows", "20"),
)
NOTES = [
    f"All {LIGHTPATHS} lightpaths of a long-haul link are cut together, and `share` of them is restored "
    f"`restored_at_s` later. Loss is in-order bytes of all flows in the {WINDOW_S:g} s after the cut, "
    "relative to the same run without it.",
    "Routers choose a lightpath by a hash of the flow, modulo the number of lightpaths in service, as for bundle "
    "members. The hash is the same in all runs, and coarser with twenty flows than with thousands: without a failure "
    "nine flows share one lightpath, which is therefore full before the failure.",
    "Hosts limit long flows to `host_mbps`, as in the study's networks. Active flows therefore cannot use the "
    "capacity of flows that wait for their RTOs, which they could if each alone filled the link.",
    "The restored rate is `share` of the rate, or the rate of the flows without a failure if it is lower. "
    f"`reached_pct` is goodput in the last second before {REACHED_AFTER_S:g} s after the restoration, in % of the "
    "restored rate. `back_s` is the end of the first second, from the restoration, with 90 %. If there is none, it is "
    "longer than the rest of the window.",
    f"`fct_infl_p50` is of short flows in progress in the {COUNTED_S:g} s after the cut, for every restoration time, "
    "so all combinations count the same flows. Completion times of unfinished flows are lower bounds.",
    f"`outage-partial-at-8s` compares {EARLY[0]} at {EARLY[1]} s with {LATE[0]} at {LATE[1]} s for each sender of "
    "the long flows; short flows use CUBIC.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids over share and time of the restoration by sender, and the runs without a cut."""
    quick = options.size.is_quick
    of = senders(*(QUICK_SENDERS if quick else SENDERS), table="long")
    axes = {
        "sender": of,
        "share": {item: SHARES[item] for item in (QUICK_SHARES if quick else SHARES)},
        "restored_at_s": {
            item: {"parameters.works": f"{CUT_S + float(item):g} s"}
            for item in (QUICK_RESTORED_S if quick else RESTORED_S)
        },
    }
    settings = world(chosen)
    twin = {**settings, "failures": []}
    return {
        "cut": options.grid(scenario("partial"), settings, axes, "outage partial"),
        "twin": options.grid(scenario("partial"), twin, {"sender": of}, "outage partial, no cut"),
    }


def world(chosen: Chosen) -> Settings:
    """Return the settings that all runs share."""
    clamp_mb = float(chosen["clamp_mb"])
    mean_bytes = Assumptions(clamp_mb=clamp_mb).mean_size
    arrivals = 1e6 * float(chosen["short_mbps"]) * MSS_SHARE / 8 / mean_bytes
    queue_bytes = 125 * float(chosen["queue_ms"]) * float(chosen["lightpath_mbps"])
    return {
        **overrides(ASSUMED, chosen),
        "parameters.queue": f"{queue_bytes:.0f} B",
        "parameters.arrivals": f"{arrivals:.4g} flows/s",
        "flows.1.sizes": points("web-search", clamp_mb),
    }


@dataclass(frozen=True)
class Costs:
    """Cost of the cut, over ``sender``, ``share`` and ``restored_at_s`` (metrics as defined in ``NOTES``).

    Attributes
    ----------
    infl_at_most
        Upper bound of ``fct_infl_p50``, in which unfinished flows take longer than all others.
    """

    lost_mb: Cells
    reached_pct: Cells
    back_s: Cells
    fct_infl_p50: Cells
    infl_at_most: Cells

    @classmethod
    def of(cls, cut: StudyResult, twin: StudyResult, rate_bps: float) -> Costs:
        """Compare every run with its twin without the cut."""
        result = np.full((len(cut.seeds), len(cut.grid.branches), len(fields(cls)), 2), np.nan)
        for at, seed in enumerate(cut.seeds):
            twins = {twin.grid.written(item)[0]: twin.run(item, seed) for item in twin.grid.branches}
            for place, branch in enumerate(cut.grid.branches):
                sender, share, restored_s = cut.grid.written(branch)
                run = cut.run(branch, seed)
                result[at, place] = cost(run, twins[sender], float(share) * rate_bps, float(restored_s))
        return cls(*(costs_of(cut, result[..., item, :]) for item in range(len(fields(cls)))))


def cost(run: Run, twin: Run, back_bps: float, restored_s: float) -> list[Bounded]:
    """Return the cost of a cut in one run, in the order of the fields of :class:`Costs`, each with its lower bound.

    Parameters
    ----------
    back_bps
        Rate of the restored lightpaths.
    restored_s
        Time of the restoration after the cut.
    """
    got, without = after_cut(run), after_cut(twin)
    came_back = min(back_bps * MSS_SHARE / 8, float(without.mean()))
    since = got[round(restored_s) :] / came_back
    settled = np.flatnonzero(since >= SETTLED)
    back_s = (float(settled[0] + 1),) * 2 if settled.size else (np.inf, float(since.size))
    reached_pct = 100 * float(since[round(REACHED_AFTER_S) - 1])
    lost_mb = float((without - got).sum()) / 1e6
    ratios = inflation(Flows.of(run), Flows.of(twin))
    at_most = sample_quantile(ratios.values, 0.5)
    return [(lost_mb, lost_mb), (reached_pct, reached_pct), back_s, ratios.quantile(0.5), (at_most, at_most)]


def after_cut(run: Run) -> NDArray[np.float64]:
    """Return the in-order bytes of all flows in each second after the cut."""
    by_group = run["goodput"]["bytes"].reshape(len(run["goodput"].distinct("group")), -1).astype(np.float64)
    return np.asarray(by_group.sum(axis=0)[round(CUT_S) : round(CUT_S + WINDOW_S)])


def inflation(flows: Flows, twin: Flows) -> Censored:
    """Return the completion time of each short flow relative to the run without the cut."""
    begins, times_s = flows.start_s, flows.times_s
    # A flow that was unfinished without the cut has no reference.
    counted = (begins < CUT_S + COUNTED_S) & (begins + times_s.at_least > CUT_S) & twin.ended
    return times_s.over(twin.took_s)[counted]


def find(found: Found) -> Findings:
    """Return the cost of a cut by share and time of the restoration."""
    rate_bps = 1e6 * LIGHTPATHS * found.number("lightpath_mbps")
    costs = Costs.of(found.done["cut"], found.done["twin"], rate_bps)
    metrics = {field.name: getattr(costs, field.name).mean() for field in fields(costs) if field.name != "infl_at_most"}
    claims = {"outage-partial-at-8s": {name: worth(costs, name) for name in costs.lost_mb.axis("sender").values}}
    if len(claims["outage-partial-at-8s"]) < len(SENDERS):
        claims["outage-partial-at-8s"] |= {"other senders": [not_run("other senders")]}
    return Findings(rows(metrics), claims, [], NOTES)


def worth(costs: Costs, sender: str) -> list[Part]:
    """Judge: half of the capacity at 8 s costs transfers less than all of it at 60 s."""
    early, late = ({"sender": sender, "share": share, "restored_at_s": at_s} for share, at_s in (EARLY, LATE))
    lost, at_most, times = (cells.at(**early) for cells in (costs.lost_mb, costs.infl_at_most, costs.fct_infl_p50))
    slow = costs.fct_infl_p50.at(**late)
    parts = [judge.paired_part("lost in 90 s", lost.values, costs.lost_mb.at(**late).values, "below", "MB")]
    name = "median completion of short flows"
    if np.isinf([times.values, slow.values]).any():
        # Unfinished flows only have bounds: use the upper bound of the early case and the lower bound of the late one.
        bounds = slow.values if slow.at_least is None else slow.at_least
        return [*parts, judge.paired_part(f"{name}, upper minus lower bound", at_most.values, bounds, "below", "times")]
    return [*parts, judge.paired_part(name, times.values, slow.values, "below", "times")]


PARTIAL = Exhibit(
    "outage/partial",
    "A part of a link early against all of it late",
    "docs/details/outage.md, partial restoration",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
