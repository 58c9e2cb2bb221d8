"""Goodput over time, as Figs 10, 12 and 18 and section 7 show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers.model import Series

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.model import Key


def mean_goodput(
    goodput: NDArray[np.int64], interval_s: float, access_bps: float, key: Key, shown_s: tuple[float, float]
) -> Series:
    """Mean over seeds in per cent of the access bandwidth, with 95 % intervals where there are several.

    Parameters
    ----------
    goodput
        Bytes, int64[seeds, intervals]; interval i is (i T, (i + 1) T].
    interval_s
        T of equation 4.
    key
        Of the curve.
    shown_s
        From when to when; multiples of T.
    """
    first, last = (round(instant / interval_s) for instant in shown_s)
    pct = 100 * 8 * goodput[:, first:last] / (interval_s * access_bps)
    found = [stats.mean(values) for values in pct.T]
    return Series(
        "mean over seeds",
        key,
        *("time", "s", "goodput", "% of access bandwidth"),
        # A value of equation 4 belongs to the end of its interval.
        x=[round((index + 1) * interval_s, 6) for index in range(first, last)],
        y=[round(one.estimate, 2) for one in found],
        ci95=[(round(one.low, 2), round(one.high, 2)) for one in found] if len(goodput) > 1 else [],
    )
