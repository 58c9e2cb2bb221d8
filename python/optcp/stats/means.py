"""Means of replicated runs: intervals, paired comparisons, equivalence, Holm's correction.

Every function takes plain arrays with one value per run (a seed) and returns plain numbers. Quantiles of distributions
come from ``scipy.special``; ``scipy.stats`` takes 1.6 s to import and is not needed. The page
``docs/details/statistics.md`` lists the simulated coverage of each interval and the simulated error rate of each test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp.common import arguments
from optcp.errors import InputError
from optcp.stats.autocorrelation import effective_number
from optcp.stats.signflip import sign_flip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-12
"""Relative difference below which values count as equal."""
FEWEST_FOR_DEVIATION = 5
"""Minimum number of runs for the interval of a standard deviation (Bonett divides by n minus a quantile of t)."""


@dataclass(frozen=True)
class Interval:
    """Estimate with its confidence interval.

    Attributes
    ----------
    estimate, low, high
        Estimate and ends of the interval, in the unit of the values. The ends are infinite if the runs are too few or
        do not vary.
    n
        Number of runs.
    at_least
        Lower bound of an infinite estimate, else None. Censored values, such as completion times of unfinished flows,
        are infinite.
    repeated
        Whether every seed gives the same run; the estimate then has neither error nor interval.
    """

    estimate: float
    low: float
    high: float
    n: int
    at_least: float | None = None
    repeated: bool = False

    @property
    def half_width(self) -> float:
        """Half the length of the interval; 0 for repeated runs."""
        return 0.0 if self.repeated else (self.high - self.low) / 2

    def times(self, factor: float) -> Interval:
        """Return the interval multiplied by a factor, for example shares in per cent."""
        at_least = None if self.at_least is None else factor * self.at_least
        return Interval(factor * self.estimate, factor * self.low, factor * self.high, self.n, at_least, self.repeated)

    def within(self, least: float, greatest: float) -> Interval:
        """Return the interval cut at the bounds of the quantity; infinite ends stay infinite.

        The coverage does not change, because the true value lies within its bounds.
        """
        low, high = (float(np.clip(end, least, greatest)) if np.isfinite(end) else end for end in (self.low, self.high))
        return replace(self, low=low, high=high)


@dataclass(frozen=True)
class Comparison:
    """Difference with its interval and p-value.

    Attributes
    ----------
    interval
        Difference with its 95 % interval.
    p
        Two-sided p-value of the hypothesis of no difference.
    """

    interval: Interval
    p: float

    def times(self, factor: float) -> Comparison:
        """Return the comparison with its difference multiplied by a factor."""
        return Comparison(self.interval.times(factor), self.p)


def exact(value: float) -> Interval:
    """Return an exact value as an interval."""
    return Interval(value, value, value, 1)


def _values(values: ArrayLike) -> NDArray[np.float64]:
    array = arguments.values(values, "values")
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"expected one value per run, got an array of shape {array.shape}")
    return array


def _level(level: float) -> float:
    return arguments.between(level, "level", 0, 1)


def _error(array: NDArray[np.float64], batches: bool) -> tuple[float, float]:
    """Return the standard error of a mean of at least two values, and its degrees of freedom; 0 if constant."""
    n = array.size
    worth = effective_number(array) if batches else float(n)
    if not float(np.ptp(array)) > ROUNDING * float(np.abs(array).max()):
        return 0.0, worth - 1
    # The sample variance of correlated values underestimates the variance of the process (Bayley and Hammersley, 1946).
    variance = float(array.var(ddof=1)) * (n - 1) / (n * (worth - 1))
    return float(np.sqrt(variance)), worth - 1


def mean(values: ArrayLike, level: float = 0.95, *, batches: bool = False) -> Interval:
    """Return the mean with Student's t interval over runs.

    Parameters
    ----------
    values
        One value per run, shape (n,), n >= 1.
    level
        Confidence level.
    batches
        Whether values are successive batch means of one run: :mod:`optcp.stats.autocorrelation`.

    Returns
    -------
    Interval
        Unbounded for a single run or equal values, whose spread is unknown.

    Raises
    ------
    InputError
        If there is no value.

    Notes
    -----
    Law, Simulation Modeling and Analysis, 5th ed., section 4.5, equation 4.12. The interval is exact for normal values.
    For skewed ones it covers less: of exponential values 88, 90 and 93 % at n = 5, 10 and 40. No interval of a mean
    covers all distributions (Bahadur and Savage, Ann. Math. Statist. 27 (1956) 1115-1122). Intervals of the median do
    (:func:`optcp.stats.quantiles.quantile`).
    """
    array, level = _values(values), _level(level)
    batches = arguments.flag(batches, "batches")
    n = array.size
    if not np.isfinite(array).all():
        # Censored: only a lower bound of the mean is known.
        return Interval(np.inf, -np.inf, np.inf, n)
    centre = float(array.mean())
    error, freedom = _error(array, batches) if n > 1 else (0.0, 0.0)
    if error == 0:
        return Interval(centre, -np.inf, np.inf, n)
    reach = float(special.stdtrit(freedom, 0.5 + level / 2)) * error
    return Interval(centre, float(centre - reach), float(centre + reach), n)


def _tail(array: NDArray[np.float64], batches: bool) -> float:
    """Return the one-sided p-value of a mean under the hypothesis of a zero mean.

    The result is the larger p-value of two tests. Student's t test is exact for normal values. The sign-flip test is
    exact for all symmetric values, including counts and clusters. For batches, which are dependent, the sign-flip test
    contributes only its smallest possible p-value.
    """
    error, freedom = _error(array, batches)
    centre = float(array.mean())
    student = float(special.stdtr(freedom, -abs(centre) / error)) if error > 0 else 0.0 if centre else 0.5
    return max(student, float(2.0 ** -np.count_nonzero(array)) if batches else sign_flip(array))


def paired(first: ArrayLike, second: ArrayLike, *, batches: bool = False) -> Comparison:
    """Test the paired difference ``first - second`` by Student's t and the sign-flip test (rule PAIRED).

    Parameters
    ----------
    first, second
        One value per seed, shape (n,), with the same seeds in the same order and common random numbers.
    batches
        As for :func:`mean`.

    Returns
    -------
    Comparison
        Mean difference with its 95 % t interval, and the larger of the p-values of the paired t test and of the
        sign-flip test. The latter is at least 2^(1 - m) for m non-zero differences: five equal differences are not
        significant (p = 0.06), six are (p = 0.03). With one seed, p = 1.

    Notes
    -----
    R. A. Fisher, The Design of Experiments, 1935, section 21; E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937)
    119-130.
    """
    one, other = _values(first), _values(second)
    if one.shape != other.shape:
        raise InputError(f"paired values need the same seeds, got {one.size} and {other.size}")
    with np.errstate(invalid="ignore"):
        # The difference of censored values is unknown, and so is the mean difference.
        difference = one - other
        rounding = np.abs(difference) <= ROUNDING * np.maximum(np.abs(one), np.abs(other))
        difference[rounding & np.isfinite(difference)] = 0
    interval = mean(difference, batches=batches)
    if difference.size == 1 or not np.isfinite(interval.estimate):
        return Comparison(interval, 1.0)
    return Comparison(interval, min(1.0, 2 * _tail(difference, batches)))


def runs_to_decide(difference: ArrayLike, level: float = 0.05, power: float = 0.8) -> float:
    """Return the number of runs that would make the observed paired difference significant.

    Parameters
    ----------
    difference
        One paired difference per seed, shape (n,), n >= 2.
    level
        Two-sided level of the test.
    power
        Probability that this number of runs decides.

    Returns
    -------
    float
        Number of runs; infinite if the mean difference is zero.

    Notes
    -----
    Normal approximation with both errors: A. M. Law, Simulation Modeling and Analysis, 5th ed., section 9.4.1.
    """
    array, level, power = _values(difference), _level(level), arguments.between(power, "power", 0, 1)
    if array.size == 1:
        raise InputError("expected the differences of 2 or more seeds, got 1")
    gap, spread = float(array.mean()), float(array.std(ddof=1))
    if gap == 0:
        return float("inf")
    return float(((special.ndtri(1 - level / 2) + special.ndtri(power)) * spread / gap) ** 2)


@dataclass(frozen=True)
class Equivalence:
    """Result of an equivalence test (rule EQUIV).

    Attributes
    ----------
    inside
        Whether the mean lies within the margin.
    p
        If inside: larger p-value of two one-sided tests, below 0.05 only if the 90 % interval lies within the margin.
        Otherwise: two-sided p-value against the nearer edge, below 0.05 only if the 95 % interval lies outside.
    interval
        Mean difference with its 95 % interval.
    """

    inside: bool
    p: float
    interval: Interval

    def holds(self, level: float = 0.05) -> bool | None:
        """Return True or False, or None if undecided at this level."""
        return self.inside if self.p < level else None


def equivalent(difference: ArrayLike, margin: float, *, batches: bool = False) -> Equivalence:
    """Test a paired difference against ``+-margin`` by two one-sided tests (rule EQUIV).

    Each test is the same as in :func:`paired`.

    Parameters
    ----------
    difference
        One paired difference per seed, shape (n,).
    margin
        Largest difference that counts as equivalent, in the unit of the values, > 0.
    batches
        As for :func:`mean`.

    Notes
    -----
    D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657-680.
    """
    array, margin = _values(difference), arguments.number(margin, "margin")
    interval = mean(array, batches=batches)
    inside = abs(interval.estimate) < margin
    if array.size == 1:
        return Equivalence(inside, 1.0, interval)
    below, above = _tail(array - margin, batches), _tail(array + margin, batches)
    if inside:
        return Equivalence(inside, max(below, above), interval)
    return Equivalence(inside, min(1.0, 2 * (below if interval.estimate > 0 else above)), interval)


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Return Kendall's rank correlation of two rankings; ties count neither way.

    Notes
    -----
    M. G. Kendall, Biometrika 30 (1938) 81-93.
    """
    one, other = _values(first), _values(second)
    if one.shape != other.shape:
        raise InputError(f"expected two rankings of equal length, got {one.size} and {other.size}")
    upper = np.triu_indices(one.size, k=1)
    agree = np.sign(one[:, None] - one)[upper] * np.sign(other[:, None] - other)[upper]
    return float(agree.mean())


