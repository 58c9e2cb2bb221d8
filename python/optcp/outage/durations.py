"""Durations of failures, as named distributions, and their effect on the availability of the network.

Model
-----
A failure of duration T breaks a path for min(T, o), where o is the recovery time of the mechanism. Durations are
independent of links and flows. ``lasting`` is the assumption without a distribution: T exceeds every o.

References
----------
M. Mao, Z. Wen, K. L. Yeung, ICC 2012, section I, after Z. Zhong et al., INFOCOM 2005: 46 % of failures last less than
one minute, and 86 % less than ten minutes.

Limitations
-----------
Two points determine a log-normal distribution, and say nothing about its tail. The number of failures in a year is a
separate parameter. Values of TCP are bounds, because no run has a failure that ends before the recovery.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_NORMAL = NormalDist()


@dataclass(frozen=True)
class LogNormal:
    """Log-normal distribution of durations.

    Attributes
    ----------
    mu, sigma
        Mean and standard deviation of the natural logarithm of the duration in s.
    """

    mu: float
    sigma: float

    @classmethod
    def through(cls, short: tuple[float, float], long: tuple[float, float]) -> LogNormal:
        """Return the distribution with two given points.

        Parameters
        ----------
        short, long
            Duration in s, and the share of failures that are shorter.
        """
        (first_s, first_share), (second_s, second_share) = short, long
        first, second = _NORMAL.inv_cdf(first_share), _NORMAL.inv_cdf(second_share)
        sigma = math.log(second_s / first_s) / (second - first)
        return cls(math.log(first_s) - sigma * first, sigma)

    @property
    def mean_s(self) -> float:
        """Mean duration in s."""
        return math.exp(self.mu + self.sigma**2 / 2)

    @property
    def median_s(self) -> float:
        """Median duration in s."""
        return math.exp(self.mu)

    def shorter(self, seconds: float) -> float:
        """Return the share of failures that are shorter than a duration."""
        return _NORMAL.cdf((math.log(seconds) - self.mu) / self.sigma) if seconds > 0 else 0.0

    def broken_s(self, recovery_s: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of min(T, recovery time), in s."""
        recovery = np.asarray(recovery_s, dtype=float)
        broken = [self._broken_s(one) for one in recovery.ravel().tolist()]
        return np.array(broken, dtype=float).reshape(recovery.shape)

    def _broken_s(self, recovery_s: float) -> float:
        if recovery_s <= 0:
            return 0.0
        below = _NORMAL.cdf((math.log(recovery_s) - self.mu) / self.sigma - self.sigma)
        return self.mean_s * below + recovery_s * (1 - self.shorter(recovery_s))


MINUTE_S, TEN_MINUTES_S = 60.0, 600.0

DURATIONS: dict[str, LogNormal | None] = {
    "lasting": None,
    "backbone": LogNormal.through((MINUTE_S, 0.46), (TEN_MINUTES_S, 0.86)),
}
"""Named distributions; ``None``: every failure outlasts the recovery."""
