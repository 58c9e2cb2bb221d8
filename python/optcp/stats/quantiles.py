"""Quantiles with confidence intervals, for one value per run and for many.

# Model

The quantile q is the smallest value x such that at least a share q of the values is at most x. It is always one of the
values, so infinite values are allowed. For example, the completion time of a flow that did not end within the run is
+infinity. This is the only definition of a sample quantile in OpTCP.

# References

R. J. Hyndman, Y. Fan, Am. Stat. 50 (1996) 361-365, definition 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp import _core
from optcp.common import arguments
from optcp.errors import InputError
from optcp.stats.means import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95


def checked(q: float) -> float:
    """Check the level of a quantile and return it.

    Raises
    ------
    InputError
        If it is not between 0 and 1.
    """
    return arguments.between(q, "quantile", 0, 1)


def sample_quantile(values: ArrayLike, q: float) -> float:
    """Return the smallest value x such that at least a share ``q`` of the values is at most x.

    Parameters
    ----------
    values
        Shape (n,), n >= 1; infinite values are allowed.
    q
        Level, 0 < q < 1.

    Raises
    ------
    InputError
        If ``q`` is not between 0 and 1, or there are no values.

    Examples
    --------
    >>> sample_quantile([1, 2, 3, 4], 0.5), sample_quantile([1, 2, 4, 8], 0.95)
    (2.0, 8.0)
    """
    q = checked(q)
    array = arguments.values(values, "values")
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"expected one value per run, got an array of shape {array.shape}")
    return float(np.sort(array)[_place(array.size, q)])


def _place(count: int, q: float) -> int:
    """Index of a quantile in sorted values, robust against rounding of ``q * count``."""
    return max(0, int(np.ceil(q * count * (1 - 1e-12))) - 1)


def quantile(values: ArrayLike, q: float) -> Interval:
    """Quantile of one value per run, with a distribution-free interval over runs.

    Parameters
    ----------
    values
        One value per run, shape (n,), n >= 1; infinite values are allowed.
    q
        Level, 0 < q < 1; see :func:`sample_quantile`.

    Returns
    -------
    Interval
        Its bounds are order statistics, which cover the true quantile with at least 95 % probability for any
        distribution. A bound is infinite if there are too few runs: the median needs six runs, and the upper bound
        of the quantile 0.95 needs 72.

    Raises
    ------
    InputError
        If ``q`` is not between 0 and 1, or there are no values.

    References
    ----------
    H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed., 2003, section 7.1.

    Examples
    --------
    >>> median = quantile([1, 2, 3, 4, 5, 6], 0.5)
    >>> median.estimate, median.low, median.high
    (3.0, 1.0, 6.0)
    """
    estimate = sample_quantile(values, q)
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = ordered.size
    tail = (1 - LEVEL) / 2
    # The number of values up to the true quantile has a binomial distribution.
    below = special.bdtr(np.arange(n), n, q)
    low = int(np.count_nonzero(below <= tail))
    high = n - int(np.count_nonzero(1 - below <= tail))
    return Interval(
        estimate, float(ordered[low - 1]) if low > 0 else -np.inf, float(ordered[high]) if high < n else np.inf, n
    )


def product_limit(values: NDArray[np.float64], at_least: NDArray[np.float64]) -> NDArray[np.float64]:
    """Product-limit (Kaplan-Meier) estimate of the probability of each value; zero for infinite values.

    An infinite value is censored at its bound; its weight goes to the larger values. The remainder to 1 is the
    probability above all bounds. The estimator assumes that values are independent of their bounds.

    References
    ----------
    E. L. Kaplan, P. Meier, J. Am. Stat. Assoc. 53 (1958) 457-481.
    """
    values = arguments.values(values, "values")
    if values.ndim != 1:
        raise InputError(f"expected values along one axis, got an array of shape {values.shape}")
    return _core.product_limit(arguments.shaped(at_least, "at_least", values.shape), np.isfinite(values))


def restricted_mean(values: NDArray[np.float64], at_least: NDArray[np.float64]) -> tuple[float, float]:
    """Mean of partly censored values, and its lower bound.

    Returns
    -------
    mean : float
        Mean; infinite if the largest bound belongs to a censored value.
    at_least : float
        Mean of the values restricted to the largest bound (J. O. Irwin, J. Hygiene 47 (1949) 188-189).
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
    """Quantile of the pooled values of all runs, with a confidence interval over runs.

    Values of one run are dependent, so that the interval is based on runs as units.

    Parameters
    ----------
    samples
        Values of each run; runs without values are ignored.
    q
        Level, 0 < q < 1; see :func:`sample_quantile`.
    at_least
        Lower bounds of the values; infinite values are censored at their bounds, see :func:`product_limit`.

    Returns
    -------
    Interval
        Estimate with its 95 % interval; ``n`` is the number of runs with values. A quantile above all finite values is
        infinite, and ``at_least`` is then the largest bound. A t test over runs (n - 1 degrees of freedom) tests
        whether a share ``q`` of the values is at most x. The interval contains all x that it does not reject. The share
        is a ratio of two sums over runs. Its variance is the maximum of three variances: of the share at x, of the
        share at the estimate, and of equally many independent values. A bound is infinite if no value on its side is
        rejected.

    Raises
    ------
    InputError
        If ``q`` is not between 0 and 1, or no run has values.

    References
    ----------
    R. S. Woodruff, J. Am. Stat. Assoc. 47 (1952) 635-646; C. A. Francisco, W. A. Fuller, Ann. Statist. 19 (1991)
    454-469.
    """
    q = checked(q)
    given = (arguments.values(run, "samples").ravel() for run in arguments.several(samples, "samples"))
    runs = [run for run in given if run.size]
    if not runs:
        raise InputError("expected values of at least one run")
    bounds = np.concatenate(runs)
    if at_least is not None:
        given = (arguments.values(run, "at_least").ravel() for run in arguments.several(at_least, "at_least"))
        bounds, values = np.concatenate([np.zeros(0), *given]), bounds
        if bounds.shape != values.shape:
            raise InputError(f"at_least: expected a bound for each of {values.size} values, got {bounds.size}")
    sizes = np.array([len(run) for run in runs])
    n, count = len(runs), bounds.size
    shares = np.split(count * product_limit(np.concatenate(runs), bounds), np.cumsum(sizes)[:-1])
    curves = [_Cumulative.of(run, share) for run, share in zip(runs, shares, strict=True)]
    values = np.unique(np.concatenate([curve.values for curve in curves]))

    def upto(place: int) -> NDArray[np.float64]:
        """Number of values of each run among the first ``place`` distinct values."""
        return np.array([curve.upto(float(values[place - 1])) if place else 0.0 for curve in curves])

    def variance(found: NDArray[np.float64]) -> float:
        spread = found - found.sum() / count * sizes
        return n / (n - 1) * float(spread @ spread)

    # The tolerance keeps rounding of the sums from skipping a value at which the share is met exactly.
    at = _steps(lambda place: float(upto(place + 1).sum()) < q * count * (1 - 1e-12), values.size)
    estimate, beyond = (float(values[at]), None) if at < values.size else (np.inf, float(bounds.max()))
    if n == 1:
        return Interval(estimate, -np.inf, np.inf, 1, beyond)
    reach = float(special.stdtrit(n - 1, (1 + LEVEL) / 2))
    least = max(q * (1 - q) * count, variance(upto(min(at + 1, values.size))))

    def is_open(place: int) -> bool:
        """Whether the test does not reject that the first ``place`` distinct values have a share q."""
        found = upto(place)
        gap = float(found.sum()) - q * count
        return gap * gap <= reach * reach * max(variance(found), least)

    low, high = -np.inf, np.inf
    if not is_open(0):
        place = at - _steps(lambda steps: is_open(at - steps), at)
        low = float(values[place]) if place < values.size else float(bounds.max())
    if at < values.size and not is_open(values.size):
        high = float(values[at + _steps(lambda steps: is_open(at + 1 + steps), values.size - at - 1)])
    return Interval(estimate, low, high, n, beyond)


@dataclass(frozen=True)
class _Cumulative:
    """Cumulative distribution of the finite values of a run: sorted values and cumulative weights."""

    values: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], shares: NDArray[np.float64]) -> _Cumulative:
        """Create it from values and their weights."""
        known = np.isfinite(values)
        order = np.argsort(values[known])
        return cls(values[known][order], np.concatenate([[0.0], np.cumsum(shares[known][order])]))

    def upto(self, value: float) -> float:
        """Weight of the values up to this one."""
        return float(self.sums[np.searchsorted(self.values, value, "right")])


def _steps(holds: Callable[[int], bool], most: int) -> int:
    """Smallest number of steps, 0 to ``most``, at which a monotone condition no longer holds."""
    first, last = -1, most
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if holds(middle) else (first, middle)
    return last
