"""Cost of a link failure, by mechanism and sender, over every link of four networks."""

import functools
from collections.abc import Mapping

import numpy as np

from optcp.outage import capacity, resampled
from optcp.outage.availability import YEAR_MS
from optcp.outage.mechanisms import MECHANISMS
from optcp.outage.metrics import outages
from optcp.outage.resampled import Resampled
from optcp.outage.study import LATER_S, Costs, CostsOf, failing, sender, window_s
from optcp.outage.world import Assumptions
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Part, Row, Setup, Size, row
from optcp.stats import exact
from optcp_papers.outage.paper import PAPER, not_run
from optcp_papers.outage.population import (
    ASSUMED,
    CUT_NOTE,
    NETWORKS,
    QUICK_NETWORK,
    assumptions,
    cut,
    grid,
    inside,
    mechanisms,
    network,
    rows_of,
    seeds,
    side,
    world,
)

EVERY = tuple(name for name, one in MECHANISMS.items() if not one.avoids_risks)
FEW = ("none", "ti-lfa", "1+1")
SENDERS = {"cubic": EVERY, "bbr": FEW}
"""Mechanisms by sender."""
QUICK = ("none", "ti-lfa", "1+1", "restoration, 2 s")
CONGESTED = 0.8
"""Share of its rate from which a link on a detour counts as congested."""
NOTES = [
    "Each link of each network fails alone and permanently, in both directions, 4 s after the start and up to 100 ms "
    "later. Loss is in-order bytes relative to the same run without the failure, at the end of the 4 s that "
    "follow (10 and 28 s with restoration in 2 and 8 s). Means are over failures, weighted by the length of the "
    "link; intervals resample failures. Bridges, whose failure no mechanism can repair, are excluded.",
    "`outage_*_ms` are of affected long flows: the longest time without new in-order bytes, minus the usual time. "
    "`stretch` is the sum of these stalls over the sum of the path outages. `hit_pct` is the share of affected long "
    "flows. `fct_infl_*` are completion times of short flows relative to those without the failure, for flows in "
    "progress during a path outage or in the second after it; `unfinished` of them had not ended. `censored` flows "
    "were still stalled at the end.",
    CUT_NOTE,
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per network and sender, over mechanisms and failures."""
    return _grids(assumptions(chosen), options)


@functools.cache
def _grids(assumed: Assumptions, options: Options) -> dict[str, Grid]:
    """Return the grids; cached, because several experiments share them and each has thousands of combinations."""
    result = {}
    for name in networks(options.size):
        of = world(name, assumed)
        for who, acting in SENDERS.items():
            chosen_mechanisms = [item for item in acting if item in QUICK or not options.size.is_quick]
            axes = {
                "sender": {who: sender(who)},
                "mechanism": mechanisms(chosen_mechanisms, assumed),
                "failure": failing(cut(name), assumed),
            }
            result[f"{name}, {who}"] = grid(f"links of {name}, {who}", of, axes, options)
    return result


def networks(size: Size) -> list[str]:
    """Return all networks, or one for quick runs."""
    return [QUICK_NETWORK] if size.is_quick else list(NETWORKS)


SETUP = Setup(PAPER, None, grids, seeds, ASSUMED)


def every_cost(found: Found) -> dict[str, Costs]:
    """Return the costs over (sender, mechanism), by network."""
    by_network: dict[str, Costs] = {}
    for key, done in found.done.items():
        name = key.partition(",")[0]
        costs = done.once(CostsOf(network(name), cut(name)))
        known = by_network.get(name)
        cells = {**(known.cells if known else {}), **costs.cells}
        by_network[name] = Costs(costs.network, costs.events, costs.weights, cells)
    return by_network


def find(found: Found) -> Findings:
    """Return the cost that each mechanism leaves, and judge the claims."""
    by_network = every_cost(found)
    shown = [
        item
        for name, costs in by_network.items()
        for who, mechanism in costs.cells
        for item in rows_of(costs, (who, mechanism), {"network": name, "sender": who, "mechanism": mechanism})
    ]
    shown += [item for name, costs in by_network.items() for item in each_failure(costs, name)]
    assumed = assumptions(found.chosen)
    missing = [not_run("other networks")] if len(by_network) < len(NETWORKS) else []
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-seconds-suffice": {
            name: [*seconds_suffice(costs, assumed), *missing] for name, costs in by_network.items()
        },
        "outage-tilfa-like-1plus1": {
            name: [*like_one_plus_one(costs, assumed), *missing] for name, costs in by_network.items()
        },
        "outage-lfa-coverage-bill": {name: [*coverage_bill(costs), *missing] for name, costs in by_network.items()},
    }
    return Findings(shown, claims, [], NOTES)


def each_failure(costs: Costs, name: str) -> list[Row]:
    """Return the cost of each link's failure under the mechanism of the map."""
    who, mechanism = at = ("cubic", "ti-lfa")
    return [
        row(
            {"network": name, "sender": who, "mechanism": mechanism, "failure": event.name},
            "lost_mb",
            None,
            exact(cost.total_mb),
            "",
        )
        for event, cost in zip(costs.events, costs.cells[at], strict=True)
    ]


def seconds_suffice(costs: Costs, assumed: Assumptions) -> list[Part]:
    """Judge: share of a year's bytes that restoration in 2 s loses, and share of flows stalled for twice as long."""
    at = ("cubic", "restoration, 2 s")
    if at not in costs.cells:
        return [not_run("restoration")]
    parts = []
    for mechanism in ("restoration, 2 s", "1:1"):
        if ("cubic", mechanism) in costs.cells:
            share_ = year_share(costs, ("cubic", mechanism), assumed)
            less = share_ - YEAR_SHARE
            parts.append(
                side(f"{mechanism}: share of a year's bytes, in millionths, minus 1", less.times(1e6), "below", "")
            )
    waits = [cost.outage_ms > 2 * cost.network_ms + 2 * RTT_MS for cost in costs.cells[at]]
    silent = resampled.mean([100 * wait.sum() for wait in waits], costs.weights) / resampled.mean(
        [wait.size for wait in waits], costs.weights
    )
    parts.append(side("flows stalled for longer than 2 L + 2 R, minus 5 %", silent - 5.0, "below", "points"))
    return parts


YEAR_SHARE = 1e-6
RTT_MS = 30.0
"""Typical RTT of a flow, including hosts."""
CUTS_A_YEAR = 2.7 / 1000
"""Cuts per km of fibre and year."""


def year_share(costs: Costs, at: tuple[str, ...], assumed: Assumptions) -> Resampled:
    """Return the share of a year's bytes that link failures cost."""
    lost = costs.mean(at, lambda cost: cost.total_mb)
    carried_mb = np.mean([cell.carried_mb for cell in costs.cells[at]])
    counted_s = LATER_S + window_s(at[1], assumed)
    a_year = CUTS_A_YEAR * costs.weights.sum()
    return lost.times(a_year / (carried_mb / counted_s * YEAR_MS / 1000))


def like_one_plus_one(costs: Costs, assumed: Assumptions) -> list[Part]:
    """Judge: stalls with TI-LFA equal those with 1+1 if the detour is not congested, and are longer if it is."""
    loads = capacity.rerouted(costs.network, assumed, [event.links[0] for event in costs.events])
    free = costs.part(lambda event: loads.busiest_detour(event.links[0]) < CONGESTED)
    full = costs.part(lambda event: loads.busiest_detour(event.links[0]) >= CONGESTED)
    parts = []
    for q, name in ((0.5, "p50"), (0.99, "p99")):
        if free.events:
            parts.append(inside(f"{name}, {len(free.events)} free detours", _apart(free, q), 20, "ms"))
        if full.events:
            parts.append(side(f"{name}, {len(full.events)} congested detours", _apart(full, q), "above", "ms"))
    return parts


def _apart(costs: Costs, q: float) -> Resampled:
    return costs.quantile(("cubic", "ti-lfa"), outages, q) - costs.quantile(("cubic", "1+1"), outages, q)


def coverage_bill(costs: Costs) -> list[Part]:
    """Judge: pairs without a loop-free alternate lose more than pairs with one."""
    at = ("cubic", "lfa")
    if at not in costs.cells:
        return [not_run("loop-free alternates")]
    uncovered = costs.mean(at, lambda cost: cost.lost_uncovered_mb)
    covered = costs.mean(at, lambda cost: cost.lost_hit_mb - cost.lost_uncovered_mb)
    return [side("lost by pairs without minus pairs with a backup", uncovered - covered, "above", "MB per failure")]


LINKS = Exhibit(
    "outage/links",
    "Cost of a link failure, over every link",
    "docs/details/outage.md, every link",
    SETUP,
    find,
)
