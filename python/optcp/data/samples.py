"""Labelled arrays with several values per seed and cell, such as completion times of flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.data.cells import UNBOUNDED, Cells
from optcp.data.estimates import Estimates
from optcp.data.labelled import label
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from optcp.data.axes import Axis
    from optcp.stats import Interval


@dataclass(frozen=True, eq=False, repr=False)
class Samples:
    """Labelled array with any number of values per seed and cell.

    Parameters
    ----------
    values : object array of shape (seed count, length of each axis)
        One array of values in ``unit`` per element, of any length.
    axes
        Axes of the cells, in order.
    seeds
        Seed of each row.
    name, unit
        Name and SI unit of the values ("" for pure numbers).
    at_least : object array of the same shape, optional
        Lower bounds. An infinite value is only known to exceed its bound, such as the completion time of an
        unfinished flow. By default, infinite values exceed all others.
    bounds, repeated
        As for :class:`optcp.data.cells.Cells`.

    Raises
    ------
    InputError
        If the shape does not match the seeds and axes, a value is NaN, or a finite value differs from its bound.

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
    """Name of the values."""
    unit: str = ""
    """SI unit of the values; empty for pure numbers."""
    at_least: NDArray[Any] | None = None
    """Lower bounds of the values, of the same shape; for unfinished flows the time until the end of the run."""
    bounds: tuple[float, float] = UNBOUNDED
    """Minimum and maximum possible value."""
    repeated: NDArray[np.bool_] | None = None
    """Whether all seeds of a cell give the same run; shape (1, length of each axis)."""

    def __post_init__(self) -> None:
        label(self)
        object.__setattr__(self, "seeds", arguments.wholes(self.seeds, "seeds"))
        arguments.one_of(self.values, np.ndarray, "values", "an array of objects, each an array of values")
        expected = (len(self.seeds), *(len(axis) for axis in self.axes))
        given = self.values if self.at_least is None else self.at_least
        arguments.one_of(given, np.ndarray, "at_least", "an array of objects, each an array of values")
        if self.values.shape != expected or given.shape != expected or not self.seeds:
            raise InputError(f"expected an array of values for each of {expected}, got {self.values.shape}")
        own, bounds = np.empty(expected, dtype=object), np.empty(expected, dtype=object)
        for at in np.ndindex(*expected):
            own[at], bounds[at] = (arguments.values(array[at], "values").ravel() for array in (self.values, given))
            if np.isnan(own[at]).any():
                raise InputError(f"seed {self.seeds[at[0]]}: a value is undefined; omit it")
            if own[at].shape != bounds[at].shape or (own[at] != bounds[at])[np.isfinite(own[at])].any():
                raise InputError(f"seed {self.seeds[at[0]]}: a value and its lower bound differ")
        object.__setattr__(self, "values", own)
        object.__setattr__(self, "at_least", bounds)

    def at(self, **where: str | float) -> Samples:
        """Select one value of some axes, which are dropped, as :meth:`optcp.data.cells.Cells.at`."""
        places = np.arange(self.values.size, dtype=np.float64).reshape(self.values.shape)
        numbered = Cells(places, self.axes, self.seeds, repeated=self.repeated).at(**where)
        values, bounds = (array.ravel()[numbered.values.astype(int)] for array in self._pair())
        return Samples(values, numbered.axes, self.seeds, self.name, self.unit, bounds, self.bounds, numbered.repeated)

    def _pair(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the values and their lower bounds."""
        return self.values, self.values if self.at_least is None else self.at_least

    def per_seed(self, function: Callable[[NDArray[np.float64]], float]) -> Cells:
        """Reduce the values of each seed to a number, for example by ``numpy.max``; undefined without values.

        Values that exceed the end of the run are infinite.
        """
        arguments.function(function, "function")
        found = arguments.values(
            [function(one) if one.size else np.nan for one in self.values.ravel()], "values of the function"
        )
        if found.ndim != 1:
            raise InputError("function: expected one number for the values of a seed, got several")
        return Cells(
            found.reshape(self.values.shape), self.axes, self.seeds, self.name, self.unit, repeated=self.repeated
        )

    def count(self) -> Cells:
        """Return the number of values per seed."""
        counts = np.array([one.size for one in self.values.ravel()])
        return Cells(counts.reshape(self.values.shape), self.axes, self.seeds, "count", repeated=self.repeated)

    def mean(self) -> Estimates:
        """Return the mean over seeds of each seed's mean, with Student's t interval; seeds without values are omitted.

        The mean of a seed is infinite if its largest value exceeds the end of the run. Its lower bound is then the
        mean restricted to the largest observed time. See :func:`optcp.stats.quantiles.restricted_mean`.
        """
        from optcp.stats.quantiles import restricted_mean

        values, bounds = self._pair()
        pairs = [
            restricted_mean(one, bound) if one.size else (np.nan, np.nan)
            for one, bound in zip(values.ravel(), bounds.ravel(), strict=True)
        ]
        means, at_least = (np.array(side).reshape(values.shape) for side in zip(*pairs, strict=True))
        return Cells(means, self.axes, self.seeds, self.name, self.unit, at_least, self.bounds, self.repeated).mean()

    def quantile(self, q: float) -> Estimates:
        """Return a quantile of the values of all seeds together, with an interval over seeds.

        See :func:`optcp.stats.quantiles.pooled_quantile`.
        """
        from optcp.stats.quantiles import checked, pooled_quantile

        q = checked(q)

        values, bounds = self._pair()

        def one(at: tuple[int, ...]) -> Interval | None:
            runs, limits = (list(array.T[at[::-1]]) for array in (values, bounds))
            if self.repeated is not None and self.repeated[0][at]:
                runs, limits = runs[:1], limits[:1]
            return pooled_quantile(runs, q, limits) if any(run.size for run in runs) else None

        return Estimates.of(self.axes, one, len(self.seeds), name=self.name, unit=self.unit)

    def __repr__(self) -> str:
        axes = "".join(f" x {axis.name} ({', '.join(axis.shown)})" for axis in self.axes)
        total = sum(one.size for one in self.values.ravel())
        unit = f" [{self.unit}]" if self.unit else ""
        seeds = count_noun(len(self.seeds), "seed")
        return f"{self.name or 'samples'}{unit}: {count_noun(total, 'value')} of {seeds}{axes}"
