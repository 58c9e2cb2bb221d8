"""Labelled arrays with one value per seed and cell (parameter combination).

The module imports only NumPy; statistics, plots and data frames load their libraries on use.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.data.axes import Axis
from optcp.data.estimates import Estimates
from optcp.data.labelled import label, optional, position, tidy
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from optcp.stats import Interval


UNBOUNDED = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Labelled array with one value per seed and cell.

    Arithmetic and comparisons work seed by seed, so differences between cells with common random numbers are paired.
    Operands are aligned by axis names, and missing axes are broadcast. A non-finite result of finite values, such as a
    division by zero, is undefined (NaN). Statistics omit the seeds that are undefined in a cell; ``n`` counts the rest.

    Parameters
    ----------
    values : array of shape (seed count, length of each axis)
        Values in ``unit``; NaN if undefined.
    axes
        Axes of the cells, in order.
    seeds
        Seed of each row.
    name, unit
        Name and SI unit of the values ("" for pure numbers).
    at_least : array of the same shape, optional
        Lower bounds. An infinite value is only known to exceed its bound, such as the completion time of an
        unfinished flow.
    bounds
        Minimum and maximum possible value, such as 0 and 1 for a share. Intervals of means are cut there.
    repeated : array of shape (1, length of each axis), optional
        Whether a cell contains nothing random, so that all its seeds give one run. Its statistics use one value (n = 1)
        and have no interval. By default no cell is repeated.

    Raises
    ------
    InputError
        If the shape of the values does not match the seeds and axes, or two axes have the same name.

    Examples
    --------
    >>> from optcp.data.axes import Axis
    >>> goodput = Cells([[1, 2], [2, 5], [3, 8]], (Axis("delay", ("0 ms", "50 ms")),), (1, 2, 3), "goodput")
    >>> (goodput / goodput.at(delay="0 ms") - 1).named("gain").mean()
    gain, 95 % interval over 3 seeds
    delay  estimate    low   high  n
     0 ms         0      -      -  3
    50 ms     1.389  0.527  2.251  3
    """

    values: NDArray[np.float64]
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    name: str = ""
    """Name of the values."""
    unit: str = ""
    """SI unit of the values; empty for pure numbers."""
    at_least: NDArray[np.float64] | None = None
    """Lower bounds of the values, of the same shape; a value that is only known to be larger is infinite."""
    bounds: tuple[float, float] = UNBOUNDED
    """Minimum and maximum possible value."""
    repeated: NDArray[np.bool_] | None = None
    """Whether all seeds of a cell give the same run; shape (1, length of each axis)."""

    # Makes NumPy delegate `number + cells` to this class.
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        values = arguments.values(self.values, "values")
        label(self)
        object.__setattr__(self, "seeds", arguments.wholes(self.seeds, "seeds"))
        names = [axis.name for axis in self.axes]
        if len(set(names)) < len(names):
            raise InputError(f"two axes have the same name: {', '.join(names)}")
        expected = (len(self.seeds), *(len(axis) for axis in self.axes))
        if values.shape != expected or not self.seeds:
            raise InputError(f"expected values of shape {expected} (seeds, {', '.join(names)}), got {values.shape}")
        object.__setattr__(self, "values", values)
        if self.at_least is not None:
            object.__setattr__(self, "at_least", arguments.shaped(self.at_least, "at_least", expected))

    @property
    def mask(self) -> Cells | None:
        """:attr:`repeated` as cells of one seed with values 1 or 0; None if unknown."""
        return None if self.repeated is None else Cells(self.repeated.astype(np.float64), self.axes, (0,))

    def named(self, name: str, unit: str | None = None) -> Cells:
        """Return the same values with another name, and with another unit if given."""
        return replace(self, name=name, unit=self.unit if unit is None else unit)

    # Arithmetic and comparison

    def _combine(self, other: object, operation: Callable[[Any, Any], Any], unit: Callable[[str, str], str]) -> Cells:
        """Apply an operation seed by seed; NaN if either side or the result is undefined."""
        axes, one, second = self.axes, self.values, ""
        two: NDArray[np.float64] | np.float64
        if isinstance(other, Cells):
            axes, one, two = _meet(self, other)
            second = other.unit
        elif isinstance(other, (int, float, np.integer, np.floating)):
            two = np.float64(arguments.values(other, "operand"))
        else:
            raise arguments.refused(other, "operand", "cells or a number")
        with np.errstate(all="ignore"):
            result = np.asarray(operation(one, two), dtype=np.float64)
        wrong = np.isnan(one) | np.isnan(two) | (~np.isfinite(result) & np.isfinite(one) & np.isfinite(two))
        # The difference of two censored values is unknown. It stays infinite, so that its seed still counts.
        result = np.where(np.isnan(result) & ~wrong, np.inf, result)
        repeated = _both_repeated(self, other) if isinstance(other, Cells) else self.repeated
        return Cells(np.where(wrong, np.nan, result), axes, self.seeds, "", unit(self.unit, second), repeated=repeated)

    def __add__(self, other: Cells | float) -> Cells:
        return self._combine(other, operator.add, _same)

    __radd__ = __add__

    def __sub__(self, other: Cells | float) -> Cells:
        return self._combine(other, operator.sub, _same)

    def __rsub__(self, other: float) -> Cells:
        return -self + other

    def __mul__(self, other: Cells | float) -> Cells:
        return self._combine(other, operator.mul, lambda one, two: "*".join(filter(None, (one, two))))

    __rmul__ = __mul__

    def __truediv__(self, other: Cells | float) -> Cells:
        return self._combine(other, operator.truediv, _quotient)

    def __rtruediv__(self, other: float) -> Cells:
        return self._combine(other, lambda one, two: two / one, lambda one, two: _quotient(two, one))

    def __pow__(self, other: Cells | float) -> Cells:
        return self._combine(other, operator.pow, lambda one, _: one and f"({one})^{other}")

    def __neg__(self) -> Cells:
        return replace(self, values=-self.values, name="", at_least=None, bounds=UNBOUNDED)

    def __pos__(self) -> Cells:
        return self

    def __abs__(self) -> Cells:
        return replace(self, values=np.abs(self.values), name="", at_least=None, bounds=(0.0, np.inf))

    def _compare(self, other: object, operation: Callable[[Any, Any], Any]) -> Cells:
        return self._combine(other, operation, lambda one, two: _same(one, two) and "")

    def __lt__(self, other: Cells | float) -> Cells:
        return self._compare(other, operator.lt)

    def __le__(self, other: Cells | float) -> Cells:
        return self._compare(other, operator.le)

    def __gt__(self, other: Cells | float) -> Cells:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Cells | float) -> Cells:
        return self._compare(other, operator.ge)

    # For other types, NotImplemented makes Python compare by identity.

    def __eq__(self, other: object) -> Cells:  # type: ignore[override]
        if not isinstance(other, (Cells, int, float, np.number)):
            return NotImplemented
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Cells:  # type: ignore[override]
        if not isinstance(other, (Cells, int, float, np.number)):
            return NotImplemented
        return self._compare(other, operator.ne)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise InputError(
            "cells have no single truth value; use share() for the share of seeds in which a comparison holds"
        )

    # Along axes

    def axis(self, name: str) -> Axis:
        """Return the axis with this name.

        Raises
        ------
        InputError
            If it does not exist.
        """
        return self.axes[position(self.axes, name)]

    def at(self, **where: str | float) -> Cells:
        """Select one value of some axes, which are dropped.

        Parameters
        ----------
        **where
            Value by axis name: as written, an equal quantity, or a number in SI units.

        Raises
        ------
        InputError
            If an axis or value does not exist; the message names the nearest.
        """
        chosen: dict[int, int] = {}
        for name, value in where.items():
            place = position(self.axes, name)
            chosen[place] = self.axes[place].index(value)
        index = (slice(None), *(chosen.get(place, slice(None)) for place in range(len(self.axes))))
        axes = tuple(axis for place, axis in enumerate(self.axes) if place not in chosen)
        return self._taken(lambda values: values[index], axes)

    def _taken(self, take: Callable[[NDArray[np.float64]], NDArray[np.float64]], axes: Sequence[Axis]) -> Cells:
        """Apply a monotonically increasing function to the values and to their lower bounds."""
        at_least = None if self.at_least is None else take(self.at_least)
        repeated = _all_of(take, self.repeated)
        return replace(self, values=take(self.values), axes=tuple(axes), at_least=at_least, repeated=repeated)

    def part(self, **where: Sequence[str | float]) -> Cells:
        """Select some values of some axes, in the given order; values are as for :meth:`at`."""
        found = self
        for name, kept in where.items():
            axes = list(found.axes)
            place = position(axes, name)
            indices = [axes[place].index(value) for value in arguments.several(kept, f"values of axis {name!r}")]
            if not indices:
                raise InputError(f"axis {name!r}: keep at least one value")
            axes[place] = axes[place].part(indices)
            found = found._taken(functools.partial(np.take, indices=indices, axis=1 + place), axes)
        return found

    def renamed(self, **names: str) -> Cells:
        """Return the cells with renamed axes: ``cells.renamed(group="class")`` renames ``group`` to ``class``."""
        for name in names:
            position(self.axes, name)
        return replace(self, axes=tuple(replace(axis, name=names.get(axis.name, axis.name)) for axis in self.axes))

    def with_total(self, name: str) -> Cells:
        """Return the cells with the sum over an axis as its additional value ``total``."""
        place = position(self.axes, name)
        axis = replace(self.axes[place], values=(*self.axes[place].values, "total"), unit="", numbers=None, labels=())

        def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.concatenate([values, values.sum(axis=1 + place, keepdims=True)], axis=1 + place)

        found = self._taken(total, (*self.axes[:place], axis, *self.axes[place + 1 :]))
        return replace(found, bounds=_of_sums(self.bounds))

    def where(self, holds: Cells) -> Cells:
        """Return the values of seeds and cells for which a comparison holds; others are undefined."""
        arguments.one_of(holds, Cells, "holds", "a comparison of cells, such as `cells > 0`")
        chosen = self._combine(holds, lambda one, two: np.where(two > 0, one, np.nan), lambda unit, _: unit)
        return replace(chosen, name=self.name, bounds=self.bounds)

    def _over(self, names: tuple[str, ...], reduce: Callable[..., NDArray[np.float64]]) -> Cells:
        places = [position(self.axes, name) for name in dict.fromkeys(arguments.texts(names, "axis"))]
        axes = tuple(axis for place, axis in enumerate(self.axes) if place not in places)
        return self._taken(lambda values: reduce(values, axis=tuple(1 + place for place in places)), axes)

    def total(self, *names: str) -> Cells:
        """Return the sum over axes, which are dropped; undefined if any part is."""
        return replace(self._over(names, np.sum), bounds=_of_sums(self.bounds))

    def between(self, start: str | float, end: str | float, axis: str = "time") -> Cells:
        """Return the sum over the values of an axis in (start, end]; the axis is dropped.

        Parameters
        ----------
        start, end
            Values of the axis, as for :meth:`at`; ``start`` can also be 0.
        axis
            Axis of increasing numbers, such as the ends of intervals.

        Raises
        ------
        InputError
            If the axis does not exist, or a bound is not one of its values.
        """
        place = position(self.axes, axis)
        first, last = (self.axes[place].bound(value) for value in (start, end))
        if last <= first:
            raise InputError(f"({start}, {end}] is empty")
        index = (slice(None),) * (1 + place) + (slice(first, last),)
        axes = (*self.axes[:place], *self.axes[place + 1 :])
        found = self._taken(lambda values: values[index].sum(axis=1 + place), axes)
        return replace(found, bounds=_of_sums(self.bounds))

    def mean_over(self, *names: str) -> Cells:
        """Return the mean over axes, which are dropped; undefined if any part is."""
        return self._over(names, np.mean)

    def each(self, function: Callable[[NDArray[np.float64]], NDArray[np.float64]], unit: str = "") -> Cells:
        """Apply an array function, such as ``numpy.log``, to all values; ``unit`` is the unit of the results."""
        arguments.function(function, "function")
        with np.errstate(all="ignore"):
            return Cells(function(self.values), self.axes, self.seeds, "", unit, repeated=self.repeated)

    def wins(self, name: str) -> Cells:
        """Return, per seed, 1 for the axis value with the maximum and 0 for others; ties share the 1 equally.

        A seed is undefined if any of the values is.
        """
        along = 1 + position(self.axes, name)
        most = self.values.max(axis=along, keepdims=True)
        wins = self.values == most

        def every(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.broadcast_to(values.sum(axis=along, keepdims=True), values.shape)

        with np.errstate(invalid="ignore"):
            shares = wins / wins.sum(axis=along, keepdims=True)
        return Cells(shares, self.axes, self.seeds, repeated=_all_of(every, self.repeated))

    def minus_next(self, name: str) -> Cells:
        """Return each value of an axis minus the next one, without the last value."""
        place = position(self.axes, name)
        rest = [self.axes[place].part(slice(None, -1)) if at == place else axis for at, axis in enumerate(self.axes)]

        def neighbours(values: NDArray[np.float64]) -> NDArray[np.float64]:
            first, second = (np.delete(values, end, axis=1 + place) for end in (-1, 0))
            return first + second

        repeated = _all_of(neighbours, self.repeated)
        gaps = -np.diff(self.values, axis=1 + place)
        return Cells(gaps, tuple(rest), self.seeds, "", self.unit, repeated=repeated)

    # Over seeds

    def _estimates(self, statistic: Callable[[NDArray[np.float64]], Interval]) -> Estimates:
        def one(at: tuple[int, ...]) -> Interval | None:
            column = self.values.T[at[::-1]]  # the last axis of the transpose is the seed
            defined = ~np.isnan(column)
            if not defined.any():
                return None
            if self.repeated is not None and self.repeated[0][at]:
                defined[np.argmax(defined) + 1 :] = False
            found = statistic(column[defined])
            if np.isinf(found.estimate) and self.at_least is not None:
                # Means and quantiles increase with the values, so the statistic of the bounds is a lower bound.
                bound = statistic(self.at_least.T[at[::-1]][defined]).estimate
                found = replace(found, at_least=bound)
            return replace(found, repeated=self.repeated is not None and bool(self.repeated[0][at]))

        return Estimates.of(self.axes, one, len(self.seeds), name=self.name, unit=self.unit)

    def mean(self) -> Estimates:
        """Return the mean over seeds with Student's t interval, cut at ``bounds``: :func:`optcp.stats.mean`."""
        from optcp import stats

        return self._estimates(lambda column: stats.mean(column).within(*self.bounds))

    def deviation(self) -> Estimates:
        """Return the standard deviation over seeds with its interval: :func:`optcp.stats.deviation`."""
        from optcp import stats

        return self._estimates(stats.deviation)

    def median(self) -> Estimates:
        """Return the median over seeds: :meth:`quantile` of 0.5."""
        return self.quantile(0.5)

    def quantile(self, q: float) -> Estimates:
        """Return a quantile over seeds with its interval: :func:`optcp.stats.quantiles.quantile`."""
        from optcp.stats.quantiles import checked, quantile

        q = checked(q)
        return self._estimates(lambda column: quantile(column, q))

    def share(self) -> Estimates:
        """Return the share of seeds in which a comparison holds, with its exact interval: :func:`optcp.stats.share`.

        Raises
        ------
        InputError
            If the values are not between 0 and 1, as for a comparison or :meth:`wins`.
        """
        from optcp import stats

        if ((self.values < 0) | (self.values > 1)).any():
            raise InputError("share() needs values from 0 to 1, such as the comparison `cells < 0`")
        return self._estimates(lambda column: stats.share(float(column.sum()), column.size))

    # For people and other libraries

    def __repr__(self) -> str:
        axes = "".join(f" x {axis.name} ({', '.join(axis.shown)})" for axis in self.axes)
        undefined = int(np.isnan(self.values).sum())
        unit = f" [{self.unit}]" if self.unit else ""
        return (
            f"{self.name or 'cells'}{unit}: {count_noun(len(self.seeds), 'seed')}{axes}"
            + (f", {undefined} of {count_noun(self.values.size, 'value')} undefined" if undefined else "")
        )  # fmt: skip

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return tidy columns: the seed, each axis in SI units or as written, and the value."""
        coordinates: dict[str, Sequence[Any]] = {"seed": self.seeds}
        coordinates |= {axis.column: axis.coordinates for axis in self.axes}
        return tidy(coordinates, **{self.name or "value": self.values})

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the values, shape (seeds, length of each axis)."""
        return self.values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401 - NumPy's
        return np.array(self.values, dtype, copy=copy)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Return :meth:`columns` as a pandas DataFrame; raise :class:`~optcp.errors.InputError` without pandas."""
        return optional("pandas").DataFrame(self.columns())

    def to_xarray(self) -> Any:  # noqa: ANN401 - xarray may not be installed
        """Return an xarray DataArray; raise :class:`~optcp.errors.InputError` without xarray."""
        # xarray interprets a tuple differently.
        coords = {"seed": np.array(self.seeds)} | {axis.column: np.array(axis.coordinates) for axis in self.axes}
        return optional("xarray").DataArray(self.values, coords, tuple(coords), self.name or None, {"units": self.unit})

    def plot(self, *, x: str, by: str | None = None, columns: int = 1, ax: Axes | None = None) -> Axes:
        """Plot the means over seeds; see :meth:`optcp.data.estimates.Estimates.plot`."""
        return self.mean().plot(x=x, by=by, columns=columns, ax=ax)


def stack(name: str, cells: Mapping[str, Cells]) -> Cells:
    """Stack cells of equal seeds and axes along a new first axis.

    Raises
    ------
    InputError
        If seeds or axes differ.

    Examples
    --------
    >>> flows = {"1": Cells([1, 2], (), (1, 2)), "10": Cells([3, 4], (), (1, 2))}
    >>> stack("flows", flows).values
    array([[1., 3.],
           [2., 4.]])
    """
    first, *others = cells.values()
    for other in others:
        axes, _, _ = _meet(first, other)
        if len(axes) != len(first.axes) or len(axes) != len(other.axes):
            raise InputError(f"cells that are stacked along {name!r} must have the same axes")
    values = np.stack([_meet(first, one)[2] for one in cells.values()], axis=1)
    at_least, repeated = None, None
    bounds = [replace(one, values=one.at_least) for one in cells.values() if one.at_least is not None]
    if len(bounds) == len(cells):
        at_least = np.stack([_meet(first, one)[2] for one in bounds], axis=1)
    masks = [mask for one in cells.values() if (mask := one.mask) is not None]
    if len(masks) == len(cells):
        repeated = np.stack([_meet(masks[0], one)[2] for one in masks], axis=1) > 0
    axes = (Axis(name, tuple(cells)), *first.axes)
    return replace(first, values=values, axes=axes, at_least=at_least, repeated=repeated)


def _all_of(
    take: Callable[[NDArray[np.float64]], NDArray[np.float64]], repeated: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    """Return which results of ``take`` use repeated cells only."""
    if repeated is None:
        return None
    found: NDArray[np.bool_] = take(repeated.astype(np.float64)) == take(np.ones(repeated.shape))
    return found


def _both_repeated(one: Cells, two: Cells) -> NDArray[np.bool_] | None:
    """Return which cells are repeated on both sides, over the axes of both."""
    first, second = one.mask, two.mask
    if first is None or second is None:
        return None
    _, of_first, of_second = _meet(first, second)
    return np.logical_and(of_first, of_second)


def _of_sums(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the bounds of a sum of any number of values."""
    low, high = bounds
    return 0.0 if low >= 0 else -np.inf, 0.0 if high <= 0 else np.inf


def _same(one: str, two: str) -> str:
    """Return the unit of a sum or comparison; a missing unit is taken from the other side."""
    if one and two and one != two:
        raise InputError(f"units differ: {one} and {two}")
    return one or two


def _quotient(one: str, two: str) -> str:
    return "" if one == two else f"{one or 1}/{two}" if two else one


def _meet(one: Cells, two: Cells) -> tuple[tuple[Axis, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Return the combined axes, first the axes of ``one``, and the values of both sides aligned to them."""
    if one.seeds != two.seeds:
        other = sorted(set(one.seeds) ^ set(two.seeds))
        what = f"{len(one.seeds)} and {len(two.seeds)}" + (f", and seed {other[0]} is not in both" if other else "")
        raise InputError(f"paired values need the same seeds in the same order; got {what}")
    names = [axis.name for axis in one.axes]
    for axis in two.axes:
        if axis.name in names and not (mine := one.axes[names.index(axis.name)]).matches(axis):
            raise InputError(
                f"axis {axis.name!r} differs: {', '.join(mine.values)} against {', '.join(axis.values)}; "
                "take common values with at()"
            )
    axes = one.axes + tuple(axis for axis in two.axes if axis.name not in names)

    def spread(cells: Cells) -> NDArray[np.float64]:
        have = [axis.name for axis in cells.axes]
        order = [1 + have.index(axis.name) for axis in axes if axis.name in have]
        shape = [len(axis) if axis.name in have else 1 for axis in axes]
        return cells.values.transpose(0, *order).reshape(len(cells.seeds), *shape)

    return axes, spread(one), spread(two)
