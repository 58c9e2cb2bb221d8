"""Settings that are compatible with all published values.

# Models
At a setting, a published value may differ from the simulated one by chance. The simulated mean varies between seeds,
and the published one between the random cases of the paper, whose variance is assumed to be the same. The difference in
excess of the published rounding is divided by the standard error of the difference. The largest quotient of a setting
is its *misfit*. A setting is *compatible* if its misfit is at most the 95 % quantile of the maximum of as many
independent absolute normal deviates.

# Source
Sidak's bound for several intervals (Z. Sidak, J. Am. Stat. Assoc. 62 (1967) 626-633). It is the acceptance of history
matching (M. Goldstein, D. Wooff, Bayes Linear Statistics, 2007, chapter 5), with the maximum over outputs.

# Parameters
The number of random cases of the paper; the level, 95 %.

# Limits
Values of one table come from the same cases and are correlated, so that the bound is conservative. A setting with a
large variance or few seeds (long t intervals) is compatible with more values. The result is a set of settings and its
share of the space; the setting of the paper remains unknown.
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
"""Maximum number of decimals to consider in published values."""


@dataclass(frozen=True)
class Fit:
    """Distance between one setting and the published values.

    Attributes
    ----------
    misfit
        Largest distance of a value, in standard errors.
    worst
        Response with this distance.
    within
        Number of values within their own 95 % interval.
    values
        Number of compared values.
    """

    misfit: float
    worst: str
    within: int
    values: int

    @property
    def compatible(self) -> bool:
        """Whether all values agree jointly."""
        return self.misfit <= bound(self.values)


@dataclass(frozen=True)
class Part:
    """Settings with one parameter in a part of its range.

    Attributes
    ----------
    name
        The part: a value or an interval.
    settings
        Number of settings of the whole design in it.
    misfit
        Smallest misfit among them; infinite without any.
    share
        Compatible share of the part, 0 to 1, estimated from the points of A and B in it.
    """

    name: str
    settings: int
    misfit: float
    share: Interval


def bound(values: int, level: float = LEVEL) -> float:
    """Quantile of the misfit of so many independent values at probability ``level``."""
    return float(special.ndtri(0.5 + level ** (1 / values) / 2))


def rounding(printed: Sequence[float]) -> float:
    """Half of the last digit of published values of one metric, up to :data:`DECIMALS` decimals."""
    some = (digits for digits in range(DECIMALS) if all(round(one, digits) == one for one in printed))
    decimals = next(some, DECIMALS)
    return 0.5 * 10.0**-decimals


def compared(answers: Sequence[SettingResult]) -> dict[str, float]:
    """Responses to compare with published values, and the rounding of the latter.

    A response with a constant value (zero-width interval) at every setting is not a measurement and left out. So is a
    response whose interval is unknown or unbounded at some setting.
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
    """Compare one setting with the published values; this needs at least two seeds."""
    distances = {name: distance(answer.rows[name], half, paper_runs) for name, half in roundings.items()}
    worst = max(distances, key=distances.__getitem__)
    within = sum(one <= NORMAL_95 for one in distances.values())
    return Fit(distances[worst], worst, within, len(distances))


def fits(answers: Sequence[SettingResult | None], paper_runs: int | None) -> dict[int, Fit]:
    """Compare all evaluated settings with the published values.

    Returns
    -------
    dict
        Fits by index of the setting, best first; empty without published values.
    """
    there = {index: answer for index, answer in enumerate(answers) if answer is not None}
    roundings = compared(list(there.values()))
    if not roundings or paper_runs is None:
        return {}
    found = {index: fit(answer, roundings, paper_runs) for index, answer in there.items()}
    return dict(sorted(found.items(), key=lambda one: one[1].misfit))


def distance(row: Row, half: float, paper_runs: int) -> float:
    """Difference between simulated and published value in excess of the rounding, in standard errors."""
    low, high = row.ci95
    if row.paper is None or row.measured is None or low is None or high is None:
        raise ValueError(f"{row.name}: no published value, or no interval")
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
    """Best fit and compatible share for each parameter and part of its range.

    Parameters
    ----------
    settings
        Settings of the whole design.
    fits
        Fits of the evaluated settings, by index.
    uniform
        Indices of the settings of A and B, which are a uniform sample of the space.
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
    """Share of points with its exact interval; 0 to 1 without points."""
    return stats.share(sum(yes), len(yes)) if yes else stats.Interval(math.nan, 0.0, 1.0, 0)
