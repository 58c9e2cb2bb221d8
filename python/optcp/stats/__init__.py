"""Statistics of replicated runs: intervals, paired comparisons, shares, and Holm's correction.

Every function takes plain arrays with one value per run (a seed) and returns plain numbers. The page
``docs/details/statistics.md`` lists the simulated coverage of each interval and the simulated error rate of each test.
"""

from optcp.stats.means import (
    Comparison,
    Equivalence,
    Interval,
    deviation,
    equivalent,
    exact,
    holm,
    kendall,
    mean,
    normal_fit,
    paired,
    runs_to_decide,
)
from optcp.stats.shares import mcnemar, share, share_against, two_shares

__all__ = [
    "Comparison",
    "Equivalence",
    "Interval",
    "deviation",
    "equivalent",
    "exact",
    "holm",
    "kendall",
    "mcnemar",
    "mean",
    "normal_fit",
    "paired",
    "runs_to_decide",
    "share",
    "share_against",
    "two_shares",
]
