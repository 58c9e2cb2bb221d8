"""The rule CURVE: how deep goodput falls after an event, and how soon it is back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Curves = NDArray[np.float64]

STEP_S = 0.1
"""Length of the curve's intervals."""
DIP_WITHIN_S = 1.0
SETTLE_RUN = 5
SETTLE_PCT = 90.0


def curves(goodput: NDArray[Any], event_s: float, end_s: float) -> NDArray[np.float64]:
    """One curve a run in the form that the bootstrap resamples, float64[runs, 1 + intervals].

    Parameters
    ----------
    goodput
        Bytes in intervals of 100 ms, shape (runs, intervals); interval i is (i T, (i + 1) T].
    event_s, end_s
        From the event to the end of the curve; multiples of 100 ms.

    Returns
    -------
    ndarray
        The mean of the last second before the event, then the intervals after it, in bytes an interval.
    """
    before, first, last = (round(instant / STEP_S) for instant in (event_s - 1, event_s, end_s))
    level = goodput[:, before:first].sum(axis=1) * STEP_S
    return np.column_stack([level, goodput[:, first:last]])


def relative_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean curves of the form of :func:`curves`, shape (k, 1 + m), in per cent of their level, shape (k, m)."""
    return 100 * mean[:, 1:] / mean[:, :1]


def dip_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """100 minus the lowest interval in the first second after the event, of mean curves (k, 1 + m), shape (k,)."""
    lowest: NDArray[np.float64] = relative_pct(mean)[:, : round(DIP_WITHIN_S / STEP_S)].min(axis=1)
    return 100 - lowest


def back_s(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """When mean curves of the form of :func:`curves` have settled: see :func:`settle_s`."""
    return settle_s(relative_pct(mean))


def settle_s(pct: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rule's settle.

    Parameters
    ----------
    pct
        Goodput in intervals of 100 ms from the event on, in per cent of the second before it; shape (k, m).

    Returns
    -------
    ndarray
        Seconds from the event to the first of five intervals in a row at or above 90, shape (k,); to the end of the
        curve where there are none.
    """
    windows = np.lib.stride_tricks.sliding_window_view(pct >= SETTLE_PCT, SETTLE_RUN, axis=1)
    settled: NDArray[np.bool_] = np.all(windows, axis=2)
    result: NDArray[np.float64] = np.where(np.any(settled, axis=1), settled.argmax(axis=1), pct.shape[1]) * STEP_S
    return result
