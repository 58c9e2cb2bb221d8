"""Failures of more than one link: nodes, ducts, and a second link soon after the first."""

import functools
from collections.abc import Mapping
from dataclasses import replace

from optcp.outage import events
from optcp.outage.costs import UNCOVERED_MS
from optcp.outage.events import Event
from optcp.outage.metrics import METRICS
from optcp.outage.resampled import Resampled
from optcp.outage.study import Costs, CostsOf, failing
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Setup, row
from optcp_papers.outage.paper import PAPER, not_run
from optcp_papers.outage.population import (
    ASSUMED,
    NETWORKS,
    assumptions,
    cut,
    grid,
    mechanisms,
    network,
    per_cent_of,
    rows_of,
    seeds,
    side,
    world,
)

ACTING = ("none", "ti-lfa", "1+1")
KINDS = ("node", "duct", "double", "link")
DOUBLES, QUICK_DOUBLES = 50, 5
DRAWN_WITH = 1
SHOWN = ("lost_mb", "hit_pct", "outage_p50_ms", "outage_p99_ms", "network_p50_ms", "censored")
SHARED_SHARE = 0.3
"""Share of unplanned failures that affect several links, as a backbone of 2002 reported."""
SHARED_SHARES = (0.1, 0.4)
NOTES = [
    "`node`: all links of a node; pairs that end there are excluded. `duct`: two links that leave a node in adjacent "
    "bearings; `likely duct`: those whose bearings differ by 30 degrees or less. `double`: two random links, the "
    "second up to 2 s after the first. `unprotected_pct` is the share of affected flows whose path was broken for "
    "more than 15 ms. With TI-LFA these have no backup; 1+1 needs this time on long paths in any case.",
]


@functools.cache
def happening(name: str, kind: str, quick: bool) -> tuple[Event, ...]:
    """Return the failures of a kind; quick runs use some of them."""
    net = network(name)
    if kind == "link":
        result = list(cut(name))
    elif kind == "node":
        result = events.nodes(net)
    elif kind == "duct":
        result = events.ducts(net)
    else:
        result = events.doubles(net, QUICK_DOUBLES if quick else DOUBLES, DRAWN_WITH)
    return tuple(result[:QUICK_DOUBLES] if quick else result)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per network and kind of failure, over mechanisms."""
    assumed = assumptions(chosen)
    result = {}
    for name in ("abilene",) if options.size.is_quick else NETWORKS:
        for kind in KINDS:
            axes = {
                "mechanism": mechanisms(ACTING, assumed),
                "failure": failing(happening(name, kind, options.size.is_quick), assumed),
            }
            result[f"{name}, {kind}"] = grid(f"{kind}s of {name}", world(name, assumed), axes, options)
    return result


def find(found: Found) -> Findings:
    """Return the cost of such failures, and judge their share of a year's loss."""
    by_network: dict[str, dict[str, Costs]] = {}
    shown = []
    for key, done in found.done.items():
        name, _, kind = key.partition(", ")
        quick = len(found.done) < len(KINDS) * len(NETWORKS)
        costs = by_network.setdefault(name, {})[kind] = done.once(CostsOf(network(name), happening(name, kind, quick)))
        likely = {duct.name for duct in events.ducts(network(name), events.LIKELY_DEGREES)} if kind == "duct" else set()
        parts = {kind: costs}
        if likely:
            parts["likely duct"] = costs.part(lambda event, of=likely: event.name in of)  # type: ignore[misc]
        for what, of in parts.items():
            if what == "link":
                continue
            for at in of.cells if of.events else ():
                place: Key = {"network": name, "event": what, "mechanism": at[0]}
                shown += rows_of(of, at, place, SHOWN)
                shown.append(row(place, "unprotected_pct", None, unprotected_pct(of, at).interval, ""))
    missing = [not_run("other networks")] if len(by_network) < len(NETWORKS) else []
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-shared-risk-dominates": {name: [*dominates(costs), *missing] for name, costs in by_network.items()}
    }
    return Findings(shown, claims, [], NOTES)


def unprotected_pct(costs: Costs, at: tuple[str, ...]) -> Resampled:
    """Return the share of affected flows whose path was broken for longer than a backup takes."""
    hit = costs.mean(at, lambda cost: float(cost.outage_ms.size))
    return (costs.mean(at, lambda cost: float((cost.network_ms > UNCOVERED_MS).sum())) / hit).times(100)


def dominates(costs: Mapping[str, Costs]) -> list[Part]:
    """Judge: with TI-LFA more than half of a year's loss comes from failures of several links."""
    at = ("ti-lfa",)
    single = METRICS["lost_mb"](costs["link"], at)
    # Failures of nodes and of ducts are assumed equally likely.
    several = (METRICS["lost_mb"](costs["node"], at) + METRICS["lost_mb"](costs["duct"], at)).times(0.5)

    def half(share: float) -> Resampled:
        lost = several.times(share)
        return per_cent_of(lost, lost + single.times(1 - share))

    text = "from several links"
    part = side(f"{text} at a share of {SHARED_SHARE:g}, minus half", half(SHARED_SHARE) - 50.0, "above", "points")
    others = ", ".join(f"{half(share).estimate:.0f} % at {share:g}" for share in SHARED_SHARES)
    return [replace(part, text=f"{part.text} ({others})")]


SHARED_RISK = Exhibit(
    "outage/shared-risk",
    "Failures of more than one link",
    "docs/details/outage.md, shared risks",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
