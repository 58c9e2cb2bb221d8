"""Right-censored values: some are only known to exceed a lower bound, because the run ended first.

Quantiles and means treat them as docs/reference/metrics.md describes for completion times. A censored value is neither
replaced by its bound nor omitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.stats.quantiles import pooled_quantile, restricted_mean, sample_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from optcp.data.axes import Axis
    from optcp.data.cells import Cells
    from optcp.scenarios.run import Run
    from optcp.study import StudyResult

Bounded = tuple[float, float]
"""Value and lower bound. Both are equal if the value is known; a censored value is infinite, an undefined one NaN."""
UNDEFINED: Bounded = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Censored:
    """One value per flow, some of them censored by the end of the run.

    Attributes
    ----------
    at_least : array of shape (flows,)
        Known value or lower bound.
    known : array of shape (flows,)
        Whether the value is known.
    informative
        Whether censoring is informative, as for completion times relative to a run without failure: a large flow has a
        small ratio and a small bound. Estimators must then not redistribute its weight. A quantile is known only if it
        does not depend on the censored values, and a mean only without censored values.

    Examples
    --------
    >>> Censored(np.array([1.0, 2.0, 3.0]), np.array([True, True, False])).quantile(0.9)
    (inf, 3.0)
    """

    at_least: NDArray[np.float64]
    known: NDArray[np.bool_]
    informative: bool = False

    @property
    def values(self) -> NDArray[np.float64]:
        """Values, infinite if censored; shape (flows,)."""
        return np.where(self.known, self.at_least, np.inf)

    @property
    def cut(self) -> int:
        """Number of censored values."""
        return int((~self.known).sum())

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Censored:
        return Censored(self.at_least[chosen], self.known[chosen], self.informative)

    def over(self, others: NDArray[np.float64]) -> Censored:
        """Divide by the values of the same flows in another run, shape (flows,); censoring becomes informative."""
        return Censored(self.at_least / others, self.known, informative=True)

    def quantile(self, q: float) -> Bounded:
        """Return a quantile (:func:`optcp.stats.quantiles.pooled_quantile`); undefined without flows."""
        if not self.known.size:
            return UNDEFINED
        if self.informative:
            low, high = (sample_quantile(values, q) for values in (self.at_least, self.values))
            return (low if low == high else np.inf), low
        found = pooled_quantile([self.values], q, [self.at_least])
        return found.estimate, found.estimate if found.at_least is None else found.at_least

    def mean(self) -> Bounded:
        """Return the mean (:func:`optcp.stats.quantiles.restricted_mean`); undefined without flows."""
        if not self.known.size:
            return UNDEFINED
        if self.informative:
            return float(self.values.mean()), float(self.at_least.mean())
        return restricted_mean(self.values, self.at_least)

    def total(self) -> Bounded:
        """Return the sum, with the sum of the bounds as lower bound."""
        return float(self.values.sum()), float(self.at_least.sum())


def each(
    done: StudyResult,
    function: Callable[[Run], Bounded | Sequence[Bounded] | Sequence[Sequence[Bounded]]],
    *more: Axis,
    name: str = "",
    unit: str = "",
) -> Cells:
    """Reduce every run to a possibly censored value, or to values with the axes ``more``."""
    found = np.array(
        [[function(done.run(branch, seed)) for branch in done.grid.branches] for seed in done.seeds], dtype=np.float64
    )
    return done.cells(found[..., 0], more, name, unit, found[..., 1])
