"""Rule CURVE: depth and duration of a goodput dip after an event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Curves = NDArray[np.float64]

STEP_S = 0.1
"""Length of the intervals of the curve, in s."""
DIP_WITHIN_S = 1.0
SETTLE_RUN = 5
SETTLE_PCT = 90.0


def curves(goodput: NDArray[Any], event_s: float, end_s: float) -> NDArray[np.float64]:
    """Return one curve per run for the bootstrap, float64[runs, 1 + intervals].

    Parameters
    ----------
    goodput
        Bytes in intervals of 100 ms, shape (runs, intervals); interval i is (i T, (i + 1) T].
    event_s, end_s
        Event and end of the curve, in s; multiples of 100 ms.

    Returns
    -------
    ndarray
        Mean of the last second before the event, then the intervals after it, in bytes per interval.
    """
    before, first, last = (round(time_s / STEP_S) for time_s in (event_s - 1, event_s, end_s))
    level = goodput[:, before:first].sum(axis=1) * STEP_S
    return np.column_stack([level, goodput[:, first:last]])


def relative_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return mean curves of :func:`curves`, shape (k, 1 + m), in per cent of their level, shape (k, m)."""
    return 100 * mean[:, 1:] / mean[:, :1]


def dip_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 100 minus the minimum in the first second after the event, shape (k,), of mean curves (k, 1 + m)."""
    lowest: NDArray[np.float64] = relative_pct(mean)[:, : round(DIP_WITHIN_S / STEP_S)].min(axis=1)
    return 100 - lowest


def back_s(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the settling time of mean curves of :func:`curves`; see :func:`settle_s`."""
    return settle_s(relative_pct(mean))


def settle_s(pct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the settling time of the rule.

    Parameters
    ----------
    pct
        Goodput in intervals of 100 ms after the event, in per cent of the second before it; shape (k, m).

    Returns
    -------
    ndarray
        Time in s, shape (k,), from the event to the first of five successive intervals at or above 90. If there is no
        such interval, the time to the end of the curve.
    """
    windows = np.lib.stride_tricks.sliding_window_view(pct >= SETTLE_PCT, SETTLE_RUN, axis=1)
    settled: NDArray[np.bool_] = np.all(windows, axis=2)
    result: NDArray[np.float64] = np.where(np.any(settled, axis=1), settled.argmax(axis=1), pct.shape[1]) * STEP_S
    return result
