"""Reduction of the outage time by repathing over a mixture of failures, compared with a published measurement."""

import functools

import numpy as np

from optcp.outage.resampled import Resampled
from optcp.papers.kit import Exhibit, Findings, Found, Key, Part, judge, row
from optcp_papers.prr.cases import DUCT_RESTORED, FORWARD
from optcp_papers.prr.links import SETUP, every_cost, missing
from optcp_papers.prr.stalls import Costs

MIXTURE = {"ti-lfa, 50 ms": 0.8, "restoration, 2 s": 0.1, FORWARD: 0.05, DUCT_RESTORED: 0.05}
"""Share of each case in all failures, stated before the first run."""
PUBLISHED_PCT = (63.0, 84.0)
"""Reduction of the cumulative outage time of RPCs between regions (Wetherall et al., abstract)."""
NOTES = [
    "Mixture: " + ", ".join(f"{100 * share:g} % {case}" for case, share in MIXTURE.items()) + ". `stalls_s` is the "
    "sum of stalls of affected RPC sessions per failure, `part_pct` the part of each case in it, and `removed_pct` "
    "the share that repathing removes.",
]


def total_s(costs: Costs, repath: str) -> Resampled:
    """Return the summed stalls of RPC sessions per failure of the mixture, in s."""
    parts = [costs.total_s((case, repath)).times(share) for case, share in MIXTURE.items()]
    return functools.reduce(Resampled.__add__, parts)


def removed_pct(costs: Costs) -> Resampled:
    """Return the share of the summed stalls that repathing removes."""
    none = total_s(costs, "none")
    return ((none - total_s(costs, "rto")) / none).times(100)


def find(found: Found) -> Findings:
    """Return the reduction over the mixture, and compare it with the published one."""
    by_network = every_cost(found)
    shown = []
    for name, costs in by_network.items():
        for repath in ("none", "rto"):
            total = total_s(costs, repath)
            key: Key = {"network": name, "repath": repath}
            shown.append(row(key, "stalls_s", None, total.interval, ""))
            for case, share in MIXTURE.items():
                part = (costs.total_s((case, repath)).times(share) / total).times(100)
                shown.append(row({**key, "case": case}, "part_pct", None, part.interval, ""))
        shown.append(row({"network": name}, "removed_pct", None, removed_pct(costs).interval, ""))
    rest = missing(by_network)
    claims = {"prr-mixture-63-to-84": {name: [*as_published(costs), *rest] for name, costs in by_network.items()}}
    return Findings(shown, claims, [], NOTES)


def as_published(costs: Costs) -> list[Part]:
    """Judge: repathing removes 63 to 84 % of the outage time."""
    value = removed_pct(costs)
    samples = np.where(np.isnan(value.samples), 0.0, value.samples)
    return [judge.within_part("removed", samples, value.estimate, value.n, PUBLISHED_PCT, 1, "%")]


MIXED = Exhibit(
    "prr/mixture",
    "Reduction of the outage time over a mixture of failures",
    "docs/details/prr.md, mixture",
    SETUP,
    find,
)
