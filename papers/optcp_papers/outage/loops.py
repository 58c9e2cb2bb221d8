"""Cost of router convergence: micro-loops while FIBs disagree, and delayed FIB updates."""

import itertools
from collections.abc import Mapping

from optcp.outage.metrics import METRICS
from optcp.outage.study import Costs, CostsOf, failing
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Setup, row
from optcp_papers.outage.paper import PAPER, not_run
from optcp_papers.outage.population import (
    ASSUMED,
    CUT_NOTE,
    assumptions,
    cut,
    grid,
    inside,
    network,
    per_cent_of,
    rows_of,
    seeds,
    side,
    world,
)

NETWORKS = ("nobel-eu", "germany50")
QUICK_NETWORK = "abilene"
UPDATES = {"200": "uniform(20 ms, 200 ms)", "1000": "uniform(20 ms, 1 s)"}
"""Distributions of the FIB update time, by their maximum in ms."""
HOLDS_S = ("0.3", "1.5", "5")
WINDOW_S = 8.0
SHOWN = ("lost_mb", "lost_mb_hit", "lost_mb_bystanders", "outage_p50_ms", "outage_p99_ms", "fct_infl_p99", "timeouts")
NOTES = [
    "`own`: each router uses its new FIB when it is ready; `synchronized`: all routers when the last one is ready. "
    "`looped` is the number of packets that looped until their time to live expired. Losses count for 8 s.",
    CUT_NOTE,
    "`hold_s`: all routers keep their old FIBs and backups for this time once the new FIBs are ready.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids over repair, convergence and update time, and the grids over the hold time."""
    assumed = assumptions(chosen, window_s=WINDOW_S)
    result = {}
    for name in (QUICK_NETWORK,) if options.size.is_quick else NETWORKS:
        failure = failing(cut(name), assumed)
        update = UPDATES if not options.size.is_quick else {"1000": UPDATES["1000"]}
        axes = {
            "repair": {item: {"routing.repair": item} for item in ("none", "ti-lfa")},
            "converge": {item: {"routing.converge": item} for item in ("own", "synchronized")},
            "update_ms": {item: {"routing.update": text} for item, text in update.items()},
            "failure": failure,
        }
        result[name] = grid(f"loops on {name}", world(name, assumed), axes, options)
        held = {"routing.repair": "ti-lfa", "routing.converge": "synchronized"}
        axes = {"hold_s": {holds_: {"routing.hold": f"{holds_} s"} for holds_ in HOLDS_S}, "failure": failure}
        result[f"{name}, held"] = grid(f"held tables on {name}", world(name, assumed), axes, options, held)
    return result


def find(found: Found) -> Findings:
    """Return the cost of loops for affected and other flows, and the cost of holding FIBs."""
    loops = {name: done.once(CostsOf(network(name), cut(name))) for name, done in found.done.items() if "," not in name}
    holds = {
        key.partition(",")[0]: done.once(CostsOf(network(key.partition(",")[0]), cut(key.partition(",")[0])))
        for key, done in found.done.items()
        if "," in key
    }
    shown = []
    for name, costs in loops.items():
        for at in costs.cells:
            repair, converge, update_ms = at
            key: Key = {"network": name, "repair": repair, "converge": converge, "update_ms": int(update_ms)}
            shown += rows_of(costs, at, key, SHOWN)
            looped = costs.mean(at, lambda item: float(item.looped))
            shown.append(row(key, "looped", None, looped.interval, ""))
    for name, costs in holds.items():
        for at in costs.cells:
            shown += rows_of(costs, at, {"network": name, "hold_s": float(at[0])}, SHOWN)
    missing = [not_run("other networks")] if QUICK_NETWORK in loops else []
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-loops-cost-more": {name: [*cost_more(costs), *missing] for name, costs in loops.items()},
        "outage-loops-hit-bystanders": {name: [*hit_bystanders(costs), *missing] for name, costs in loops.items()},
        "outage-hold-the-table": {name: [*holding(costs), *missing] for name, costs in holds.items()},
    }
    return Findings(shown, claims, [], NOTES)


def cost_more(costs: Costs) -> list[Part]:
    """Judge: loops add more cost than the failure has without them."""
    parts = []
    for repair, _, update_ms in dict.fromkeys((at[0], "", at[2]) for at in costs.cells):
        own, together = ((repair, converge, update_ms) for converge in ("own", "synchronized"))
        added = METRICS["lost_mb"](costs, own) - METRICS["lost_mb"](costs, together)
        name = f"{repair}, FIBs within {update_ms} ms"
        parts.append(
            side(
                f"{name}: added by loops minus cost of the failure",
                added - METRICS["lost_mb"](costs, together),
                "above",
                "MB",
            )
        )
    return parts


def hit_bystanders(costs: Costs) -> list[Part]:
    """Judge: loops cost pairs off the failed link, and more than the failure does."""
    own, together = (("ti-lfa", converge, "1000") for converge in ("own", "synchronized"))
    added = METRICS["lost_mb_bystanders"](costs, own) - METRICS["lost_mb_bystanders"](costs, together)
    return [
        side("other flows' loss, own minus synchronized", added, "above", "MB"),
        side(
            "the same minus their loss with synchronized",
            added - METRICS["lost_mb_bystanders"](costs, together),
            "above",
            "MB",
        ),
    ]


def holding(costs: Costs) -> list[Part]:
    """Judge: a longer hold costs the same as a shorter one within 10 %."""
    parts = []
    for item, two in itertools.pairwise(HOLDS_S):
        before = METRICS["lost_mb"](costs, (item,))
        more = per_cent_of(METRICS["lost_mb"](costs, (two,)) - before, before)
        parts.append(inside(f"held for {two} s against {item} s", more, 10, "%"))
    return parts


LOOPS = Exhibit(
    "outage/loops",
    "Cost of micro-loops during convergence",
    "docs/details/outage.md, convergence",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
