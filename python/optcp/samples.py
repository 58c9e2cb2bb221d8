"""Many values a seed in every cell, such as the completion times of its flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.cells import Cells
from optcp.errors import InputError
from optcp.estimates import Estimates

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from optcp.axes import Axis
    from optcp.stats import Interval


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """Values of varying number for each seed and cell.

    Parameters
    ----------
    values
        Shape (seeds, length of each axis), of objects: each an array of values in ``unit``, shape (any number,).
    axes
        Of the cells, in order.
    seeds
        The seed of each row.
    name, unit
        What the values are, and their SI unit ("" for pure numbers).

    Raises
    ------
    InputError
        If the shape is not that of the seeds and axes, or a value is NaN.

    Examples
    --------
    >>> times = np.empty(3, dtype=object)
    >>> times[:] = [[1.0, 3.0], [], [4.0]]
    >>> Samples(times, (), (1, 2, 3), "completion", "s").mean()
    completion [s], 95 % interval over 3 seeds; n is less where some were undefined
    estimate     low   high  n
           3  -9.706  15.71  2
    """

    values: NDArray[Any]
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    name: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        expected = (len(self.seeds), *(len(axis) for axis in self.axes))
        if self.values.shape != expected or not self.seeds:
            raise InputError(f"expected an array of values for each of {expected}, got {self.values.shape}")
        own = np.empty(expected, dtype=object)
        for at in np.ndindex(*expected):
            own[at] = np.asarray(self.values[at], dtype=np.float64)
            if np.isnan(own[at]).any():
                raise InputError(f"seed {self.seeds[at[0]]}: a value is undefined; leave it out")
        object.__setattr__(self, "values", own)

    def at(self, **where: str | float) -> Samples:
        """Take one value of some axes, which are dropped: as :meth:`optcp.cells.Cells.at`."""
        numbered = Cells(
            np.arange(self.values.size, dtype=np.float64).reshape(self.values.shape), self.axes, self.seeds
        ).at(**where)
        return Samples(
            self.values.ravel()[numbered.values.astype(int)], numbered.axes, self.seeds, self.name, self.unit
        )

    def per_seed(self, function: Callable[[NDArray[np.float64]], float]) -> Cells:
        """One number of each seed's values, such as ``numpy.max``; undefined where a seed has none."""
        found = np.array([function(one) if one.size else np.nan for one in self.values.ravel()], dtype=np.float64)
        return Cells(found.reshape(self.values.shape), self.axes, self.seeds, self.name, self.unit)

    def count(self) -> Cells:
        """How many values each seed has."""
        counts = np.array([one.size for one in self.values.ravel()])
        return Cells(counts.reshape(self.values.shape), self.axes, self.seeds, "count")

    def mean(self) -> Estimates:
        """Mean over seeds of each seed's mean, with Student's t interval; seeds without a value are left out."""
        return self.per_seed(np.mean).mean()

    def quantile(self, q: float) -> Estimates:
        """Quantile of all seeds' values together, with an interval that resamples seeds.

        See :func:`optcp.quantiles.pooled_quantile`.
        """
        from optcp.quantiles import pooled_quantile

        def one(at: tuple[int, ...]) -> Interval | None:
            runs = list(self.values.T[at[::-1]])
            return pooled_quantile(runs, q) if any(run.size for run in runs) else None

        return Estimates.of(self.axes, one, len(self.seeds), name=self.name, unit=self.unit)

    def __repr__(self) -> str:
        axes = "".join(f" x {axis.name} ({', '.join(axis.shown)})" for axis in self.axes)
        total = sum(one.size for one in self.values.ravel())
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{self.name or 'samples'}{unit}: {total} values of {len(self.seeds)} seeds{axes}"
