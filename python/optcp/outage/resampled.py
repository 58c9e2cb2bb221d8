"""Statistics over failures, each weighted: a failure is the unit that is drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import resampling, stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.stats import Comparison, Interval

RESAMPLES = 1000
SEED = 1
"""Of all resamples: statistics of as many failures are resampled alike, so that their differences are paired."""
AT_ONCE = 4_000_000
"""Values of a quantile's resamples that are in memory together."""


@dataclass(frozen=True)
class Resampled:
    """A statistic of failures.

    Attributes
    ----------
    estimate
        Of all of them.
    samples
        Of each resample.
    n
        How many failures.
    """

    estimate: float
    samples: NDArray[np.float64]
    n: int

    def __add__(self, other: Resampled) -> Resampled:
        return Resampled(self.estimate + other.estimate, self.samples + other.samples, min(self.n, other.n))

    def __sub__(self, other: Resampled | float) -> Resampled:
        if isinstance(other, Resampled):
            return Resampled(self.estimate - other.estimate, self.samples - other.samples, min(self.n, other.n))
        return Resampled(self.estimate - other, self.samples - other, self.n)

    def __truediv__(self, other: Resampled) -> Resampled:
        with np.errstate(divide="ignore", invalid="ignore"):
            samples = self.samples / other.samples
        return Resampled(self.estimate / other.estimate if other.estimate else np.nan, samples, min(self.n, other.n))

    def times(self, factor: float) -> Resampled:
        """The statistic in another unit."""
        return Resampled(factor * self.estimate, factor * self.samples, self.n)

    @property
    def interval(self) -> Interval:
        """The estimate with its 95 % interval."""
        known = self.samples[~np.isnan(self.samples)]
        return resampling.percentile(known, self.estimate, self.n) if known.size else stats.exact(self.estimate)

    @property
    def comparison(self) -> Comparison:
        """Against zero."""
        return resampling.bootstrap_difference(self.samples, np.zeros_like(self.samples), self.estimate, self.n)


def mean(values: ArrayLike, weights: ArrayLike) -> Resampled:
    """The weighted mean of a value a failure; failures without a value (NaN) are left out."""
    found, weight = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    known = ~np.isnan(found)
    if not known.any():
        return Resampled(np.nan, np.full(RESAMPLES, np.nan), 0)
    drawn = resampling.resampled_weights(len(found), RESAMPLES, SEED)
    filled = np.where(known, found, 0.0) * weight
    with np.errstate(invalid="ignore", divide="ignore"):
        samples = (drawn @ filled) / (drawn @ (weight * known))
    return Resampled(float(filled.sum() / (weight * known).sum()), samples, int(known.sum()))


def quantile(values: Sequence[ArrayLike], weights: ArrayLike, q: float) -> Resampled:
    """A quantile of the values of all failures together, each value with the weight of its failure.

    Parameters
    ----------
    values
        Of each failure as many as it has.
    q
        0 to 1.
    """
    groups = [np.asarray(one, dtype=np.float64) for one in values]
    pooled = np.concatenate(groups) if groups else np.array([])
    if not pooled.size:
        return Resampled(np.nan, np.full(RESAMPLES, np.nan), 0)
    of = np.repeat(np.arange(len(groups)), [one.size for one in groups])
    order = np.argsort(pooled, kind="stable")
    pooled, of = pooled[order], of[order]
    weight = np.asarray(weights, dtype=np.float64)[of]

    def at(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.cumsum(counts * weight, axis=-1)
        total = sums[..., -1:]
        place = (sums < q * total).sum(axis=-1).clip(max=pooled.size - 1)
        return np.where(total[..., 0] > 0, pooled[place], np.nan)

    drawn = resampling.resampled_weights(len(groups), RESAMPLES, SEED)
    step = max(1, AT_ONCE // pooled.size)
    samples = np.concatenate([at(drawn[first : first + step, of]) for first in range(0, RESAMPLES, step)])
    estimate = float(at(np.ones((1, pooled.size)))[0])
    return Resampled(estimate, samples, sum(bool(one.size) for one in groups))
