"""Quantiles with their intervals: of one value a run, and of many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import _core, arguments
from optcp.errors import InputError
from optcp.stats import BOOTSTRAP_RESAMPLES, BOOTSTRAP_SEED, percentile, resampled_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.stats import Interval


def checked(q: float) -> float:
    """Return a quantile.

    Raises
    ------
    InputError
        If it is none.
    """
    return arguments.between(q, "quantile", 0, 1)


def quantile(values: ArrayLike, q: float) -> Interval:
    """Quantile of one value a run, with a bootstrap interval over runs.

    Parameters
    ----------
    values
        One value a run, shape (n,), n >= 1.
    q
        Which quantile, 0 < q < 1; between two values it is interpolated.

    Returns
    -------
    Interval
        With the 95 % percentile interval. It never leaves the values: with few runs beyond a far quantile it is too
        short.

    Raises
    ------
    InputError
        If ``q`` is no quantile, or there is no value.

    Notes
    -----
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> quantile([1, 2, 3, 4], 0.5).estimate
    2.5
    """
    q = checked(q)
    array = arguments.values(values, "values")
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"expected one value a run, got an array of shape {array.shape}")
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    samples = np.quantile(array[rng.integers(array.size, size=(BOOTSTRAP_RESAMPLES, array.size))], q, axis=1)
    return percentile(samples, float(np.quantile(array, q)), array.size)


def product_limit(values: NDArray[np.float64], at_least: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of all that each value stands for; an infinite one has none.

    The product-limit estimator: a value that is known only to be greater than its bound gives its share to those that
    are. What is missing to 1 lies beyond all bounds.

    Notes
    -----
    E. L. Kaplan, P. Meier, J. Am. Stat. Assoc. 53 (1958) 457-481. How large a value is must not depend on its bound.
    """
    values = arguments.values(values, "values")
    if values.ndim != 1:
        raise InputError(f"expected values along one axis, got an array of shape {values.shape}")
    return _core.product_limit(arguments.shaped(at_least, "at_least", values.shape), np.isfinite(values))


def restricted_mean(values: NDArray[np.float64], at_least: NDArray[np.float64]) -> tuple[float, float]:
    """Mean of values of which some are known only to be greater than their bounds, and its lower bound.

    Returns
    -------
    mean : float
        Infinite where the largest bound is that of an infinite value.
    at_least : float
        The mean, or that of the values restricted to the largest bound (J. O. Irwin, J. Hygiene 47 (1949) 188-189).
    """
    values, at_least = arguments.values(values, "values"), arguments.values(at_least, "at_least")
    shares = product_limit(values, at_least)
    if not values.size:
        raise InputError("expected one value or more")
    known = np.isfinite(values)
    largest = at_least.max()
    restricted = float(shares[known] @ values[known] + max(0.0, 1 - shares.sum()) * largest)
    return (restricted if largest not in at_least[~known] else np.inf), restricted


def pooled_quantile(
    samples: Sequence[NDArray[np.float64]], q: float, at_least: Sequence[NDArray[np.float64]] | None = None
) -> Interval:
    """Quantile of all runs' values together, with a bootstrap interval over runs.

    Values of one run depend on each other, so runs are resampled, not values.

    Parameters
    ----------
    samples
        Each run's values, of any number; runs without one are left out.
    q
        Which quantile, 0 < q < 1: the least value that at least that share of all values does not exceed.
    at_least
        Lower bounds: an infinite value is known only to be greater than its bound, see :func:`product_limit`.

    Returns
    -------
    Interval
        With the 95 % percentile interval; ``n`` is the number of runs that have values. A quantile beyond the values
        is infinite, and ``at_least`` the largest bound.

    Raises
    ------
    InputError
        If ``q`` is no quantile, or no run has a value.

    Notes
    -----
    A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application, 1997, section 3.8.
    """
    q = checked(q)
    given = (arguments.values(run, "samples").ravel() for run in arguments.several(samples, "samples"))
    runs = [run for run in given if run.size]
    if not runs:
        raise InputError("expected values of at least one run")
    values = np.concatenate(runs)
    bounds = values
    if at_least is not None:
        given = (arguments.values(run, "at_least").ravel() for run in arguments.several(at_least, "at_least"))
        bounds = np.concatenate([np.zeros(0), *given])
        if bounds.shape != values.shape:
            raise InputError(f"at_least: expected a bound for each of {values.size} values, got {bounds.size}")
    # Each finite value stands for itself, and for its part of those that are known only to be greater than less.
    share = values.size * product_limit(values, bounds)
    order = np.argsort(values, kind="stable")
    sizes = np.array([len(run) for run in runs])
    values, share, run = values[order], share[order], np.repeat(np.arange(len(runs)), sizes)[order]

    def weighted(weights: NDArray[np.float64]) -> float:
        reached = np.cumsum(weights[run] * share)
        # Rounding of the sums must not carry a share that is met exactly past the value.
        place = np.searchsorted(reached, q * float(weights @ sizes) * (1 - 1e-12))
        return float(values[place]) if place < values.size else np.inf

    estimate = weighted(np.ones(len(runs)))
    found = np.array([weighted(weights) for weights in resampled_weights(len(runs))])
    interval = percentile(found, estimate, len(runs))
    return replace(interval, at_least=float(bounds.max())) if np.isinf(estimate) else interval
