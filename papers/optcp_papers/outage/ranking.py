"""Ranking of mechanisms by loss, over the assumptions that ``optcp sensitivity`` varies."""

import functools
import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.outage import events
from optcp.outage.events import Event
from optcp.outage.study import Costs, CostsOf, failing
from optcp.outage.world import Assumptions
from optcp.papers.assume import Assumed, Value, overrides, positive, share
from optcp.papers.exhibit import Chosen, Differences, Exhibit, Findings, Found, Setup
from optcp.papers.kit import Choices, Grid, Options, Plausible, Settings, Span, row
from optcp_papers.outage import population
from optcp_papers.outage.paper import PAPER
from optcp_papers.outage.population import assumptions, cut, grid, mechanisms, network, per_cent_of, seeds, world

NETWORKS = ("abilene", "nobel-eu")
QUICK_NETWORK = "abilene"
ACTING = ("none", "ti-lfa", "1+1")
"""Mechanisms; each is claimed to lose less than the one before."""
DRAWN, QUICK_DRAWN = {"link": 12, "duct": 6}, {"link": 3, "duct": 2}
DRAWN_WITH = 1
NOTES = [
    "Of each network 12 random links and 6 random ducts fail in turn, with CUBIC. Ducts are `shared_share` of a year's "
    "failures. Links fail in proportion to their length, or equally often (`cuts_follow`). `spared_pct` is how much "
    "less the second mechanism loses than the first, in % of the loss without any. Intervals are over the drawn "
    "failures.",
]


def _table(value: Value) -> Settings:
    return {"routing.update": f"uniform(20 ms, {float(value):g} ms)"}


def _detection(value: Value) -> Settings:
    return {"parameters.detection": f"{float(value):g} ms"}


def _follow(text: str) -> str:
    if text not in FOLLOWED:
        raise ValueError(f"expected {' or '.join(FOLLOWED)}")
    return text


FOLLOWED = ("km", "links")
RANGES = {
    "peak": Plausible(Span(0.3, 0.8), "half of the usual load to almost full"),
    "sizes": Plausible(Choices(("web-search", "hadoop")), "measured in two clusters: large files, small ones"),
    "detour": Plausible(Span(1.1, 1.8), "fibre along railways to fibre with large detours"),
}
ASSUMED = (
    *(
        replace(parameter, plausible=RANGES.get(parameter.name))
        for parameter in population.ASSUMED
        if parameter.name not in ("detection_ms", "convergence")
    ),
    Assumed(
        "detection_ms",
        10.0,
        positive,
        _detection,
        Plausible(Span(3, 500, log=True), "BFD's shortest interval to three times 150 ms and more; LOS is faster"),
    ),
    Assumed(
        "table_ms",
        200.0,
        positive,
        _table,
        Plausible(Span(50, 2000, log=True), "a small current table to a full table on a router of ten years ago"),
    ),
    Assumed(
        "shared_share",
        0.3,
        share,
        plausible=Plausible(Span(0.05, 0.4), "about the 30 % that backbones have reported, and much less"),
    ),
    Assumed(
        "cuts_follow",
        "km",
        _follow,
        plausible=Plausible(Choices(FOLLOWED), "cable cuts are proportional to km, line card failures to links"),
    ),
)


@functools.cache
def happening(name: str, quick: bool) -> tuple[Event, ...]:
    """Draw the links and ducts that fail."""
    drawn = random.Random(DRAWN_WITH)  # noqa: S311 - a draw of an experiment
    count = QUICK_DRAWN if quick else DRAWN
    return (
        *drawn.sample(cut(name), count["link"]),
        *drawn.sample(events.ducts(network(name)), count["duct"]),
    )


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per network, over mechanisms and failures."""
    return _grids(assumptions(chosen), tuple(overrides(ASSUMED, chosen).items()), options)


@functools.cache
def _grids(assumed: Assumptions, settings: tuple[tuple[str, Any], ...], options: Options) -> dict[str, Grid]:
    """Return the grids; cached, because the frequency of failures changes no scenario."""
    result = {}
    for name in (QUICK_NETWORK,) if options.size.is_quick else NETWORKS:
        axes = {
            "mechanism": mechanisms(ACTING, assumed),
            "failure": failing(happening(name, options.size.is_quick), assumed),
        }
        result[name] = grid(f"ranking on {name}", world(name, assumed), axes, options, dict(settings))
    return result


def every_cost(found: Found) -> dict[str, Costs]:
    """Return the cost of each failure, weighted by its frequency, by network."""
    quick = len(found.done) < len(NETWORKS)
    by_network = {name: done.once(CostsOf(network(name), happening(name, quick))) for name, done in found.done.items()}
    return {name: replace(costs, weights=weights(costs, found.chosen)) for name, costs in by_network.items()}


def weights(costs: Costs, chosen: Chosen) -> NDArray[np.float64]:
    """Return the relative frequency of each failure; links and ducts have their shares."""
    of_ducts = np.array([len(event.links) > 1 for event in costs.events])
    often = np.array([event.km if chosen["cuts_follow"] == "km" else 1.0 for event in costs.events])
    shared = float(chosen["shared_share"])
    ducts, links = shared * often / often[of_ducts].sum(), (1 - shared) * often / often[~of_ducts].sum()
    return np.asarray(np.where(of_ducts, ducts, links), dtype=np.float64)


def find(found: Found) -> Findings:
    """Return the loss that each mechanism avoids compared with the one before, in % of the loss without any."""
    shown = []
    for name, costs in every_cost(found).items():
        lost = {item: costs.mean((item,), lambda cost: cost.total_mb) for item in ACTING}
        for more, less in itertools.pairwise(ACTING):
            spared = per_cent_of(lost[more] - lost[less], lost["none"])
            shown.append(row({"network": name, "from": more, "to": less}, "spared_pct", None, spared.interval, ""))
    return Findings(shown, {}, [], NOTES)


def conclusions(found: Found) -> Differences:
    """Return the ranking as the contribution of each failure to the difference of the means, in MB per failure."""
    shown = {}
    for name, costs in every_cost(found).items():
        lost = {item: np.array([cost.total_mb for cost in costs.cells[item,]]) for item in ACTING}
        share_of = len(costs.events) * costs.weights / costs.weights.sum()
        for more, less in itertools.pairwise(ACTING):
            shown[f"{name}: {more} loses more than {less} (MB a failure)"] = share_of * (lost[more] - lost[less])
    return shown


RANKING = Exhibit(
    "outage/ranking",
    "Which mechanism loses less",
    "docs/details/outage.md, causes of the ranking",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
    conclusions,
)