def holm(p_values: Sequence[float], alpha: float = 0.05) -> list[bool]:
    """Return which tests reject under Holm's step-down correction, with familywise level ``alpha``.

    Notes
    -----
    S. Holm, Scand. J. Statist. 6 (1979) 65-70.
    """
    p_values = [arguments.number(p, "p_values") for p in arguments.several(p_values, "p_values")]
    alpha = _level(alpha)
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] > alpha / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


def normal_fit(values: ArrayLike) -> tuple[float, float]:
    """Return mean and sample standard deviation (n - 1), for the normal fit of a histogram."""
    array = _values(values)
    return float(array.mean()), float(array.std(ddof=1)) if array.size > 1 else 0.0


def deviation(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the sample standard deviation with Bonett's interval, which allows for non-normal tails.

    Returns
    -------
    Interval
        From 0 to infinity with fewer than five runs, or if values are constant.

    Notes
    -----
    D. G. Bonett, Comput. Stat. Data Anal. 50 (2006) 775-782, with a quantile of Student's t for the normal one. It
    covers 95 % of normal values and 88 to 94 % of exponential ones from n = 10 on.
    """
    array, level = _values(values), _level(level)
    _, sd = normal_fit(array)
    n = array.size
    if n < FEWEST_FOR_DEVIATION or _error(array, batches=False)[0] == 0:
        return Interval(sd, 0.0, np.inf, n)
    reach = float(special.stdtrit(n - 1, 0.5 + level / 2))
    # The mean without a share of 1 / (2 sqrt(n - 4)) of the values at either end; of five values the median.
    cut = int(n / (2 * np.sqrt(n - 4)))
    middle = float(np.sort(array)[cut : n - cut].mean())
    squares = float(np.square(array - array.mean()).sum())
    tails = n * float(np.power(array - middle, 4).sum()) / squares**2
    factor = n / (n - reach)
    error = factor * np.sqrt((tails - (n - 3) / n) / (n - 1))
    centre = sd * np.sqrt(factor)
    return Interval(sd, float(centre * np.exp(-reach * error / 2)), float(centre * np.exp(reach * error / 2)), n)
