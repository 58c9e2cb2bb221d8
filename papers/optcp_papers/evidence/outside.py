"""External figures, and the rule for agreement with them."""

from __future__ import annotations

import functools
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from optcp import stats

Verdict = Literal["agrees", "near", "differs", "undecided"]

DATA = Path(__file__).parent / "data"
FIGURES = DATA / "figures.toml"
NS2_RUNS = DATA / "ns2-runs.json"
THIS_WORLD = "ns-2.35, same set-up"
NEAR = 0.05
SHARP = 0.1
RULE = (
    "`agrees`: our 95 % interval overlaps the external range. `near`: it does not, and misses the range by at most 5 "
    "%. `differs`: it misses by more. `undecided`: one run, so no interval. If all runs have one value, that value is "
    "the interval. The external range is a published range, a published figure plus or minus half a unit of its last "
    "digit, or an interval of runs. The interval is at least as wide as that half unit either way. If both sides "
    "have statistical errors, a few of many rows miss by chance.\n\n"
    "A comparison is sharp if the external range and our interval together are narrower than 10 % of the middle of "
    "that range. All others are marked `wide` and counted separately, because an overlap of such ranges is weak "
    "evidence."
)


@dataclass(frozen=True)
class Figure:
    """External value, with the key of its rows.

    Attributes
    ----------
    source
        Short name of its source, which is a column of the tables.
    experiment, key
        It applies to every row of the experiment whose key includes ``key``.
    text
        Text as shown.
    low, high
        Range, in the unit of the row.
    """

    source: str
    experiment: str
    key: Mapping[str, str]
    text: str
    low: float
    high: float

    def about(self, experiment: str, key: Mapping[str, str]) -> bool:
        """Return whether this figure applies to a row."""
        return experiment == self.experiment and self.key.items() <= key.items()

    def verdict(self, ours: stats.Interval) -> Verdict:
        """Compare with our value (:data:`RULE`)."""
        low, high = _range(ours)
        if not math.isfinite(high - low):
            return "undecided"
        gap = max(self.low - high, low - self.high)
        if gap <= 0:
            return "agrees"
        nearest = self.low if high < self.low else self.high
        return "near" if gap <= NEAR * abs(nearest) else "differs"

    def is_sharp(self, ours: stats.Interval) -> bool:
        """Return whether the comparison can detect small differences (:data:`RULE`)."""
        middle = (self.low + self.high) / 2
        low, high = _range(ours)
        return self.high - self.low + high - low < SHARP * abs(middle)


def _range(ours: stats.Interval) -> tuple[float, float]:
    """Return the ends of our interval, or the value itself if several runs share it and there is no interval."""
    alike = ours.repeated or (ours.n > 1 and not math.isfinite(ours.high - ours.low))
    return (ours.estimate, ours.estimate) if alike else (ours.low, ours.high)


def printed_range(text: str) -> tuple[float, float]:
    """Return the range of a published figure: "1.43 to 1.48" unchanged, "1.31" from 1.305 to 1.315."""
    low, separator, high = text.partition(" to ")
    if separator:
        return float(low), float(high)
    value = Decimal(text)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{text!r} is no figure")
    half = Decimal(5).scaleb(exponent - 1)
    return float(value - half), float(value + half)


def gap(value: float, text: str) -> float | None:
    """Return the relative distance of a value from a printed range, with its sign; None if its nearest end is zero."""
    low, high = printed_range(text)
    nearest = min(max(value, low), high)
    return (value - nearest) / nearest if nearest else None


def sources() -> dict[str, str]:
    """Return the description of each source, in the order of the columns."""
    return {**_tables()["sources"], **worked_here()}


def worked_here() -> dict[str, str]:
    """Return the sources whose figures the project derived itself from a text or law of others."""
    return dict(_tables()["worked_here"])


def figures(experiment: str, key: Mapping[str, str]) -> list[Figure]:
    """Return every external figure for a row, in the order of the sources."""
    order = list(sources())
    result = [figure for figure in _figures() if figure.about(experiment, key)]
    return sorted(result, key=lambda figure: order.index(figure.source))


def ns2_values(experiment: str, key: Mapping[str, str]) -> list[float]:
    """Return the values of the ns-2 runs behind a figure, by run; empty without such runs."""
    result = (entry for entry in _runs() if entry["experiment"] == experiment and key.items() <= entry["key"].items())
    return next((list(entry["values"]) for entry in result), [])


@functools.cache
def _runs() -> list[dict[str, Any]]:
    return list(json.loads(NS2_RUNS.read_text(encoding="utf-8"))["figures"])


@functools.cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(FIGURES.read_text(encoding="utf-8"))


@functools.cache
def _figures() -> tuple[Figure, ...]:
    return (*_printed(), *_ns2_runs())


def _printed() -> Iterable[Figure]:
    """Yield published figures; one entry of the file may hold figures along an axis, for several variants."""
    for entry in _tables()["figures"]:
        for variant in entry["variants"]:
            for value, text in entry["values"].items():
                key = {**entry["key"], "variant": variant, entry["axis"]: value}
                yield Figure(entry["source"], entry["experiment"], key, text, *printed_range(text))


def _ns2_runs() -> Iterable[Figure]:
    for entry in _runs():
        values = entry["values"]
        mean, digits = stats.mean(values), entry["digits"]
        ends = (mean.estimate, mean.low, mean.high) if len(values) > 1 else (mean.estimate,) * 3
        value, low, high = map(math.exp, ends) if entry.get("geometric") else ends
        text = f"{value:.{digits}f}"
        least = printed_range(text)
        if len(values) > 1:
            text += f" ({low:.{digits}f} to {high:.{digits}f})"
        low, high = min(low, least[0]), max(high, least[1])
        yield Figure(THIS_WORLD, entry["experiment"], entry["key"], text, low, high)
