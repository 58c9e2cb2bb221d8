"""Goodput around an event, as sections 6 to 8 compare it: over time, in a window, and by the rule CURVE."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Cells, Estimates, Found, Part, Series, StudyResult, curve, judge, over_time
from optcp.stats import resampling

Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


Window = tuple[float, float]
"""Time window (start, end], in s."""


@dataclass(frozen=True)
class Goodput:
    """Goodput of every parameter combination of a grid.

    Attributes
    ----------
    cells
        Bytes per interval, over the grid's axes and ``time``.
    window_s
        Compared window: the first 1.5 s after the event.
    end_s
        End of the curves over time.
        Rate of the access links.
    """

    cells: Cells
    window_s: Window
    end_s: float
    access_bps: float

    @classmethod
    def of(cls, found: Found, grid: str, window_s: Window, end_s: float) -> Goodput:
        """Read the goodput of a grid's runs."""
        access_bps = found.number("access_share") * found.number("backbone_bps")
        return cls(found.done[grid].once(read), window_s, end_s, access_bps)

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.cells.seeds)

    @functools.cached_property
    def good(self) -> Cells:
        """Bytes in the window: the numerator of equation 5."""
        return self.cells.between(*self.window_s)

    def part(self, **where: tuple[str | float, ...]) -> Goodput:
        """Return the goodput of some values of the axes."""
        return replace(self, cells=self.cells.part(**where))

    def access_pct(self, window_s: Window | None = None) -> Cells:
        """Return the goodput in a window, in % of the capacity of the access links."""
        start_s, end_s = window_s or self.window_s
        return 100 * 8 * self.cells.between(start_s, end_s) / ((end_s - start_s) * self.access_bps)

    def curves(self, **cell: str | float) -> NDArray[np.float64]:
        """Return the curves of one combination from the event on, for the rule CURVE."""
        return self._curves(self.cells.at(**cell).values)

    def _curves(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return curve.curves(values.astype(np.int64), self.window_s[0], self.end_s)

    def falls(self) -> dict[str, Estimates]:
        """Return depth and settling time of each combination's dip (rule CURVE), with bootstrap intervals."""
        (*axes, _) = self.cells.axes
        by_cell = np.moveaxis(self.cells.values, 0, -2)

        def each(statistic: Statistic) -> Estimates:
            def interval_at(at: tuple[int, ...]) -> stats.Interval:
                estimate, samples = resampling.bootstrap(self._curves(by_cell[at]), statistic)
                return resampling.percentile(samples, estimate, self.seeds)

            return Estimates.of(tuple(axes), interval_at, self.seeds)

        return {"dip_pct": each(curve.dip_pct), "settle_s": each(curve.back_s)}

    def over_time(self, **cell: str | int) -> list[Series]:
        """Return the mean over seeds in % of the access bandwidth, from 1 s before the event."""
        pct = 100 * 8 * self.cells.at(**cell) / (curve.STEP_S * self.access_bps)
        labels = ("time", "s", "goodput", "% of access bandwidth")
        return over_time(pct, dict(cell), labels, 2, shown_s=(self.window_s[0] - 1, self.end_s))


def read(done: StudyResult) -> Cells:
    """Return the bytes per interval over the axes and ``time``; experiments share the result (``StudyResult.once``)."""
    return done["goodput"].cells().at(group="switched")


def trend(name: str, cells: Cells, side: Literal["up", "down"], unit: str) -> list[Part]:
    """Judge TREND along the only axis of the values, which is in milliseconds."""
    (axis,) = cells.axes
    return judge.trend_parts(name, [f"{value} ms" for value in axis.values], list(cells.values.T), side, unit)
