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
"""Bootstrap intervals are part of a result, so the resamples are the same every time."""
FEWEST_FOR_BOOTSTRAP = 6
"""Runs that a bootstrap interval needs."""


def resampled_weights(
    runs: int, resamples: int = BOOTSTRAP_RESAMPLES, seed: int = BOOTSTRAP_SEED
) -> NDArray[np.float64]:
    """The share of each run in each resample with replacement, shape (resamples, runs): always the same ones."""
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
        One curve a run, shape (runs, points).
    statistic
        From mean curves, shape (k, points), to one number each, shape (k,).
    resamples, seed
        The same seed gives the same resamples, so that a result can be repeated.

    Returns
    -------
    estimate : float
        The statistic of all runs.
    samples : ndarray
        The statistic of each resample, shape (resamples,).

    Notes
    -----
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13 (percentile intervals).
    """
    curves = np.asarray(values, dtype=np.float64)
    weights = resampled_weights(curves.shape[0], resamples, seed)
    return float(statistic(curves.mean(axis=0)[None, :])[0]), statistic(weights @ curves)


def percentile(samples: NDArray[np.float64], estimate: float, n: int) -> Interval:
    """The expanded 95 % percentile interval of bootstrap samples; infinite samples stay infinite.

    A plain percentile interval of few runs is too narrow: its reach is that of a normal distribution with the spread
    of a sample, (n - 1) / n of the true variance. The percentiles are those at which the interval of a mean has the
    length of Student's t. The bounds are order statistics: between infinity and a number there is no value. With
    fewer than six runs there is no interval: resamples of so few take too few values, and it would cover 92 % of
    normal ones.

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
    """The p-value of so many samples on the other side, of n runs.

    The one added to both counts keeps it above zero (A. C. Davison, D. V. Hinkley, Bootstrap Methods and their
    Application, 1997, equation 4.11). The share of samples is expanded as in :func:`percentile`. Nor is the p-value
    less than that of a sign-flip test of n runs that agree: few runs on one side tell little, however many
    resamples there are.
    """
    if n == 1:
        return 1.0
    part = max((rarer + 1) / (samples + 1), float(n) ** -n)
    if part < 0.5:
        part = float(special.stdtr(n - 1, special.ndtri(part) * np.sqrt((n - 1) / n)))
    return min(1.0, tails * max(part, 2.0**-n))


def bootstrap_p(samples: NDArray[np.float64], threshold: float, n: int) -> float:
    """Two-sided p-value of "the statistic of n runs is on the other side of the threshold than it seems".

    Equality counts as the upper side.
    """
    below = int(np.sum(samples < threshold))
    return _bootstrap_p(min(below, samples.size - below), samples.size, n, 2)


def bootstrap_difference(first: NDArray[np.float64], second: NDArray[np.float64], gap: float, n: int) -> Comparison:
    """Judge ``first - second`` from bootstrap samples of both that were drawn with the same weights.

    Parameters
    ----------
    first, second
        Samples of two statistics, shape (resamples,): :func:`bootstrap` gives the same weights for as many runs.
    gap
        The difference of the two estimates.
    n
        Runs behind the estimates.

    Returns
    -------
    Comparison
        Percentile interval, and the two-sided p-value of "no difference"; a resample without a difference counts for
        neither side, as statistics in whole intervals often have none.
    """
    samples = first - second
    rarer = min(int(np.sum(samples <= 0)), int(np.sum(samples >= 0)))
    return Comparison(percentile(samples, gap, n), _bootstrap_p(rarer, samples.size, n, 2))


def bootstrap_within(
    samples: NDArray[np.float64], estimate: float, n: int, low: float, high: float, tails: Literal[1, 2]
) -> Equivalence:
    """Judge whether a bootstrapped statistic lies between two bounds.

    Parameters
    ----------
    samples, estimate, n
        The statistic of each resample, and of all n runs.
    low, high
        The bounds.
    tails
        1: the 90 % interval must lie within them (the rule EQUIV); 2: the 95 % interval must.

    Returns
    -------
    Equivalence
        If inside, ``p`` is below 0.05 exactly when that interval lies within the bounds; else when the 95 % interval
        lies wholly outside.
    """
    inside = low < estimate < high
    under, over = int(np.sum(samples <= low)), int(np.sum(samples >= high))
    rarer = max(under, over) if inside else samples.size - (under if estimate <= low else over)
    p = _bootstrap_p(rarer, samples.size, n, tails if inside else 2)
    return Equivalence(inside, p, percentile(samples, estimate, n))
