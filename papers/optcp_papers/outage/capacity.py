"""Spare capacity that each mechanism needs, and the loss that it avoids."""

from collections.abc import Mapping
from dataclasses import replace

from optcp.outage.capacity import Spare, spare_of
from optcp.outage.study import Costs
from optcp.papers.kit import Exhibit, Findings, Found, Key, Part, row
from optcp.stats import exact
from optcp_papers.outage.links import SETUP, every_cost
from optcp_papers.outage.paper import not_run
from optcp_papers.outage.population import NETWORKS, assumptions, inside, network, per_cent_of, side

AGAINST = ("ti-lfa", "1:1")
FEWER_PCT, SAME_PCT = 20.0, 10.0
NOTES = [
    "`spare_x` is the backup capacity over the working capacity, counted per direction of a link. Dedicated backups "
    "(1+1, 1:1) count what they reserve; the others count, on each direction, the largest load that a single failure "
    "adds. `added_x` is the capacity to be built so that no direction carries more than its rate, at the peak load of "
    "the study. Both are arithmetic on the demands. `mb_spared` is the cost of a failure without any mechanism minus "
    "the cost with this one, and `mb_spared_a_unit` is `mb_spared` over `spare_x`.",
]


def find(found: Found) -> Findings:
    """Return the spare capacity, the loss, and the avoided loss."""
    by_network = every_cost(found)
    assumed = assumptions(found.chosen)
    shown = []
    spare: dict[str, dict[str, Spare]] = {}
    for name, costs in by_network.items():
        spare[name] = spare_of(network(name), assumed, [event.links[0] for event in costs.events])
        none = costs.mean(("cubic", "none"), lambda cost: cost.total_mb)
        for who, mechanism in costs.cells:
            if who != "cubic" or mechanism not in spare[name]:
                continue
            needs = spare[name][mechanism]
            lost = costs.mean((who, mechanism), lambda cost: cost.total_mb)
            key: Key = {"network": name, "mechanism": mechanism}
            spared = none - lost
            shown += [
                row(key, "spare_x", None, exact(needs.spare), ""),
                row(key, "added_x", None, exact(needs.added), ""),
                row(key, "lost_mb", None, lost.interval, ""),
                row(key, "mb_spared", None, spared.interval, ""),
            ]
            if needs.spare > 0 and mechanism != "none":
                shown.append(row(key, "mb_spared_a_unit", None, spared.times(1 / needs.spare).interval, ""))
    missing = [not_run("other networks")] if len(by_network) < len(NETWORKS) else []
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-1plus1-worth": {
            f"{name}, {who}": [*worth(costs, who), *missing]
            for name, costs in by_network.items()
            for who in ("cubic", "bbr")
        }
    }
    return Findings(shown, claims, [], NOTES)


def worth(costs: Costs, who: str) -> list[Part]:
    """Judge: 1+1 loses less than the others, by more than 20 % of their loss; false if equal within 10 %."""
    parts = []
    best = costs.mean((who, "1+1"), lambda cost: cost.total_mb)
    for mechanism in AGAINST:
        if (who, mechanism) not in costs.cells:
            continue
        other = costs.mean((who, mechanism), lambda cost: cost.total_mb)
        gain = per_cent_of(best - other, other)
        same = inside(f"1+1 against {mechanism}", gain, SAME_PCT, "%")
        if same.holds is True and same.p is not None and same.p < 0.05:
            parts.append(replace(same, text=f"{same.text}: equal", holds=False))
        else:
            parts.append(
                side(
                    f"1+1 against {mechanism}, plus {FEWER_PCT:g}",
                    gain - (-FEWER_PCT),
                    "below",
                    "%",
                )
            )
    return parts


CAPACITY = Exhibit(
    "outage/capacity",
    "Capacity that mechanisms need, and losses that they avoid",
    "docs/details/outage.md, capacity",
    SETUP,
    find,
)
