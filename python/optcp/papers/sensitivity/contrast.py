"""Conclusions of a paper as signed differences over the space of its unstated parameters.

# Models
A conclusion is a difference that is positive if the paper is right. At one setting, it is *significantly above* (or
*below*) zero if the 95 % interval of its mean over seeds, paired by seed, is. A uniform sample of settings gives the
mean difference and the share of settings with the sign of the paper. Each has an interval over settings.

# Source
Paired t: A. M. Law, Simulation Modeling and Analysis, 5th ed., section 10.2.1. Shares: the exact interval of Clopper
and Pearson.

# Parameters
The level, 95 %.

# Limits
Settings use the same seeds, so that the interval over settings does not include the variation between seeds. Of
settings without a difference, 2.5 % are significantly above zero by chance, and 2.5 % below. The sign of a mean that is
only noise is random, so that the share of positive signs is biased towards one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.stats import Interval


@dataclass(frozen=True)
class Pooled:
    """One difference over a uniform sample of the space.

    Attributes
    ----------
    mean
        Mean over settings, in the unit of the difference.
    above, below, undecided
        Number of points at which it is significantly above zero, significantly below zero, or neither.
    positive
        Share of the points with a positive mean, 0 to 1; zero counts half.
    """

    mean: Interval
    above: int
    below: int
    undecided: int
    positive: Interval


def pooled(intervals: Sequence[Interval]) -> Pooled:
    """Pool one difference, given by its interval over seeds at each point."""
    above = sum(one.low > 0 for one in intervals)
    below = sum(one.high < 0 for one in intervals)
    up = sum(0.5 if one.estimate == 0 else float(one.estimate > 0) for one in intervals)
    count = len(intervals)
    return Pooled(
        stats.mean([one.estimate for one in intervals]), above, below, count - above - below, stats.share(up, count)
    )
