"""Reduction of the outage time over the mixture, by number of parallel links."""

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Setup, row
from optcp_papers.prr.cases import CASES, NOTHING, axes
from optcp_papers.prr.links import QUICK_EVERY, rows_of, seeds
from optcp_papers.prr.mixture import MIXTURE, removed_pct
from optcp_papers.prr.paper import ASSUMED, PAPER, sessions
from optcp_papers.prr.repair_time import PARALLEL, QUICK_PARALLEL
from optcp_papers.prr.stalls import Costs, CostsOf
from optcp_papers.prr.world import QUICK_NETWORK, world

NOTES = [
    "abilene: the mixture of prr/mixture, and failures that nobody repairs for 5 s, with n parallel links between "
    "adjacent routers. Rows without `case` are of the mixture. Other values as in prr/links.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per number of parallel links."""
    quick = options.size.is_quick
    cases = {name: CASES[name] for name in (NOTHING, *MIXTURE)}
    result = {}
    for parallel in QUICK_PARALLEL if quick else PARALLEL:
        made = world(QUICK_NETWORK, sessions(chosen, parallel))
        of = axes(cases, made, QUICK_EVERY if quick else 1)
        result[str(parallel)] = options.grid(made.core, {}, of, f"prr mixture, {parallel} links")
    return result


def find(found: Found) -> Findings:
    """Return the reduction by number of parallel links, over the mixture and by case."""
    shown = []
    for parallel, done in found.done.items():
        costs: Costs = done.once(CostsOf(world(QUICK_NETWORK, sessions(found.chosen, int(parallel)))))
        shown.append(row({"parallel": int(parallel)}, "removed_pct", None, removed_pct(costs).interval, ""))
        shown += rows_of(costs, {"parallel": int(parallel)}, (NOTHING, *MIXTURE))
    return Findings(shown, {}, [], NOTES)


PATHS = Exhibit(
    "prr/paths",
    "Reduction of the outage time by number of paths",
    "docs/details/prr.md, mixture",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
