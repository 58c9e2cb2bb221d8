"""Quantiles with their intervals: of one value a run, and of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp.errors import InputError
from optcp.stats import BOOTSTRAP_RESAMPLES, BOOTSTRAP_SEED, percentile, resampled_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.stats import Interval


def _checked(q: float) -> None:
    if not 0 < q < 1:
        raise InputError(f"a quantile is between 0 and 1, for example 0.99; got {q}")


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
        If ``q`` is no quantile.
    ValueError
        If there is no value.

    Notes
    -----
    B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> quantile([1, 2, 3, 4], 0.5).estimate
    2.5
    """
    _checked(q)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"expected one value a run, got an array of shape {array.shape}")
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    samples = np.quantile(array[rng.integers(array.size, size=(BOOTSTRAP_RESAMPLES, array.size))], q, axis=1)
    return percentile(samples, float(np.quantile(array, q)), array.size)


def pooled_quantile(samples: Sequence[NDArray[np.float64]], q: float) -> Interval:
    """Quantile of all runs' values together, with a bootstrap interval over runs.

    Values of one run depend on each other, so runs are resampled, not values.

    Parameters
    ----------
    samples
        Each run's values, of any number; runs without one are left out.
    q
        Which quantile, 0 < q < 1: the least value that at least that share of all values does not exceed.

    Returns
    -------
    Interval
        With the 95 % percentile interval; ``n`` is the number of runs that have values.

    Raises
    ------
    InputError
        If ``q`` is no quantile.
    ValueError
        If no run has a value.

    Notes
    -----
    A. C. Davison, D. V. Hinkley, Bootstrap Methods and their Application, 1997, section 3.8.
    """
    _checked(q)
    runs = [run for run in samples if len(run)]
    if not runs:
        raise ValueError("expected values of at least one run")
    values = np.concatenate(runs)
    order = np.argsort(values, kind="stable")
    values, run = values[order], np.repeat(np.arange(len(runs)), [len(run) for run in runs])[order]

    def weighted(weights: NDArray[np.float64]) -> float:
        reached = np.cumsum(weights[run])
        # Rounding of the sums must not carry a share that is met exactly past the value.
        return float(values[np.searchsorted(reached, q * reached[-1] * (1 - 1e-12))])

    estimate = weighted(np.ones(len(runs)))
    found = np.array([weighted(weights) for weights in resampled_weights(len(runs))])
    return percentile(found, estimate, len(runs))
