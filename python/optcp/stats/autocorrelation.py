"""Values that follow each other in one run, such as means of its batches, and how many independent ones they are worth.

# Models

A first-order process: each value resembles the one before it, and through it those further back.

# Source

G. V. Bayley, J. M. Hammersley, "The 'effective' number of independent observations in an autocorrelated time series",
Suppl. J. R. Stat. Soc. 8 (1946) 184-197; for the bias M. G. Kendall, Biometrika 41 (1954) 403-404.

# Parameters

None.

# Limits

The correlation is itself estimated from the values. Of 20 values with a true lag-1 correlation of 0, 0.4, 0.6 and 0.8
the 95 % interval that rests on this covers the mean in 97, 92, 92 and 88 of 100 cases (of 10 values in 97, 91, 86 and
77); one for independent values does so in 96, 80, 66 and 45 (95, 81, 69 and 49).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 4.0
"""Values are never said to be worth less. With fewer intervals become three times as wide, and cover hardly more."""


def lag_one(values: NDArray[np.float64]) -> float:
    """Lag-1 correlation of values in the order of time; 0 where they do not vary.

    Notes
    -----
    G. E. P. Box, G. M. Jenkins, Time Series Analysis, 1970, section 2.1.5.
    """
    deviation = values - values.mean()
    total = float(deviation @ deviation)
    return float(deviation[:-1] @ deviation[1:]) / total if total > 0 else 0.0


def effective_number(values: NDArray[np.float64]) -> float:
    """How many independent values would tell the mean as well, from :data:`FEWEST` to their number.

    Parameters
    ----------
    values
        In the order of time, shape (n,), n >= 2. Up to :data:`FEWEST` are taken for independent.
    """
    n = values.size
    found = lag_one(values)
    # An estimate from few values is too low by so much on average. Below zero it is taken for chance.
    correlation = min(max(found + (1 + 4 * found) / n, 0.0), 1.0)
    lags = np.arange(1, n)
    worth = n / (1 + 2 * float(np.sum((1 - lags / n) * correlation**lags)))
    return max(worth, min(FEWEST, float(n)))
