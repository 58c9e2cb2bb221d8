"""What the failure of a link costs, by mechanism and sender, over every link of four networks."""

import functools
from collections.abc import Mapping

import numpy as np

from optcp.outage import capacity, resampled
from optcp.outage.availability import YEAR_MS
from optcp.outage.mechanisms import MECHANISMS
from optcp.outage.resampled import Resampled
from optcp.outage.study import LATER_S, Costs, CostsOf, failing, outages, sender, window_s
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

EVERY = tuple(MECHANISMS)
FEW = ("none", "ti-lfa", "1+1")
SENDERS = {"cubic": EVERY, "bbr": FEW}
"""Mechanisms by sender."""
QUICK = ("none", "ti-lfa", "1+1", "restoration, 2 s")
CONGESTED = 0.8
"""From which share of its rate on a detour counts as congested."""
NOTES = [
    "Each link of each network fails alone and for good, in both directions, 4 s after the start and up to 100 ms "
    "later. What is lost is in-order bytes against the same run without the failure, by the end of the 4 s that "
    "follow (10 and 28 s with restoration in 2 and 8 s). Means are over failures, weighted with the km that are "
    "cut; failures are resampled for intervals. Bridges, whose failure no mechanism can answer, are left out.",
    "`outage_*_ms` are of long flows whose path the failure lay on: the longest time without new in-order bytes, "
    "less the usual one. `stretch` is the sum of these outages over the sum of the times that the network itself "
    "had no path for them. `hit_pct` is of all long flows. `fct_infl_*` are completion times of short flows over "
    "those without the failure, of those under way while a path was cut or in the second after, of which "
    "`unfinished` had not ended. `censored` flows were still silent at the end.",
    CUT_NOTE,
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """A grid a network and sender, over mechanisms and failures."""
    return _grids(assumptions(chosen), options)


@functools.cache
def _grids(assumed: Assumptions, options: Options) -> dict[str, Grid]:
    """Made once: several exhibits share them, and each has thousands of cells."""
    found = {}
    for name in networks(options.size):
        of = world(name, assumed)
        for who, acting in SENDERS.items():
            chosen_mechanisms = [one for one in acting if one in QUICK or not options.size.is_quick]
            axes = {
                "sender": {who: sender(who)},
                "mechanism": mechanisms(chosen_mechanisms, assumed),
                "failure": failing(cut(name), assumed),
            }
            found[f"{name}, {who}"] = grid(f"links of {name}, {who}", of, axes, options)
    return found


def networks(size: Size) -> list[str]:
    """All of them; a quick look has one."""
    return [QUICK_NETWORK] if size.is_quick else list(NETWORKS)


SETUP = Setup(PAPER, None, grids, seeds, ASSUMED)


def every_cost(found: Found) -> dict[str, Costs]:
    """By network: the costs over (sender, mechanism)."""
    by_network: dict[str, Costs] = {}
    for key, done in found.done.items():
        name = key.partition(",")[0]
        costs = done.once(CostsOf(network(name), cut(name)))
        known = by_network.get(name)
        cells = {**(known.cells if known else {}), **costs.cells}
        by_network[name] = Costs(costs.network, costs.events, costs.weights, cells)
    return by_network


def find(found: Found) -> Findings:
    """What each mechanism leaves of the cost, and what is said of it."""
    by_network = every_cost(found)
    shown = [
        one
        for name, costs in by_network.items()
        for who, mechanism in costs.cells
        for one in rows_of(costs, (who, mechanism), {"network": name, "sender": who, "mechanism": mechanism})
    ]
    shown += [one for name, costs in by_network.items() for one in each_failure(costs, name)]
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
    """What the failure of each link costs under the mechanism of the map."""
    who, mechanism = at = ("cubic", "ti-lfa")
    return [
        row(
            {"network": name, "sender": who, "mechanism": mechanism, "failure": event.name},
            "lost_mb",
            None,
            exact(one.total_mb),
            "",
        )
        for event, one in zip(costs.events, costs.cells[at], strict=True)
    ]


def seconds_suffice(costs: Costs, assumed: Assumptions) -> list[Part]:
    """Judge: what restoration in 2 s loses of a year's bytes, and how many flows it silences for twice as long."""
    at = ("cubic", "restoration, 2 s")
    if at not in costs.cells:
        return [not_run("restoration")]
    parts = []
    for mechanism in ("restoration, 2 s", "1:1"):
        if ("cubic", mechanism) in costs.cells:
            share_ = year_share(costs, ("cubic", mechanism), assumed)
            less = share_ - YEAR_SHARE
            parts.append(
                side(f"{mechanism}: share of a year's bytes, in millionths, less 1", less.times(1e6), "below", "")
            )
    waits = [one.outage_ms > 2 * one.network_ms + 2 * RTT_MS for one in costs.cells[at]]
    silent = resampled.mean([100 * one.sum() for one in waits], costs.weights) / resampled.mean(
        [one.size for one in waits], costs.weights
    )
    parts.append(side("flows silent for longer than 2 L + 2 R, less 5 %", silent - 5.0, "below", "points"))
    return parts


YEAR_SHARE = 1e-6
RTT_MS = 30.0
"""About the round trip of a flow, hosts included."""
CUTS_A_YEAR = 2.7 / 1000
"""Cuts of a km of fibre in a year."""


def year_share(costs: Costs, at: tuple[str, ...], assumed: Assumptions) -> Resampled:
    """The share of a year's bytes that failures of links take."""
    lost = costs.mean(at, lambda one: one.total_mb)
    carried_mb = np.mean([one.carried_mb for one in costs.cells[at]])
    counted_s = LATER_S + window_s(at[1], assumed)
    a_year = CUTS_A_YEAR * costs.weights.sum()
    return lost.times(a_year / (carried_mb / counted_s * YEAR_MS / 1000))


def like_one_plus_one(costs: Costs, assumed: Assumptions) -> list[Part]:
    """Judge: TI-LFA's outages are those of 1+1 where its detour is not congested, and longer where it is."""
    loads = capacity.rerouted(costs.network, assumed, [one.name for one in costs.events])
    free = costs.part(lambda event: loads.busiest_detour(event.name) < CONGESTED)
    full = costs.part(lambda event: loads.busiest_detour(event.name) >= CONGESTED)
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
    """Judge: pairs without a loop-free alternate lose more than those that have one."""
    at = ("cubic", "lfa")
    if at not in costs.cells:
        return [not_run("loop-free alternates")]
    uncovered = costs.mean(at, lambda one: one.lost_uncovered_mb)
    covered = costs.mean(at, lambda one: one.lost_hit_mb - one.lost_uncovered_mb)
    return [side("lost by pairs without a backup less by pairs with one", uncovered - covered, "above", "MB a failure")]


LINKS = Exhibit(
    "outage/links",
    "What the failure of a link costs, over every link",
    "docs/details/outage.md, every link",
    SETUP,
    find,
)
