"""Sign-flip test of paired differences.

# Model

Without an effect a difference is as likely as its negative, so every choice of signs of the differences is equally
likely. The exact p-value is the share of choices whose sum is at least as far from zero as the observed one.

# References

R. A. Fisher, The Design of Experiments, 1935, section 21. E. J. G. Pitman, Suppl. J. R. Stat. Soc. 4 (1937) 119-130.

# Limitations

With more than :data:`MOST` differences that are not zero, only the smallest possible p-value is returned. Student's t
test is then close to the sign-flip test.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 12
"""Maximum number of differences for which all sign choices are enumerated, 2^11 up to a common sign."""


@functools.cache
def _signs(count: int) -> NDArray[np.float64]:
    """Return all sign choices up to a common sign, shape (2^(count - 1), count)."""
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    signs: NDArray[np.float64] = np.where(bits == 1, -1.0, 1.0)
    return signs


def sign_flip(differences: NDArray[np.float64]) -> float:
    """Return the one-sided p-value of the sum of differences, ignoring zeros.

    Parameters
    ----------
    differences
        One difference per seed, shape (n,).

    Returns
    -------
    float
        Share of sign choices whose sum is at least as large on the observed side; at least 2^-m for m non-zero
        differences.
    """
    nonzero = differences[differences != 0]
    if nonzero.size == 0:
        return 1.0
    if nonzero.size > MOST:
        return float(2.0**-nonzero.size)
    sums = np.abs(_signs(nonzero.size) @ nonzero)
    # The tolerance includes sums that are equal except for rounding.
    as_far = sums >= abs(float(nonzero.sum())) - 1e-9 * float(np.abs(nonzero).sum())
    return float(np.count_nonzero(as_far) * 2.0**-nonzero.size)
