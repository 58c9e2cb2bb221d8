"""What came out of a question to a network: statistics by mechanism, what each failure cost, and both as tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common.files import json_text
from optcp.common.plurals import count_noun
from optcp.data.labelled import censored
from optcp.outage.availability import year
from optcp.outage.capacity import spare_of
from optcp.outage.study import METRICS, CostsOf, failing, grid, mechanisms, window_s
from optcp.outage.world import World
from optcp.stats import exact
from optcp.stats.quantiles import sample_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.outage.asked import OutageQuery
    from optcp.outage.capacity import Spare
    from optcp.outage.study import Costs
    from optcp.scenarios.warned import ScenarioWarning
    from optcp.stats import Interval
    from optcp.study import Grid, StudyResult

WORST = 10
"""Failures that are named."""
LOSS = {
    "lost_mb": "lost (MB a failure)",
    "lost_mb_hit": "by flows that were hit",
    "lost_mb_bystanders": "by others",
    "spare_x": "spare capacity",
    "added_x": "to be built",
}
"""Columns of the first table."""
TIME = {
    "outage_p50_ms": "median outage (ms)",
    "outage_p99_ms": "99th percentile",
    "network_p50_ms": "of the network",
    "stretch": "stretch",
    "fct_infl_p99": "completion times, p99 (x)",
    "unfinished": "short flows not ended",
    "nines_net": "nines, network",
    "nines_tcp": "nines, TCP",
}
"""Columns of the second one."""
FAILED = {
    "links": "links, weighted with their lengths",
    "nodes": "nodes",
    "ducts": "two links in a duct, weighted with the longer one's length",
    "doubles": "two links, one after the other, weighted with the first one's length",
}
"""What fails, in words."""
WITH_ENDS = ("lost_mb", "outage_p50_ms")
"""What also has its 95 % interval in tables."""


@dataclass(frozen=True)
class Shown:
    """A table for a terminal or a page.

    Attributes
    ----------
    title
        What is in it.
    note
        How to read it.
    heads, rows
        Columns, of which the first is a name; texts.
    """

    title: str
    note: str
    heads: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Result:
    """What came out.

    Attributes
    ----------
    asked
        The question.
    costs
        What each failure cost; cells are ``(mechanism,)``.
    values
        By mechanism and metric. A value that the end of runs cuts is infinite, with its lower bound.
    """

    asked: OutageQuery
    costs: Costs
    values: Mapping[str, Mapping[str, Interval]]

    @classmethod
    def of(cls, asked: OutageQuery, done: StudyResult) -> Result:
        """Of the runs of :func:`grid_of`."""
        costs = CostsOf(asked.network, asked.events)(done)
        names = [one.name for one in asked.events]
        spare = spare_of(asked.network, asked.assumed.world, names) if asked.failures == "links" else {}
        return cls(asked, costs, {name: _values(asked, costs, name, spare.get(name)) for name in asked.mechanisms})

    @property
    def warnings(self) -> list[ScenarioWarning]:
        """What stands on a default, and what could not be answered."""
        return [*self.asked.exclusions(), *self.asked.default_assumptions()]

    def lost_mb(self, mechanism: str) -> dict[str, float]:
        """What each failure cost under a mechanism, in MB."""
        cells = self.costs.cells[mechanism,]
        return {event.name: one.total_mb for event, one in zip(self.costs.events, cells, strict=True)}

    def worst(self) -> list[str]:
        """The failures that cost most under the first mechanism."""
        lost = self.lost_mb(self.asked.mechanisms[0])
        return sorted(lost, key=lambda name: -lost[name])[:WORST]

    def tables(self) -> list[Shown]:
        """What is printed: what was lost, for how long flows were silent, and the worst failures."""
        over = f"Over {count_noun(len(self.costs.events), 'failure')} of {FAILED[self.asked.failures]}"
        first = self.asked.mechanisms[0]
        by_mechanism = [self.lost_mb(name) for name in self.asked.mechanisms]
        worst = [[name, *(_number(lost[name]) for lost in by_mechanism)] for name in self.worst()]
        return [
            Shown(
                "What a failure loses",
                f"{over}, with 95 % intervals over failures. Below zero: gained. {self._windows()} Spare capacity is "
                "what backups need beside the working one, over that.",
                *self._columns(LOSS),
            ),
            Shown(
                "For how long flows get nothing",
                "Of long flows whose path the failure lay on, less their usual pauses; of the network: how long their "
                "path led nowhere; stretch: the sum of the first over that of the second. Completion times of short "
                f"flows are over those without the failure. {self._cut()}",
                *self._columns(TIME),
            ),
            Shown(
                f"The {count_noun(len(worst), 'failure that costs', 'failures that cost')} most (mechanism: {first})",
                "Lost by all flows, in MB.",
                ["failure", *self.asked.mechanisms],
                worst,
            ),
        ]

    def _cut(self) -> str:
        """How many flows the end of the runs cuts, by mechanism, and what that means."""
        said = []
        for name in self.asked.mechanisms:
            of = self.costs.cells[name,]
            silent, hit = sum(one.censored for one in of), sum(one.outage_ms.size for one in of)
            cut, short = sum(one.inflation.cut for one in of), sum(one.inflation.known.size for one in of)
            if silent or cut:
                said.append(f"{name}: {silent} of {hit} long flows silent, {cut} of {short} short flows not ended")
        if not said:
            return "All of these flows had new bytes again, or ended, before the runs did."
        return (
            f"At the end of the runs ({'; '.join(said)}) a time is known to be longer than seen: a value that falls "
            "there has `>` and its lower bound."
            + (" Nines have `<` and an upper one." if self.asked.failures == "links" else "")
        )

    def _at_most(self, mechanism: str, metric: str) -> bool:
        """Whether a value is an upper bound: nines, of flows whose silence the end of runs cuts."""
        return metric == "nines_tcp" and any(one.censored for one in self.costs.cells[mechanism,])

    def _windows(self) -> str:
        """For how long the loss counts."""
        assumed = self.asked.assumed.world
        longer = {name: window_s(name, assumed) for name in self.asked.mechanisms}
        others = "; ".join(f"{name}: {much:g} s" for name, much in longer.items() if much > assumed.window_s)
        return f"The loss counts for {assumed.window_s:g} s" + (f" ({others})." if others else ".")

    def _columns(self, columns: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of those columns of which anything is known."""
        known = [name for name in columns if any(name in of for of in self.values.values())]
        heads, rows = ["mechanism"], [[name] for name in self.values]
        for name in known:
            heads += [columns[name], "95 % interval"] if name in WITH_ENDS else [columns[name]]
            for row, (mechanism, of) in zip(rows, self.values.items(), strict=True):
                mark = "< " if self._at_most(mechanism, name) else ""
                row.extend(_texts(of.get(name), ends=name in WITH_ENDS, mark=mark))
        return heads, rows

    def to_json(self) -> str:
        """All of it, for programs."""
        asked = self.asked
        written: dict[str, Any] = {
            "network": asked.network.reference,
            "version": _core.version(),
            "demands": asked.demands,
            "sender": asked.sender,
            "failures": asked.failures,
            "left_out": list(asked.left_out),
            "assumed": asked.listed(),
            "warnings": [str(one) for one in self.warnings],
            "rows": [
                {"mechanism": mechanism, "metric": name, **self._value(mechanism, name, one)}
                for mechanism, of in self.values.items()
                for name, one in of.items()
            ],
            "costs": [self._cost(mechanism, at) for mechanism in asked.mechanisms for at in range(len(asked.events))],
        }
        return json_text(written)

    def _value(self, mechanism: str, metric: str, one: Interval) -> dict[str, Any]:
        """A value with its interval; null where only a bound is known, which follows."""
        ends: dict[str, Any] = {"ci95": _ends(one), "n": one.n}
        if self._at_most(mechanism, metric):
            return {"value": None, "at_most": one.estimate, **ends, "ci95": [None, None]}
        return {**_known("value", one.estimate, one.at_least, "at_least"), **ends}

    def _cost(self, mechanism: str, at: int) -> dict[str, Any]:
        event, one = self.costs.events[at], self.costs.cells[mechanism,][at]
        hit = one.outage_ms.size
        return {
            "mechanism": mechanism,
            "failure": event.name,
            "km": event.km,
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
    """The worlds of a question, over mechanism and failure; ``matrix`` as of :meth:`optcp.outage.world.World.of`."""
    assumed = asked.assumed.world
    axes = {"mechanism": mechanisms(asked.mechanisms, assumed), "failure": failing(asked.events, assumed)}
    title = f"{asked.failures} of {asked.network.reference}"
    return grid(title, World.of(asked.network, assumed, matrix), axes, asked.settings)


def _values(asked: OutageQuery, costs: Costs, mechanism: str, needs: Spare | None) -> dict[str, Interval]:
    """The statistics of a mechanism; those without a value are left out."""
    at = (mechanism,)
    found = {name: metric(costs, at).interval for name, metric in METRICS.items()}
    if needs is not None:
        found |= {"spare_x": exact(needs.spare), "added_x": exact(needs.added)}
    if asked.failures == "links":
        of_year = year(costs, at, asked.assumed.cuts_a_1000_km)
        found |= {"nines_net": of_year.nines_net.interval, "nines_tcp": of_year.nines_tcp.interval}
    return {name: one for name, one in found.items() if math.isfinite(one.estimate) or one.at_least is not None}


def _known(name: str, value: float, at_least: float | None, bound: str) -> dict[str, float | None]:
    """A value by its name, null where there is none; behind it the lower bound of one that the end of runs cuts."""
    if math.isinf(value) and at_least is not None:
        return {name: None, bound: at_least}
    return {name: value if math.isfinite(value) else None}


def _ends(one: Interval) -> list[float | None]:
    """The ends of an interval; null for one that is unknown."""
    return [end if math.isfinite(end) else None for end in (one.low, one.high)]


def _texts(one: Interval | None, *, ends: bool, mark: str = "") -> list[str]:
    """A value, and its interval with ``ends``; ``mark`` is in front of one that is a bound."""
    if one is None:
        return ["-", "-"] if ends else ["-"]
    low, high = ("-" if end is None else _number(end) for end in _ends(one))
    return [mark + censored(one.estimate, one.at_least, _number), *([f"{low} to {high}"] if ends else [])]


def _number(value: float) -> str:
    """Three digits, and whole numbers where they are larger."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 0.005 else "0"
