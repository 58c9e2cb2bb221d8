"""Goodput in a window of time, from series per interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def bytes_between(goodput: NDArray[np.int64], interval_s: float, start_s: float, end_s: float) -> NDArray[np.int64]:
    """Bytes in (start, end], the numerator of the gmpls paper's equation 5.

    Parameters
    ----------
    goodput
        Bytes, int64[..., intervals]; interval i is (i T, (i + 1) T].
    interval_s
        T.
    start_s, end_s
        Multiples of T.

    Returns
    -------
    int64[...]
        The last axis summed over the window.
    """
    first, last = (round(instant / interval_s) for instant in (start_s, end_s))
    total: NDArray[np.int64] = goodput[..., first:last].sum(axis=-1)
    return total
