"""Metrics of an outage study, each with its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.data.censored import Censored

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp.outage.costs import Cost
    from optcp.outage.resampled import Resampled
    from optcp.outage.study import Costs

RATIO = "1"
"""Unit of a number without dimension."""


@dataclass(frozen=True)
class Metric:
    """Statistic over failures, weighted by the length of the failed links.

    Attributes
    ----------
    unit
        Unit.
    of
        Function of the costs and of a parameter combination.
    """

    unit: str
    of: Callable[[Costs, tuple[str, ...]], Resampled]

    def __call__(self, costs: Costs, at: tuple[str, ...]) -> Resampled:
        """Return the statistic of a parameter combination."""
        return self.of(costs, at)


def _mean(unit: str, value: Callable[[Cost], float]) -> Metric:
    """Return the mean of one number per failure."""
    return Metric(unit, lambda costs, at: costs.mean(at, value))


def _quantile(unit: str, values: Callable[[Cost], Censored], q: float) -> Metric:
    """Return a quantile of the flows of all failures."""
    return Metric(unit, lambda costs, at: costs.quantile(at, values, q))


def outages(one: Cost) -> Censored:
    """Return the stalls of affected long flows, in ms."""
    return one.outages


def network(one: Cost) -> Censored:
    """Return the path outage of each affected long flow, in ms."""
    return Censored(one.network_ms, np.ones(one.network_ms.size, dtype=bool))


METRICS: dict[str, Metric] = {
    "lost_mb": _mean("MB", lambda one: one.total_mb),
    "lost_mb_long": _mean("MB", lambda one: one.lost_mb["long"]),
    "lost_mb_short": _mean("MB", lambda one: one.lost_mb["short"]),
    "lost_mb_hit": _mean("MB", lambda one: one.lost_hit_mb),
    "lost_mb_bystanders": _mean("MB", lambda one: one.lost_bystanders_mb),
    "hit_pct": _mean("%", lambda one: 100 * one.outage_ms.size / max(one.flows, 1)),
    "outage_p50_ms": _quantile("ms", outages, 0.5),
    "outage_p99_ms": _quantile("ms", outages, 0.99),
    "network_p50_ms": _quantile("ms", network, 0.5),
    "stretch": Metric(
        RATIO,
        lambda costs, at: (
            costs.cut_mean(at, lambda one: one.outages.total()) / costs.mean(at, lambda one: one.network_ms.sum())
        ),
    ),
    "fct_infl_p50": _quantile(RATIO, lambda one: one.inflation, 0.5),
    "fct_infl_p99": _quantile(RATIO, lambda one: one.inflation, 0.99),
    "unfinished": _mean("flows", lambda one: float(one.inflation.cut)),
    "timeouts": _mean("RTOs", lambda one: float(one.timeouts)),
    "spurious": _mean("segments", lambda one: float(one.spurious)),
    "longer_pct": Metric("%", lambda costs, at: costs.cut_mean(at, lambda one: one.longer_pct)),
    "censored": _mean("flows", lambda one: float(one.censored)),
}
"""Metrics from the runs."""
COMPUTED = {"spare_x": RATIO, "added_x": RATIO, "nines_net": RATIO, "nines_tcp": RATIO}
"""Units of metrics that are not a statistic of single failures: capacities, and the availability of a year."""
UNITS = {name: metric.unit for name, metric in METRICS.items()} | COMPUTED
"""Unit of every metric of :class:`optcp.outage.result.Result`."""
