"""Values of which the end of a run cuts some: they are known only to be greater than a lower bound.

Quantiles and means treat a cut value as docs/reference/metrics.md says of completion times: it is right-censored. It
never counts as its bound, and is never left out.
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
"""A value and its lower bound: the value itself where it is known; infinite values are cut, NaN is undefined."""
UNDEFINED: Bounded = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Censored:
    """A value of each flow, of which the end of the run cuts some.

    Attributes
    ----------
    at_least
        The value of a flow whose value is known, and of the others a lower bound, shape (flows,).
    known
        Which are known, shape (flows,).
    informative
        Whether a bound tells something of its value. Completion times over those without a failure are such: a large
        flow has a small ratio and, where it is cut, a small bound. No estimator may then give its share to the others.
        A quantile is known where it is the same whatever the cut values are, and a mean where nothing is cut.

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
        """The values, infinite where the end of the run cuts them, shape (flows,)."""
        return np.where(self.known, self.at_least, np.inf)

    @property
    def cut(self) -> int:
        """How many the end of the run cuts."""
        return int((~self.known).sum())

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Censored:
        return Censored(self.at_least[chosen], self.known[chosen], self.informative)

    def over(self, others: NDArray[np.float64]) -> Censored:
        """Divide by the values of the same flows in another run, shape (flows,). The quotients are informative."""
        return Censored(self.at_least / others, self.known, informative=True)

    def quantile(self, q: float) -> Bounded:
        """A quantile: :func:`optcp.stats.quantiles.pooled_quantile` of one run; undefined without flows."""
        if not self.known.size:
            return UNDEFINED
        if self.informative:
            low, high = (sample_quantile(values, q) for values in (self.at_least, self.values))
            return (low if low == high else np.inf), low
        found = pooled_quantile([self.values], q, [self.at_least])
        return found.estimate, found.estimate if found.at_least is None else found.at_least

    def mean(self) -> Bounded:
        """The mean: :func:`optcp.stats.quantiles.restricted_mean`; undefined without flows."""
        if not self.known.size:
            return UNDEFINED
        if self.informative:
            return float(self.values.mean()), float(self.at_least.mean())
        return restricted_mean(self.values, self.at_least)

    def total(self) -> Bounded:
        """The sum, with the sum of the bounds as its lower bound."""
        return float(self.values.sum()), float(self.at_least.sum())


def each(
    done: StudyResult,
    function: Callable[[Run], Bounded | Sequence[Bounded] | Sequence[Sequence[Bounded]]],
    *more: Axis,
    name: str = "",
    unit: str = "",
) -> Cells:
    """Reduce every run to a value that its end may cut, or to values with the axes ``more``."""
    found = np.array(
        [[function(done.run(branch, seed)) for branch in done.grid.branches] for seed in done.seeds], dtype=np.float64
    )
    return done.cells(found[..., 0], more, name, unit, found[..., 1])
