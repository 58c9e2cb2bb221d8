"""Results of an outage study by time of day: one traffic matrix per time, with the same failures."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from optcp.common.files import json_text
from optcp.common.plurals import count_noun
from optcp.outage.listings import Listing, demand_row, listings
from optcp.outage.result import DEMAND_HEADS, WORST, TextTable, demand_cells, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from optcp.outage.listings import Suffering
    from optcp.outage.result import Result

MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True)
class Day:
    """Results by time of day, in order. Each matrix applies until the next time, and the last one until the first.

    Attributes
    ----------
    results
        Result of each time, such as ``20:00``.
    """

    results: Mapping[str, Result]

    @property
    def first(self) -> Result:
        """Result of the first time."""
        return next(iter(self.results.values()))

    @property
    def hours(self) -> dict[str, float]:
        """Hours a day for which the matrix of each time applies."""
        minutes = [60 * int(time[:2]) + int(time[3:]) for time in self.results]
        lasts = [(end - start) % MINUTES_A_DAY for start, end in itertools.pairwise([*minutes, minutes[0]])]
        return {time: (minutes or MINUTES_A_DAY) / 60 for time, minutes in zip(self.results, lasts, strict=True)}

    def worst(self, mechanism: str) -> list[tuple[str, Suffering]]:
        """Return the costs to each demand under a mechanism, with the time of the largest loss, largest loss first.

        Stalls are of all times. The stall time of a year is a mean over the times with long flows, weighted by hours.
        """
        by_pair: dict[tuple[str, str], dict[str, Suffering]] = defaultdict(dict)
        for time, result in self.results.items():
            for one in result.demands[mechanism]:
                by_pair[one.pair][time] = one
        found = []
        for of_pair in by_pair.values():
            time, worst = max(of_pair.items(), key=lambda item: _lost(item[1]))
            stalls_ms = [one.longest_ms for one in of_pair.values() if one.longest_ms is not None]
            known = {at: one.seconds_a_year for at, one in of_pair.items() if one.seconds_a_year is not None}
            hours = sum(self.hours[at] for at in known)
            all_times = replace(
                worst,
                longest_ms=max(stalls_ms, default=None),
                ended=all(one.ended for one in of_pair.values()),
                seconds_a_year=sum(self.hours[at] * much for at, much in known.items()) / hours if known else None,
            )
            found.append((time, all_times))
        return sorted(found, key=lambda one: _lost(one[1]), reverse=True)

    @staticmethod
    def directory(time: str) -> str:
        """Return the name of the directory of a time."""
        return time.replace(":", "-")

    @property
    def demands(self) -> str:
        """Origin of the demands, in words."""
        return self.first.asked.demands.removesuffix(f" at {next(iter(self.results))}")

    @property
    def warnings(self) -> list[str]:
        """Warnings of all times."""
        return list(dict.fromkeys(str(one) for result in self.results.values() for one in result.warnings))

    def to_json(self) -> str:
        """Return the results as JSON."""
        documents = {time: result.document() for time, result in self.results.items()}
        first = documents[next(iter(documents))]
        own = ("assumed", "rows", "by_demand", "costs")
        network = self.first.asked.network
        return json_text({
            **{key: value for key, value in first.items() if key not in own},
            "demands": self.demands,
            "warnings": self.warnings,
            "times": [
                {
                    "time": time,
                    "hours_a_day": self.hours[time],
                    "directory": self.directory(time),
                    **{key: found[key] for key in own},
                }
                for time, found in documents.items()
            ],
            "worst_times": [
                {"mechanism": mechanism, "time": time, **one.document(network)}
                for mechanism in self.first.asked.mechanisms
                for time, one in self.worst(mechanism)
            ],
        })  # fmt: skip

    def tables(self) -> list[TextTable]:
        """Return the printed tables: data lost by time of day, and the worst time of demands."""
        asked = self.first.asked
        mechanism = asked.mechanisms[0]
        lost = [
            [time, f"{self.hours[time]:g}", number(result.asked.assumed.peak)]
            + [number(result.values[name]["lost_mb"].estimate) for name in asked.mechanisms]
            for time, result in self.results.items()
        ]
        worst = [[*demand_cells(one, asked.network), time] for time, one in self.worst(mechanism)[:WORST]]
        return [
            TextTable(
                "Data lost per failure, by time of day",
                "In MB, by mechanism. Each time applies until the next one. Utilisation: busiest link before failures.",
                ["time", "hours a day", "utilisation", *asked.mechanisms],
                lost,
            ),
            TextTable(
                f"The {count_noun(len(worst), 'demand')} with the largest loss (mechanism: {mechanism})",
                "Data lost in the worst failure at the worst time. Longest stall of a long flow at any time. The stall "
                "time in a year of single failures is a mean over the day, weighted by hours.",
                [*DEMAND_HEADS, "worst time"],
                worst,
            ),
        ]

    def listings(self) -> list[Listing]:
        """Return the tables of all times, with a column for the time, and the worst time of each demand."""
        found = zip(*map(listings, self.results.values()), strict=True)
        joined = [Listing.by_time(dict(zip(self.results, of_times, strict=True))) for of_times in found]
        return [Listing.of("worst-times", self._worst()), *joined]

    def _worst(self) -> Iterator[dict[str, Any]]:
        for mechanism in self.first.asked.mechanisms:
            for time, one in self.worst(mechanism):
                yield {**demand_row(mechanism, one, self.first.asked.network), "worst time": time}


def _lost(one: Suffering) -> float:
    return -math.inf if one.lost_mb is None else one.lost_mb
