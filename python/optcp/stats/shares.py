"""Shares of runs: exact intervals, and tests against a value, a published share and paired answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from optcp.common import arguments
from optcp.errors import InputError
from optcp.stats.means import Comparison, Interval, _level, _values, paired

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


MOST_RUNS = 2**53
"""Maximum integer that floating-point numbers represent exactly."""


def _runs(n: object, name: str) -> int:
    return arguments.whole(n, name, 1, MOST_RUNS)


def share(successes: float, n: int, level: float = 0.95) -> Interval:
    """Return a share with its exact interval (rule SHARE).

    Parameters
    ----------
    successes
        Number of successful runs; fractional if ties share a run.
    n
        Number of all runs, >= 1.

    Returns
    -------
    Interval
        Share from 0 to 1; the coverage is at least ``level`` for any true share.

    Notes
    -----
    C. J. Clopper, E. S. Pearson, Biometrika 26 (1934) 404-413.
    """
    n, successes, level = _runs(n, "n"), arguments.number(successes, "successes"), _level(level)
    if not 0 <= successes <= n:
        raise InputError(f"a share needs 0 <= successes <= n and n >= 1, got {successes} of {n}")
    tail, part = (1 - level) / 2, successes / n
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(special.betaincinv(successes + 1, n - successes, 1 - tail))
    # The inverse is inexact close to 0 and 1.
    return Interval(part, min(low, part), max(high, part), n)


def share_against(successes: float, n: int, value: float) -> Comparison:
    """Test a share against a fixed value, 0 < value < 1, by the exact binomial test, consistent with :func:`share`.

    Returns
    -------
    Comparison
        ``interval`` is of ``share - value``; ``p`` is twice the smaller tail of the binomial distribution.
    """
    interval, value = share(successes, n), arguments.between(value, "value", 0, 1)
    least = 1.0 if successes == 0 else float(special.betainc(successes, n - successes + 1, value))
    most = 1.0 if successes == n else float(special.betaincc(successes + 1, n - successes, value))
    shifted = Interval(interval.estimate - value, interval.low - value, interval.high - value, n)
    return Comparison(shifted, min(1.0, 2 * min(least, most)))


def _wilson(part: float, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % score interval, for Newcombe's interval of a difference."""
    z = float(special.ndtri(0.975))
    centre = (part + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * float(np.sqrt(part * (1 - part) / n + z * z / (4 * n * n)))
    # For a share of 0 or 1, rounding must not move the end beyond the estimate.
    return (0.0 if part == 0 else max(0.0, centre - reach)), (1.0 if part == 1 else min(1.0, centre + reach))


def two_shares(successes: float, n: int, printed: float, printed_n: int) -> Comparison:
    """Test a simulated share against a published one, both with sampling errors, by Fisher's exact test.

    Parameters
    ----------
    successes, n
        Simulated: number of successful runs and of all runs.
    printed
        Published share, 0 to 1.
    printed_n
        Number of runs of the published value.

    Returns
    -------
    Comparison
        ``interval`` is Newcombe's hybrid score interval of the simulated minus the published share. ``p`` is twice the
        smaller tail of Fisher's exact test, with counts rounded to whole runs.

    Notes
    -----
    R. G. Newcombe, Statist. Med. 17 (1998) 873-890, method 10. R. A. Fisher, J. R. Stat. Soc. 98 (1935) 39-82.
    """
    measured, printed_n = share(successes, n).estimate, _runs(printed_n, "printed_n")
    printed = share(arguments.number(printed, "printed") * printed_n, printed_n).estimate
    (low_one, high_one), (low_other, high_other) = _wilson(measured, n), _wilson(printed, printed_n)
    gap = measured - printed
    low = gap - float(np.hypot(measured - low_one, high_other - printed))
    high = gap + float(np.hypot(high_one - measured, printed - low_other))
    count, total = round(successes), round(successes) + round(printed * printed_n)
    possible = np.arange(max(0, total - printed_n), min(n, total) + 1)
    logs = _log_choose(n, possible) + _log_choose(printed_n, total - possible) - _log_choose(n + printed_n, total)
    chances = np.exp(logs)
    tails = float(chances[possible <= count].sum()), float(chances[possible >= count].sum())
    return Comparison(Interval(gap, low, high, n), min(1.0, 2 * min(tails)))


def _log_choose(of: ArrayLike, many: ArrayLike) -> NDArray[np.float64]:
    whole, part = np.asarray(of, dtype=np.float64), np.asarray(many, dtype=np.float64)
    found: NDArray[np.float64] = (
        special.gammaln(whole + 1) - special.gammaln(part + 1) - special.gammaln(whole - part + 1)
    )
    return found


def mcnemar(first: ArrayLike, second: ArrayLike) -> Comparison:
    """Compare two yes/no answers per seed by the exact McNemar test.

    Parameters
    ----------
    first, second
        Booleans, shape (n,), the same seeds in the same order.

    Returns
    -------
    Comparison
        ``interval`` is the difference of the two shares with the paired t interval (for reading). ``p`` is the exact
        two-sided binomial p-value over the seeds on which the answers differ, 1 without such seeds.

    Notes
    -----
    A. Agresti, Categorical Data Analysis, 3rd ed., section 11.1.
    """
    one, other = _values(first) != 0, _values(second) != 0
    if one.shape != other.shape:
        raise InputError(f"paired values need the same seeds, got {one.size} and {other.size}")
    gain, loss = int(np.sum(one & ~other)), int(np.sum(~one & other))
    interval = paired(one.astype(np.float64), other.astype(np.float64)).interval
    if gain + loss == 0:
        return Comparison(interval, 1.0)
    tail = float(special.bdtr(min(gain, loss), gain + loss, 0.5))
    return Comparison(interval, min(1.0, 2 * tail))
