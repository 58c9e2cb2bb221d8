"""Which settings give the printed values together.

# Models
At a setting, a printed value may differ from the measured one by chance: the measured mean has the spread of its own
seeds, and the printed one that of the paper's random cases, taken to be as unlike each other as ours. What is beyond
the printed rounding is divided by the standard error of both together. The largest such quotient of a setting is
its *misfit*; a setting is *compatible* if the misfit is what the largest of as many independent normal deviates stays
below in 95 % of cases.

# Source
Sidak's bound for several intervals (Z. Sidak, J. Am. Stat. Assoc. 62 (1967) 626-633). It is the acceptance of history
matching (M. Goldstein, D. Wooff, Bayes Linear Statistics, 2007, chapter 5), with the maximum over outputs.

# Parameters
The paper's number of random cases; the level, 95 %.

# Limits
Values of one table come from the same cases and hang together, so the bound is wide rather than narrow. A setting with
much spread is compatible with more, and so is one of few seeds, whose t intervals are longer than normal ones. What is
found is a set with its share of the space, never the paper's own setting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.model import Row
    from optcp.papers.sensitivity.answer import SettingResult
    from optcp.papers.sensitivity.space import Space
    from optcp.stats import Interval

LEVEL = 0.95
NORMAL_95 = 1.959964
DECIMALS = 6
"""The most decimals that a printed value is looked at for."""


@dataclass(frozen=True)
class Fit:
    """How near one setting comes to the printed values.

    Attributes
    ----------
    misfit
        The largest distance of a value, in standard errors.
    worst
        The response that has it.
    within
        How many values lie within their own 95 %.
    values
        How many values are compared.
    """

    misfit: float
    worst: str
    within: int
    values: int

    @property
    def compatible(self) -> bool:
        """Whether all values agree together."""
        return self.misfit <= bound(self.values)


@dataclass(frozen=True)
class Part:
    """The settings with one parameter in a part of its range.

    Attributes
    ----------
    name
        The part: a value, or from where to where.
    settings
        How many settings of the whole design lie in it.
    misfit
        The least misfit among them; infinite where there are none.
    share
        Which share of the part is compatible, by the points of A and B that lie in it, 0 to 1.
    """

    name: str
    settings: int
    misfit: float
    share: Interval


def bound(values: int, level: float = LEVEL) -> float:
    """The misfit that all of so many values stay below with a probability of ``level``."""
    return float(special.ndtri(0.5 + level ** (1 / values) / 2))


def rounding(printed: Sequence[float]) -> float:
    """Half of the last printed digit of some values of one metric, or of the last one that is looked at."""
    some = (digits for digits in range(DECIMALS) if all(round(one, digits) == one for one in printed))
    decimals = next(some, DECIMALS)
    return 0.5 * 10.0**-decimals


def compared(answers: Sequence[SettingResult]) -> dict[str, float]:
    """The responses that are measured and have a printed value, with the printed rounding.

    What has no interval at any setting is no measurement: that nothing is worse than itself, for example. What has
    none at some, or is unbounded there, cannot be compared over the space.
    """
    printed = {name: row for name, row in answers[0].rows.items() if row.paper is not None}
    half = {
        metric: rounding([one.paper for one in printed.values() if one.metric == metric and one.paper is not None])
        for metric in {row.metric for row in printed.values()}
    }
    return {
        name: half[row.metric]
        for name, row in printed.items()
        if any(answer.rows[name].ci95[0] != answer.rows[name].ci95[1] for answer in answers)
        and all(None not in answer.rows[name].ci95 for answer in answers)
    }


def fit(answer: SettingResult, roundings: Mapping[str, float], paper_runs: int) -> Fit:
    """Compare one setting with the printed values; at least two seeds are needed."""
    distances = {name: distance(answer.rows[name], half, paper_runs) for name, half in roundings.items()}
    worst = max(distances, key=distances.__getitem__)
    within = sum(one <= NORMAL_95 for one in distances.values())
    return Fit(distances[worst], worst, within, len(distances))


def fits(answers: Sequence[SettingResult | None], paper_runs: int | None) -> dict[int, Fit]:
    """Compare every setting that could be evaluated with the printed values.

    Returns
    -------
    dict
        By the setting's index, nearest first; empty where nothing is printed.
    """
    there = {index: answer for index, answer in enumerate(answers) if answer is not None}
    roundings = compared(list(there.values()))
    if not roundings or paper_runs is None:
        return {}
    found = {index: fit(answer, roundings, paper_runs) for index, answer in there.items()}
    return dict(sorted(found.items(), key=lambda one: one[1].misfit))


def distance(row: Row, half: float, paper_runs: int) -> float:
    """From measured to printed beyond the rounding, in standard errors of both."""
    low, high = row.ci95
    if row.paper is None or row.measured is None or low is None or high is None:
        raise ValueError(f"{row.name}: nothing printed, or no interval")
    gap = max(0.0, abs(row.value - row.paper) - half)
    if gap == 0:
        return 0.0
    error = (high - low) / 2 / NORMAL_95
    both = float(np.hypot(error, error * np.sqrt(row.n / paper_runs)))
    return gap / both if both else float("inf")


def profile(
    space: Space,
    settings: Sequence[Mapping[str, Value]],
    fits: Mapping[int, Fit],
    uniform: NDArray[np.int64],
) -> dict[str, list[Part]]:
    """By parameter and part of its range: the best fit, and how much of the part is compatible.

    Parameters
    ----------
    settings
        Of the whole design.
    fits
        Of those that could be evaluated, by their index.
    uniform
        Index into them of points that are spread evenly over the space: those of A and B.
    """
    result = {}
    for dimension in space:
        place = {index: dimension.range.part(settings[index][dimension.name]) for index in fits}
        parts = []
        for part, name in enumerate(dimension.range.parts()):
            here = [fits[index].misfit for index in fits if place[index] == part]
            among = [fits[int(index)].compatible for index in uniform if place[int(index)] == part]
            parts.append(Part(name, len(here), min(here, default=math.inf), share(among)))
        result[dimension.name] = parts
    return result


def share(yes: Sequence[bool]) -> Interval:
    """A share of points with its exact interval; nothing is known from no point."""
    return stats.share(sum(yes), len(yes)) if yes else stats.Interval(math.nan, 0.0, 1.0, 0)
