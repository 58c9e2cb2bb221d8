"""Stalls over the time until the network repairs, by number of parallel links."""

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Setup
from optcp_papers.prr.cases import LENGTHS, axes
from optcp_papers.prr.links import QUICK_EVERY, rows_of, seeds
from optcp_papers.prr.paper import ASSUMED, PAPER, sessions
from optcp_papers.prr.stalls import CostsOf
from optcp_papers.prr.world import QUICK_NETWORK, world

PARALLEL = (2, 4, 8)
QUICK_LENGTHS, QUICK_PARALLEL = ("0.05", "1", "5"), (4,)
NOTES = [
    "abilene: one of n parallel links fails in each adjacency except bridges, until the network repairs it after "
    "`repaired_s`. Affected sessions stall for a second or more after 5 s without repathing. Other values as in "
    "prr/links.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per number of parallel links."""
    quick = options.size.is_quick
    cases = {name: LENGTHS[name] for name in (QUICK_LENGTHS if quick else LENGTHS)}
    result = {}
    for parallel in QUICK_PARALLEL if quick else PARALLEL:
        made = world(QUICK_NETWORK, sessions(chosen, parallel))
        every = QUICK_EVERY if quick else 1
        result[str(parallel)] = options.grid(made.core, {}, axes(cases, made, every), f"prr, {parallel} links")
    return result


def find(found: Found) -> Findings:
    """Return stalls by number of parallel links and time of repair."""
    shown = []
    for parallel, done in found.done.items():
        costs = done.once(CostsOf(world(QUICK_NETWORK, sessions(found.chosen, int(parallel)))))
        shown += rows_of(costs, {"parallel": int(parallel)}, LENGTHS, "repaired_s")
    return Findings(shown, {}, [], NOTES)


REPAIR_TIME = Exhibit(
    "prr/repair-time",
    "Stalls by time of the network's repair and number of paths",
    "docs/details/prr.md, time of repair",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
