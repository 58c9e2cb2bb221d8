"""The paper's conclusions as differences with a sign, over the whole space.

# Models
A conclusion is a difference that is positive if the paper is right. At one setting it is *significantly above* (or
*below*) zero if the 95 % interval of its mean over the seeds, paired by seed, lies there. Pooled over the settings that
are spread evenly over the space, its mean has the interval of these settings, and so has the share of them at which
the mean has the paper's sign.

# Source
Paired t: A. M. Law, Simulation Modeling and Analysis, 5th ed., section 10.2.1. Shares: the exact interval of Clopper
and Pearson.

# Parameters
The level, 95 %.

# Limits
Settings share their seeds, so the interval over settings leaves out what other seeds would change. Chance puts 2.5 % of
the settings without any difference significantly above zero and as many below. Where a setting's mean is all chance
its sign is a coin, so a share of signs lies nearer to a half than that of true signs.
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
    """One difference over the points of a sample that is spread evenly over the space.

    Attributes
    ----------
    mean
        Over the settings, in the difference's unit.
    above, below, undecided
        At how many points it is significantly above zero, significantly below, or neither.
    positive
        At which share of the points its mean is above zero, 0 to 1; half of what is exactly zero counts.
    """

    mean: Interval
    above: int
    below: int
    undecided: int
    positive: Interval


def pooled(intervals: Sequence[Interval]) -> Pooled:
    """Pool one difference, given at each point by its interval over the seeds."""
    above = sum(one.low > 0 for one in intervals)
    below = sum(one.high < 0 for one in intervals)
    up = sum(0.5 if one.estimate == 0 else float(one.estimate > 0) for one in intervals)
    count = len(intervals)
    return Pooled(
        stats.mean([one.estimate for one in intervals]), above, below, count - above - below, stats.share(up, count)
    )
