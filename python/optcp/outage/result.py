"""Result of ``optcp outage``: statistics by mechanism, cost of each failure, and tables of both."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common.files import json_text
from optcp.common.plurals import count_noun
from optcp.data.labelled import censored
from optcp.outage.asked import SHORTEST
from optcp.outage.availability import year
from optcp.outage.capacity import loads_of, spare_for
from optcp.outage.listings import suffering
from optcp.outage.mechanisms import find
from optcp.outage.metrics import METRICS, UNITS
from optcp.outage.study import CostsOf, failing, grid, mechanisms, window_s
from optcp.outage.world import World
from optcp.stats import exact
from optcp.stats.quantiles import sample_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.outage.asked import OutageQuery
    from optcp.outage.capacity import Loads, Spare
    from optcp.outage.listings import Suffering
    from optcp.outage.network import Network
    from optcp.outage.study import Costs
    from optcp.scenarios.warned import ScenarioWarning
    from optcp.stats import Interval
    from optcp.study import Grid, StudyResult

WORST = 10
"""Number of failures in the table of the worst ones."""
LOSS = {
    "lost_mb": "data lost per failure (MB)",
    "lost_mb_hit": "affected flows",
    "lost_mb_bystanders": "other flows",
    "spare_x": "spare capacity",
    "added_x": "additional capacity",
}
"""Metrics and heads of the first table."""
TIME = {
    "outage_p50_ms": "median stall (ms)",
    "outage_p99_ms": "99th percentile",
    "network_p50_ms": "path outage",
    "stretch": "stall / path outage",
    "fct_infl_p99": "completion time, p99 (x)",
    "unfinished": "unfinished short flows",
    "nines_net": "nines, network",
    "nines_tcp": "nines, TCP",
}
"""Metrics and heads of the second table."""
FAILED = {
    "links": "links, weighted by length",
    "nodes": "nodes",
    "fibres": "fibres, weighted by length",
    "ducts": "two links in a duct, weighted by the longer length",
    "risks": "shared risks, weighted by the longest link",
    "doubles": "two links, one after the other, weighted by the first length",
}
"""Kinds of failures, as table notes name them."""
DEMAND_HEADS = ["demand", "Mb/s", "worst failure", "data lost (MB)", "longest stall (ms)", "stall time (s a year)"]
"""Heads of :func:`demand_cells`."""
WITH_ENDS = ("lost_mb", "outage_p50_ms")
"""Metrics with their 95 % interval in tables."""


@dataclass(frozen=True)
class TextTable:
    """Table for a terminal or a page.

    Attributes
    ----------
    title
        Title.
    note
        Explanation of the columns.
    heads, rows
        Texts of the heads and rows; the first column holds names.
    """

    title: str
    note: str
    heads: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Result:
    """Statistics of an outage study.

    Attributes
    ----------
    asked
        Network, mechanisms and assumptions.
    costs
        Costs of each failure; the keys of its cells are ``(mechanism,)``.
    values
        Estimates by mechanism and metric. A value that exceeds the end of the runs is infinite, with a lower bound.
    loads
        Loads of links in failures of single links or fibres, as of :func:`optcp.outage.capacity.loads_of`; empty for
        other failures.
    """

    asked: OutageQuery
    costs: Costs
    values: Mapping[str, Mapping[str, Interval]]
    loads: Mapping[str, Loads]

    @classmethod
    def of(cls, asked: OutageQuery, done: StudyResult) -> Result:
        """Compute the statistics of the runs of :func:`grid_of`."""
        costs = CostsOf(asked.network, asked.events)(done)
        network, assumed = asked.network, asked.assumed.world
        loads = loads_of(network, assumed, {one.name: one.links for one in asked.events}) if asked.single else {}
        spare = spare_for(network, assumed, loads) if asked.single else {}
        values = {name: _values(asked, costs, name, spare.get(find(name).above or name)) for name in asked.mechanisms}
        return cls(asked, costs, values, loads)

    @functools.cached_property
    def demands(self) -> dict[str, list[Suffering]]:
        """Costs to each demand by mechanism, largest loss in a failure first."""
        return {name: suffering(self, name) for name in self.asked.mechanisms}

    @property
    def warnings(self) -> list[ScenarioWarning]:
        """Warnings about excluded failures and default assumptions."""
        return [*self.asked.exclusions(), *self.asked.default_assumptions()]

    def lost_mb(self, mechanism: str) -> dict[str, float]:
        """Return the data lost by each failure under a mechanism, in MB."""
        cells = self.costs.cells[mechanism,]
        return {event.name: one.total_mb for event, one in zip(self.costs.events, cells, strict=True)}

    def worst(self) -> list[str]:
        """Return the failures with the largest loss under the first mechanism, worst first."""
        lost = self.lost_mb(self.asked.mechanisms[0])
        return sorted(lost, key=lambda name: -lost[name])[:WORST]

    def tables(self) -> list[TextTable]:
        """Return the printed tables: data lost, flow stalls and the worst failures."""
        over = f"Over {count_noun(len(self.costs.events), 'failure')} of {self._failed()}"
        routing = f" Routing: {self.asked.routing}." if self.asked.routing != SHORTEST else ""
        first = self.asked.mechanisms[0]
        by_mechanism = [self.lost_mb(name) for name in self.asked.mechanisms]
        worst = [[name, *(number(lost[name]) for lost in by_mechanism)] for name in self.worst()]
        return [
            TextTable(
                "Data lost per failure",
                f"{over}, with 95 % intervals over failures. Negative values are gains. {self._windows()} Spare "
                f"capacity is the capacity of backup paths, relative to the working capacity.{routing}",
                *self._columns(LOSS),
            ),
            TextTable(
                "Flow stalls",
                "Stalls of affected long flows, minus their usual gaps. Path outage: time for which the path of these "
                "flows was broken. Stall / path outage: ratio of the sums. Completion times of short flows are "
                f"relative to the run without the failure. {self._cut()}",
                *self._columns(TIME),
            ),
            TextTable(
                f"The {count_noun(len(worst), 'worst failure')} (mechanism: {first})",
                "Data lost by all flows, in MB.",
                ["failure", *self.asked.mechanisms],
                worst,
            ),
            self._demands(first),
        ]

    def _demands(self, mechanism: str) -> TextTable:
        rows = [demand_cells(one, self.asked.network) for one in self.demands[mechanism][:WORST]]
        return TextTable(
            f"The {count_noun(len(rows), 'demand')} with the largest loss (mechanism: {mechanism})",
            "Data lost by all flows of a demand in its worst failure. Longest stall of its long flows in any failure, "
            "and their mean stall time in a year of single failures. A dash: these runs have no such flow.",
            DEMAND_HEADS,
            rows,
        )

    def _failed(self) -> str:
        """Return the kind of failures for notes."""
        asked = self.asked
        of_file = asked.failures == "ducts" and any(one.fibres for one in asked.events)
        return "ducts, weighted by the longest fibre" if of_file else FAILED[asked.failures]

    def _cut(self) -> str:
        """Return a note on flows that had not recovered or finished at the end of the runs."""
        counts = []
        for name in self.asked.mechanisms:
            costs = self.costs.cells[name,]
            stalled, hit = sum(one.censored for one in costs), sum(one.outage_ms.size for one in costs)
            cut, short = sum(one.inflation.cut for one in costs), sum(one.inflation.known.size for one in costs)
            if stalled or cut:
                counts.append(f"{name}: {stalled} of {hit} long flows stalled, {cut} of {short} short flows unfinished")
        if not counts:
            return "All of these flows recovered or finished before the end of the runs."
        return (
            f"Some flows had not recovered at the end of the runs ({'; '.join(counts)}). Values that depend on them "
            "are lower bounds, marked with `>`."
            + (" Nines are upper bounds, marked with `<`." if self.asked.single else "")
        )

    def _at_most(self, mechanism: str, metric: str) -> bool:
        """Whether a value is an upper bound: nines of flows that were still stalled at the end of the runs."""
        return metric == "nines_tcp" and any(one.censored for one in self.costs.cells[mechanism,])

    def _windows(self) -> str:
        """Return a note on the period over which losses are counted."""
        assumed = self.asked.assumed.world
        longer = {name: window_s(name, assumed) for name in self.asked.mechanisms}
        others = "; ".join(f"{name}: {much:g} s" for name, much in longer.items() if much > assumed.window_s)
        return f"Losses are counted over {assumed.window_s:g} s" + (f" ({others})." if others else ".")

    def _columns(self, columns: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
        """Return the heads and rows of the columns that have values."""
        known = [name for name in columns if any(name in values for values in self.values.values())]
        heads, rows = ["mechanism"], [[name] for name in self.values]
        for name in known:
            heads += [columns[name], "95 % interval"] if name in WITH_ENDS else [columns[name]]
            for row, (mechanism, values) in zip(rows, self.values.items(), strict=True):
                mark = "< " if self._at_most(mechanism, name) else ""
                row.extend(_texts(values.get(name), ends=name in WITH_ENDS, mark=mark))
        return heads, rows

    def to_json(self) -> str:
        """Return the result as JSON."""
        return json_text(self.document())

    def document(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        asked = self.asked
        return {
            "network": asked.network.reference,
            "version": _core.version(),
            "demands": asked.demands,
            "routing": asked.routing,
            "sender": asked.sender,
            "failures": asked.failures,
            "left_out": list(asked.left_out),
            "assumed": asked.listed(),
            "warnings": [str(one) for one in self.warnings],
            "rows": [
                {"mechanism": mechanism, "metric": name, **self.value_of(mechanism, name)}
                for mechanism, values in self.values.items()
                for name in values
            ],
            "by_demand": [
                {"mechanism": mechanism, **one.document(asked.network)}
                for mechanism in asked.mechanisms
                for one in self.demands[mechanism]
            ],
            "costs": [self.cost_of(mechanism, at) for mechanism in asked.mechanisms for at in range(len(asked.events))],
        }

    def value_of(self, mechanism: str, metric: str) -> dict[str, Any]:
        """Return a statistic with unit and interval; the value is null if only a bound is known."""
        one = self.values[mechanism][metric]
        ends: dict[str, Any] = {"unit": UNITS[metric], "ci95": _ends(one), "n": one.n}
        if self._at_most(mechanism, metric):
            return {"value": None, "at_most": one.estimate, **ends, "ci95": [None, None]}
        return {**_known("value", one.estimate, one.at_least, "at_least"), **ends}

    def cost_of(self, mechanism: str, at: int) -> dict[str, Any]:
        """Return the cost of a failure under a mechanism."""
        asked, event, one = self.asked, self.costs.events[at], self.costs.cells[mechanism,][at]
        hit = one.outage_ms.size
        return {
            "mechanism": mechanism,
            "failure": event.name,
            "km": event.km,
            **({"links": "; ".join(asked.network.shown_links[name] for name in event.links)} if event.fibres else {}),
            "lost_mb": one.total_mb,
            "lost_mb_hit": one.lost_hit_mb,
            "lost_mb_bystanders": one.lost_bystanders_mb,
            "flows": one.flows,
            "hit": hit,
            **_known("outage_p50_ms", *one.outages.quantile(0.5), "outage_p50_at_least_ms"),
            "network_p50_ms": sample_quantile(one.network_ms, 0.5) if hit else None,
            "censored": one.censored,
            "short": one.inflation.known.size,
            "unfinished": one.inflation.cut,
        }


def grid_of(asked: OutageQuery, matrix: str | None = None) -> Grid:
    """Return the grid over mechanism and failure; ``matrix`` as in :meth:`optcp.outage.world.World.of`."""
    assumed = asked.assumed.world
    axes = {
        "mechanism": mechanisms(asked.mechanisms, assumed, asked.assumed.circuits, asked.assumed.detection_ms),
        "failure": failing(asked.events, assumed),
    }
    title = f"{asked.failures} of {asked.network.reference}"
    return grid(title, World.of(asked.network, assumed, matrix), axes, asked.settings)


def _values(asked: OutageQuery, costs: Costs, mechanism: str, needs: Spare | None) -> dict[str, Interval]:
    """Return the defined statistics of a mechanism."""
    at = (mechanism,)
    found = {name: metric(costs, at).interval for name, metric in METRICS.items()}
    if needs is not None:
        found |= {"spare_x": exact(needs.spare), "added_x": exact(needs.added)}
    if asked.single:
        of_year = year(costs, at, asked.assumed.cuts_a_1000_km)
        found |= {"nines_net": of_year.nines_net.interval, "nines_tcp": of_year.nines_tcp.interval}
    return {name: one for name, one in found.items() if math.isfinite(one.estimate) or one.at_least is not None}


def _known(name: str, value: float, at_least: float | None, bound: str) -> dict[str, float | None]:
    """Return a named value, null if undefined, or its lower bound if it exceeds the end of the runs."""
    if math.isinf(value) and at_least is not None:
        return {name: None, bound: at_least}
    return {name: value if math.isfinite(value) else None}


def _ends(one: Interval) -> list[float | None]:
    """Return the ends of an interval, None where unknown."""
    return [end if math.isfinite(end) else None for end in (one.low, one.high)]


def _texts(one: Interval | None, *, ends: bool, mark: str = "") -> list[str]:
    """Return the texts of a value and, with ``ends``, of its interval; ``mark`` precedes the value."""
    if one is None:
        return ["-", "-"] if ends else ["-"]
    low, high = ("-" if end is None else number(end) for end in _ends(one))
    return [mark + censored(one.estimate, one.at_least, number), *([f"{low} to {high}"] if ends else [])]


def demand_cells(one: Suffering, network: Network) -> list[str]:
    """Return the costs to a demand as texts; a dash where the runs have no such flow."""
    mark = "" if one.ended else "> "
    stalls = ("-" if value is None else mark + number(value) for value in (one.longest_ms, one.seconds_a_year))
    lost = "-" if one.lost_mb is None else number(one.lost_mb)
    return [" to ".join(map(network.own_names.node, one.pair)), number(one.mbps), one.worst or "-", lost, *stalls]


def number(value: float) -> str:
    """Format with three significant digits; values of 100 and more are whole numbers."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 0.005 else "0"
