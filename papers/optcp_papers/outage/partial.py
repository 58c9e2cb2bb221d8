"""What it is worth to restore a part of a link early, against all of it late."""

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
"""When the window ends: a repair must be before the end of the run."""
SHARES: dict[str, dict[str, str]] = {
    "0.25": {"parameters.second": NEVER, "parameters.others": NEVER},
    "0.5": {"parameters.second": "$works", "parameters.others": NEVER},
    "1.0": {"parameters.second": "$works", "parameters.others": "$works"},
}
"""What comes back, by which lightpaths it is; the others do not before the end of the run."""
QUICK_SHARES = ("0.5", "1.0")
RESTORED_S, QUICK_RESTORED_S = ("1", "8", "60"), ("8", "60")
SENDERS, QUICK_SENDERS = ("cubic", "bbr", "newreno"), ("cubic",)
CUT_S, WINDOW_S = 4.0, 90.0
COUNTED_S = 61.0
"""Short flows count that are under way so long behind the cut: until a second after the latest restoration."""
REACHED_AFTER_S = 10.0
SETTLED = 0.9
EARLY, LATE = ("0.5", "8"), ("1.0", "60")
"""The share and the restoration that are compared."""

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
    f"All {LIGHTPATHS} lightpaths of a long-haul link are cut at once, and `share` of them works again "
    f"`restored_at_s` later. What is lost is in-order bytes of all flows in the {WINDOW_S:g} s behind the cut, "
    "against the same run without it.",
    "Routers choose a lightpath by a hash of the flow, modulo the lightpaths in service, as they do over members "
    "of a bundle. The hash is the same in all runs, and of twenty flows coarser than of thousands: without a "
    "failure nine of them share one lightpath, so that one is full before anything fails.",
    "Hosts limit long flows to `host_mbps`, as in the study's networks: so those that are awake cannot take what "
    "those leave that wait for their timers, as they would where each alone could fill the link.",
    "What came back is `share` of the rate, or what flows get without a failure where that is less. `reached_pct` "
    f"is goodput in the second up to {REACHED_AFTER_S:g} s behind the restoration, in per cent of it; `back_s` is "
    "the end of the first second, counted from the restoration, in which it is 90 per cent; where that is never, it is "
    "longer than the rest of the window.",
    f"`fct_infl_p50` is of short flows that are under way in the {COUNTED_S:g} s behind the cut, whichever "
    "restoration it is: of the same flows in all cells. The time of one that has not ended by the end of the run "
    "is longer than seen.",
    f"`outage-partial-at-8s` compares {EARLY[0]} at {EARLY[1]} s with {LATE[0]} at {LATE[1]} s for each sender of "
    "the long flows; short flows have CUBIC.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """What comes back when, by sender; and the same without a cut."""
    quick = options.size.is_quick
    of = senders(*(QUICK_SENDERS if quick else SENDERS), table="long")
    axes = {
        "sender": of,
        "share": {one: SHARES[one] for one in (QUICK_SHARES if quick else SHARES)},
        "restored_at_s": {
            one: {"parameters.works": f"{CUT_S + float(one):g} s"}
            for one in (QUICK_RESTORED_S if quick else RESTORED_S)
        },
    }
    settings = world(chosen)
    twin = {**settings, "failures": []}
    return {
        "cut": options.grid(scenario("partial"), settings, axes, "outage partial"),
        "twin": options.grid(scenario("partial"), twin, {"sender": of}, "outage partial, no cut"),
    }


def world(chosen: Chosen) -> Settings:
    """What all runs have in common."""
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
    """What the cut costs, over ``sender``, ``share`` and ``restored_at_s``; as the notes have it.

    Attributes
    ----------
    infl_at_most
        Upper bound of ``fct_infl_p50``: for it, flows that have not ended take longer than all others.
    """

    lost_mb: Cells
    reached_pct: Cells
    back_s: Cells
    fct_infl_p50: Cells
    infl_at_most: Cells

    @classmethod
    def of(cls, cut: StudyResult, twin: StudyResult, rate_bps: float) -> Costs:
        """Compare every run with its twin."""
        found = np.full((len(cut.seeds), len(cut.grid.branches), len(fields(cls)), 2), np.nan)
        for at, seed in enumerate(cut.seeds):
            twins = {twin.grid.written(one)[0]: twin.run(one, seed) for one in twin.grid.branches}
            for place, branch in enumerate(cut.grid.branches):
                sender, share, restored_s = cut.grid.written(branch)
                run = cut.run(branch, seed)
                found[at, place] = cost(run, twins[sender], float(share) * rate_bps, float(restored_s))
        return cls(*(costs_of(cut, found[..., one, :]) for one in range(len(fields(cls)))))


def cost(run: Run, twin: Run, back_bps: float, restored_s: float) -> list[Bounded]:
    """What a cut costs in one run, in the order of the fields of :class:`Costs`; each with its lower bound.

    Parameters
    ----------
    back_bps
        The rate of the lightpaths that come back.
    restored_s
        When they do, from the cut.
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
    """In-order bytes of all flows in each second behind the cut."""
    by_group = run["goodput"]["bytes"].reshape(len(run["goodput"].distinct("group")), -1).astype(np.float64)
    return np.asarray(by_group.sum(axis=0)[round(CUT_S) : round(CUT_S + WINDOW_S)])


def inflation(flows: Flows, twin: Flows) -> Censored:
    """How many times as long each short flow takes."""
    begins, times_s = flows.start_s, flows.times_s
    # A flow that had not ended without the cut has nothing to be compared with.
    counted = (begins < CUT_S + COUNTED_S) & (begins + times_s.at_least > CUT_S) & twin.ended
    return times_s.over(twin.took_s)[counted]


def find(found: Found) -> Findings:
    """What a cut costs by what comes back when."""
    rate_bps = 1e6 * LIGHTPATHS * found.number("lightpath_mbps")
    costs = Costs.of(found.done["cut"], found.done["twin"], rate_bps)
    metrics = {one.name: getattr(costs, one.name).mean() for one in fields(costs) if one.name != "infl_at_most"}
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
        # What is known of flows that have not ended: the early one at most, and the late one at least.
        bounds = slow.values if slow.at_least is None else slow.at_least
        return [*parts, judge.paired_part(f"{name}, at most less at least", at_most.values, bounds, "below", "times")]
    return [*parts, judge.paired_part(name, times.values, slow.values, "below", "times")]


PARTIAL = Exhibit(
    "outage/partial",
    "A part of a link early against all of it late",
    "docs/details/outage.md, partial restoration",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
