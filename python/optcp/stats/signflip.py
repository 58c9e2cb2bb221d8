"""The sign-flip test of paired differences.

# Model

Without an effect a difference is as likely as its negative. So every choice of signs of the differences is equally
likely, and the share of choices whose sum is at least as far from zero as the observed one is an exact p-value.

# References

R. A. Fisher, The Design of Experiments, 1935, section 21. E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937) 119-130.

# Limitations

With more than :data:`MOST` differences that are not zero only the smallest possible p-value is returned: with so many
Student's t test is close to the sign-flip test.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 12
"""Differences of which all choices of signs are computed, 2^11 up to a common sign."""


@functools.cache
def _signs(count: int) -> NDArray[np.float64]:
    """Every choice of signs up to a common one, shape (2^(count - 1), count)."""
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    signs: NDArray[np.float64] = np.where(bits == 1, -1.0, 1.0)
    return signs


def sign_flip(differences: NDArray[np.float64]) -> float:
    """One-sided p-value of the sum of differences; zeros do not count.

    Parameters
    ----------
    differences
        One per seed, shape (n,).

    Returns
    -------
    float
        The share of the choices of signs whose sum is at least as far on the side of the observed one; at least 2^-m
        for m differences that are not zero.
    """
    given = differences[differences != 0]
    if given.size == 0:
        return 1.0
    if given.size > MOST:
        return float(2.0**-given.size)
    sums = np.abs(_signs(given.size) @ given)
    # Sums that are equal but for rounding count.
    as_far = sums >= abs(float(given.sum())) - 1e-9 * float(np.abs(given).sum())
    return float(np.count_nonzero(as_far) * 2.0**-given.size)
