"""Statistics over failures, each weighted: a failure is the unit that is drawn again."""

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
"""Of all resamples: statistics of as many failures are resampled alike, so that their differences are paired."""
ROUNDING = 1e-12
"""Relative size of sums of weights that is rounding."""
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
    at_least
        Lower bound of an infinite estimate, which the end of runs cuts; None where none is known. An infinite sample
        is a resample whose statistic is cut.
    lows
        Lower bounds of the samples, where some are cut; None where they are their own.
    """

    estimate: float
    samples: NDArray[np.float64]
    n: int
    at_least: float | None = None
    lows: NDArray[np.float64] | None = None

    def _combined(self, other: Resampled, operation: Callable[[Any, Any], Any]) -> Resampled:
        """The statistic of both sides; a lower bound of an infinite estimate follows from theirs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            samples = operation(self.samples, other.samples)
            estimate = float(operation(np.float64(self.estimate), np.float64(other.estimate)))
        one, two = (side.estimate if math.isfinite(side.estimate) else side.at_least for side in (self, other))
        at_least = None if estimate != np.inf or one is None or two is None else float(operation(one, two))
        # All of these operations grow with the first side.
        lows = None
        if self.lows is not None and other.lows is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                lows = operation(self.lows, other.samples)
        return Resampled(estimate, samples, min(self.n, other.n), at_least, lows)

    def __add__(self, other: Resampled) -> Resampled:
        return self._combined(other, operator.add)

    def __sub__(self, other: Resampled | float) -> Resampled:
        """The difference; NaN where both sides are cut, minus infinity where the second is."""
        if isinstance(other, Resampled):
            return self._combined(other, operator.sub)
        at_least = None if self.at_least is None else self.at_least - other
        lows = None if self.lows is None else self.lows - other
        return Resampled(self.estimate - other, self.samples - other, self.n, at_least, lows)

    def __truediv__(self, other: Resampled) -> Resampled:
        """The quotient; NaN by zero, and by what is cut."""
        return self._combined(other, lambda one, two: one / np.where((two == 0) | np.isinf(two), np.nan, two))

    def times(self, factor: float) -> Resampled:
        """The statistic in another unit."""
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
        """Against zero."""
        return resampling.bootstrap_difference(self.samples, np.zeros_like(self.samples), self.estimate, self.n)


def mean(values: ArrayLike, weights: ArrayLike, at_least: ArrayLike | None = None) -> Resampled:
    """The weighted mean of a value a failure; failures without a value (NaN) are left out.

    A mean of which a value is infinite is so, too. With ``at_least``, lower bounds of all values, it has the mean of
    these for its own.
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
    """A quantile of the values of all failures together, each value with the weight of its failure.

    The smallest value that at least a share ``q`` of the weights does not exceed. Where all weights are alike that is
    :func:`optcp.stats.quantiles.sample_quantile`.

    Parameters
    ----------
    values
        Of each failure as many as it has.
    q
        0 to 1.
    at_least
        Lower bounds of the values: an infinite value is known only to be greater than its bound, and gives its share
        to those that are, as in :func:`optcp.stats.quantiles.pooled_quantile`. A quantile beyond all values is
        infinite, and its bound is the largest one.
    """
    groups = [np.asarray(one, dtype=np.float64) for one in values]
    pooled = np.concatenate(groups) if groups else np.array([])
    if not pooled.size:
        return Resampled(np.nan, np.full(RESAMPLES, np.nan), 0)
    bounds = pooled if at_least is None else np.concatenate([np.asarray(one, dtype=np.float64) for one in at_least])
    of = np.repeat(np.arange(len(groups)), [one.size for one in groups])
    # Of equal bounds those that are values come first.
    order = np.lexsort((~np.isfinite(pooled), bounds))
    pooled, bounds, of = pooled[order], bounds[order], of[order]
    known = np.isfinite(pooled)
    weight = np.asarray(weights, dtype=np.float64)[of]

    def at(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        parts = counts * weight
        sums = np.cumsum(parts, axis=-1)
        total = sums[..., -1:]
        if not known.all():
            # The product-limit estimator: the share beyond each value is that beyond the one before, less its part.
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
    """A quantile of values whose bounds tell something of them: known where it is the same whatever the cut values are.

    See ``informative`` of :class:`optcp.data.censored.Censored`; parameters as of :func:`quantile`.
    """
    low, high = quantile(at_least, weights, q), quantile(values, weights, q)
    if np.array_equal(low.samples, high.samples, equal_nan=True) and low.estimate == high.estimate:
        return low
    samples = np.where(low.samples < high.samples, np.inf, low.samples)
    if low.estimate == high.estimate:
        return Resampled(low.estimate, samples, low.n, lows=low.samples)
    return Resampled(np.inf, samples, low.n, low.estimate, low.samples)
