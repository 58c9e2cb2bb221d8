"""Bootstrap statistics over weighted failures; failures are the units that are resampled."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import stats
from optcp.stats import resampling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.stats import Comparison, Interval

RESAMPLES = 1000
SEED = 1
"""Seed of all resamples. Statistics of equally many failures use the same resamples, so differences are paired."""
ROUNDING = 1e-12
"""Relative rounding error of sums of weights."""
AT_ONCE = 4_000_000
"""Maximum number of values in memory when a quantile is resampled."""


@dataclass(frozen=True)
class Resampled:
    """A statistic of failures with its bootstrap samples.

    Attributes
    ----------
    estimate
        Value for all failures.
    samples
        Value for each resample.
    n
        Number of failures.
    at_least
        Lower bound of an infinite estimate; None if unknown. Infinite values are censored by the end of the run.
    lows
        Lower bounds of the samples; None if no sample is censored.
    """

    estimate: float
    samples: NDArray[np.float64]
    n: int
    at_least: float | None = None
    lows: NDArray[np.float64] | None = None

    def _combined(self, other: Resampled, operation: Callable[[Any, Any], Any]) -> Resampled:
        """Apply an operation to both statistics, including the lower bound of an infinite estimate."""
        with np.errstate(divide="ignore", invalid="ignore"):
            samples = operation(self.samples, other.samples)
            estimate = float(operation(np.float64(self.estimate), np.float64(other.estimate)))
        one, two = (side.estimate if math.isfinite(side.estimate) else side.at_least for side in (self, other))
        at_least = None if estimate != np.inf or one is None or two is None else float(operation(one, two))
        # All operations used here are increasing in the first operand.
        lows = None
        if self.lows is not None and other.lows is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                lows = operation(self.lows, other.samples)
        return Resampled(estimate, samples, min(self.n, other.n), at_least, lows)

    def __add__(self, other: Resampled) -> Resampled:
        return self._combined(other, operator.add)

    def __sub__(self, other: Resampled | float) -> Resampled:
        """The difference: NaN if both operands are censored, minus infinity if only the second is."""
        if isinstance(other, Resampled):
            return self._combined(other, operator.sub)
        at_least = None if self.at_least is None else self.at_least - other
        lows = None if self.lows is None else self.lows - other
        return Resampled(self.estimate - other, self.samples - other, self.n, at_least, lows)

    def __truediv__(self, other: Resampled) -> Resampled:
        """The quotient; NaN if the divisor is zero or censored."""
        return self._combined(other, lambda one, two: one / np.where((two == 0) | np.isinf(two), np.nan, two))

    def times(self, factor: float) -> Resampled:
        """The statistic multiplied by a factor, such as a change of unit."""
        at_least = None if self.at_least is None or factor <= 0 else factor * self.at_least
        lows = None if self.lows is None or factor <= 0 else factor * self.lows
        return Resampled(factor * self.estimate, factor * self.samples, self.n, at_least, lows)

    @property
    def interval(self) -> Interval:
        """The estimate with its 95 % interval."""
        known = self.samples[~np.isnan(self.samples)]
        if not known.size:
            return stats.exact(self.estimate)
        found = replace(resampling.percentile(known, self.estimate, self.n), at_least=self.at_least)
        if self.lows is None:
            return found
        lows = self.lows[~np.isnan(self.lows)]
        return replace(found, low=resampling.percentile(lows, self.estimate, self.n).low)

    @property
    def comparison(self) -> Comparison:
        """Comparison with zero."""
        return resampling.bootstrap_difference(self.samples, np.zeros_like(self.samples), self.estimate, self.n)


def mean(values: ArrayLike, weights: ArrayLike, at_least: ArrayLike | None = None) -> Resampled:
    """The weighted mean of one value per failure; failures without a value (NaN) are left out.

    The mean is infinite if a value is infinite. Its lower bound is then the mean of ``at_least``, lower bounds of all
    values.
    """
    found, weight = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    known = ~np.isnan(found)
    if not known.any():
        return Resampled(np.nan, np.full(RESAMPLES, np.nan), 0)
    drawn = resampling.resampled_weights(len(found), RESAMPLES, SEED)
    cut = np.isposinf(found)
    filled = np.where(known & ~cut, found, 0.0) * weight
    with np.errstate(invalid="ignore", divide="ignore"):
        samples = (drawn @ filled) / (drawn @ (weight * known))
    n = int(known.sum())
    if not cut.any():
        return Resampled(float(filled.sum() / (weight * known).sum()), samples, n)
    samples = np.where(drawn @ (weight * cut) > 0, np.inf, samples)
    if at_least is None:
        return Resampled(np.inf, samples, n)
    low = mean(np.where(known, at_least, np.nan), weights)
    return Resampled(np.inf, samples, n, low.estimate, low.samples)


def quantile(
    values: Sequence[ArrayLike], weights: ArrayLike, q: float, at_least: Sequence[ArrayLike] | None = None
) -> Resampled:
    """A weighted quantile of the values of all failures; each value has the weight of its failure.

    The quantile is the smallest value such that the values up to it have at least a share ``q`` of the weight. With
    equal weights, this is :func:`optcp.stats.quantiles.sample_quantile`.

    Parameters
    ----------
    values
        One array per failure.
    q
        Level, 0 to 1.
    at_least
        Lower bounds of the values. An infinite value is censored at its bound; the product-limit estimator gives its
        weight to the larger values, as in :func:`optcp.stats.quantiles.pooled_quantile`. A quantile above all finite
        values is infinite; its lower bound is the largest bound.
    """
    groups = [np.asarray(one, dtype=np.float64) for one in values]
    pooled = np.concatenate(groups) if groups else np.array([])
    if not pooled.size:
        return Resampled(np.nan, np.full(RESAMPLES, np.nan), 0)
    bounds = pooled if at_least is None else np.concatenate([np.asarray(one, dtype=np.float64) for one in at_least])
    of = np.repeat(np.arange(len(groups)), [one.size for one in groups])
    # At equal bounds, uncensored values come first.
    order = np.lexsort((~np.isfinite(pooled), bounds))
    pooled, bounds, of = pooled[order], bounds[order], of[order]
    known = np.isfinite(pooled)
    weight = np.asarray(weights, dtype=np.float64)[of]

    def at(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = counts * weight
        sums = np.cumsum(parts, axis=-1)
        total = sums[..., -1:]
        if not known.all():
            # Product-limit estimator: each value removes its share of the weight that remains.
            left = total - sums + parts
            with np.errstate(divide="ignore", invalid="ignore"):
                stays = np.where(known & (parts > 0), 1 - parts / left, 1.0)
            sums = total * (1 - np.cumprod(stays, axis=-1))
        place = (sums < q * total * (1 - ROUNDING)).sum(axis=-1)
        reached = np.append(pooled, np.inf)[place]
        return np.where(total[..., 0] > 0, reached, np.nan)

    drawn = resampling.resampled_weights(len(groups), RESAMPLES, SEED)
    step = max(1, AT_ONCE // pooled.size)
    samples = np.concatenate([at(drawn[first : first + step, of]) for first in range(0, RESAMPLES, step)])
    estimate = float(at(np.ones((1, pooled.size)))[0])
    bound = float(bounds.max()) if estimate == np.inf else None
    return Resampled(estimate, samples, sum(bool(one.size) for one in groups), bound)


def known_quantile(
    values: Sequence[ArrayLike], weights: ArrayLike, q: float, at_least: Sequence[ArrayLike]
) -> Resampled:
    """A quantile that is known only if it does not depend on the censored values.

    See ``informative`` of :class:`optcp.data.censored.Censored`; parameters as of :func:`quantile`.
    """
    low, high = quantile(at_least, weights, q), quantile(values, weights, q)
    if np.array_equal(low.samples, high.samples, equal_nan=True) and low.estimate == high.estimate:
        return low
    samples = np.where(low.samples < high.samples, np.inf, low.samples)
    if low.estimate == high.estimate:
        return Resampled(low.estimate, samples, low.n, lows=low.samples)
    return Resampled(np.inf, samples, low.n, low.estimate, low.samples)
