"""Bootstrap over runs: statistics of mean curves, with expanded percentile intervals and their p-values.

# Model

Runs are drawn again with replacement, and the statistic is computed of the mean curve of each resample.

# References

B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993. T. C. Hesterberg, Am. Stat. 69 (2015) 371-386.

# Limitations

With skewed values intervals cover less than 95 %: ``docs/details/statistics.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special

from optcp.stats.means import Comparison, Equivalence, Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BOOTSTRAP_RESAMPLES = 1000
BOOTSTRAP_SEED = 20011
"""Seed of the resamples; it is fixed so that results are reproducible."""
FEWEST_FOR_BOOTSTRAP = 6
"""Minimum number of runs for a bootstrap interval."""


def resampled_weights(
    runs: int, resamples: int = BOOTSTRAP_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> NDArray[np.float64]:
    """Return the weight of each run in each resample, shape (resamples, runs); deterministic."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(runs, np.full(runs, 1 / runs), size=resamples) / runs


def bootstrap(
    values: NDArray[Any],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    resamples: int = BOOTSTRAP_RESAMPLES,
    seed: int = BOOTSTRAP_SEED,
) -> tuple[float, NDArray[np.float64]]:
    """Resample runs with replacement and recompute a statistic of their mean curve.

    Parameters
    ----------
    values
        One curve per run, shape (runs, points).
    statistic
        Function from mean curves, shape (k, points), to one number each, shape (k,).
    resamples, seed
        Number and seed of the resamples.

    Returns
    -------
    estimate : float
        Statistic of all runs.
    samples : ndarray
        Statistic of each resample, shape (resamples,).

    Notes
    -----
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile intervals).
    """
    curves = np.asarray(values, dtype=np.float64)
    weights = resampled_weights(curves.shape[0], resamples, seed)
    return float(statistic(curves.mean(axis=0)[None, :])[0]), statistic(weights @ curves)


def percentile(samples: NDArray[np.float64], estimate: float, n: int) -> Interval:
    """Return the expanded 95 % percentile interval of bootstrap samples; infinite samples stay infinite.

    Plain percentile intervals of few runs are too narrow, because the variance of resamples is (n - 1) / n of the true
    one. The percentiles are chosen such that the interval of a mean has the length of Student's t interval. Bounds are
    order statistics, because samples may be infinite. With fewer than six runs there is no interval: it would cover
    only 92 % of normal values.

    Notes
    -----
    T. C. Hesterberg, Am. Stat. 69 (2015) 371-386, section 5.3: expanded percentile intervals.
    """
    if n < FEWEST_FOR_BOOTSTRAP:
        return Interval(estimate, -np.inf, np.inf, n)
    tail = float(special.ndtr(special.stdtrit(n - 1, 0.025) * np.sqrt(n / (n - 1))))
    low, high = np.quantile(samples, [tail, 1 - tail], method="closest_observation")
    return Interval(estimate, float(low), float(high), n)


def _bootstrap_p(rarer: int, samples: int, n: int, tails: Literal[1, 2]) -> float:
    """Return the p-value of ``rarer`` samples on the other side, for n runs.

    Adding one to both counts keeps it above zero (Davison and Hinkley, Bootstrap Methods and their Application, 1997,
    equation 4.11). The share of samples is expanded as in :func:`percentile`. The p-value is at least the p-value of a
    sign-flip test of n agreeing runs, because more resamples cannot replace runs.
    """
    if n == 1:
        return 1.0
    part = max((rarer + 1) / (samples + 1), float(n) ** -n)
    if part < 0.5:
        part = float(special.stdtr(n - 1, special.ndtri(part) * np.sqrt((n - 1) / n)))
    return min(1.0, tails * max(part, 2.0**-n))


def bootstrap_p(samples: NDArray[np.float64], threshold: float, n: int) -> float:
    """Return the two-sided p-value of the side of the threshold on which a statistic of n runs lies.

    Equality counts as the upper side.
    """
    below = int(np.sum(samples < threshold))
    return _bootstrap_p(min(below, samples.size - below), samples.size, n, 2)


def bootstrap_difference(first: NDArray[np.float64], second: NDArray[np.float64], gap: float, n: int) -> Comparison:
    """Test ``first - second`` from bootstrap samples of both with equal weights.

    Parameters
    ----------
    first, second
        Samples of two statistics, shape (resamples,); :func:`bootstrap` uses equal weights for equal numbers of runs.
    gap
        Difference of the two estimates.
    n
        Number of runs.

    Returns
    -------
    Comparison
        Percentile interval and two-sided p-value of no difference. Resamples without a difference, which are frequent
        for statistics in whole intervals, count for neither side.
    """
    samples = first - second
    rarer = min(int(np.sum(samples <= 0)), int(np.sum(samples >= 0)))
    return Comparison(percentile(samples, gap, n), _bootstrap_p(rarer, samples.size, n, 2))


def bootstrap_within(
    samples: NDArray[np.float64], estimate: float, n: int, low: float, high: float, tails: Literal[1, 2]
) -> Equivalence:
    """Test whether a bootstrapped statistic lies between two bounds.

    Parameters
    ----------
    samples, estimate, n
        Statistic of each resample, statistic of all runs, and number of runs.
    low, high
        Bounds.
    tails
        1 requires the 90 % interval within the bounds (rule EQUIV), 2 the 95 % interval.

    Returns
    -------
    Equivalence
        If inside, ``p`` is below 0.05 exactly if this interval lies within the bounds; otherwise, if the 95 % interval
        lies outside.
    """
    inside = low < estimate < high
    under, over = int(np.sum(samples <= low)), int(np.sum(samples >= high))
    rarer = max(under, over) if inside else samples.size - (under if estimate <= low else over)
    p = _bootstrap_p(rarer, samples.size, n, tails if inside else 2)
    return Equivalence(inside, p, percentile(samples, estimate, n))
