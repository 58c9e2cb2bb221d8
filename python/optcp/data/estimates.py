"""Labelled arrays of estimates with 95 % intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.data.axes import Axis
from optcp.data.labelled import cells_of, censored, html_table, label, number, optional, position, text_table, tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from optcp.stats import Interval


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Labelled array of estimates with 95 % intervals, one per cell.

    Attributes
    ----------
    axes
        Axes of the arrays, in order; empty for a single estimate.
    estimate, low, high : arrays of shape (length of each axis)
        Estimate and ends of its interval, in ``unit``. NaN if all seeds are undefined; infinite ends for a single seed.
    n : array of shape (length of each axis)
        Number of seeds of each estimate.
    seeds
        Number of all seeds; ``n`` is smaller if some are undefined.
    """

    axes: tuple[Axis, ...]
    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.int64]
    seeds: int
    name: str = ""
    """Name of the estimated quantity."""
    unit: str = ""
    """SI unit; empty for pure numbers."""
    at_least: NDArray[np.float64] | None = None
    """Lower bounds of infinite estimates, shape (length of each axis); NaN if the estimate is known."""
    repeated: NDArray[np.bool_] | None = None
    """Whether all seeds of a cell give the same run; shape (length of each axis)."""

    def __post_init__(self) -> None:
        label(self)
        arguments.whole(self.seeds, "seeds", 1)
        shape = tuple(len(axis) for axis in self.axes)
        for name in ("estimate", "low", "high", "n", "at_least"):
            if (given := getattr(self, name)) is not None:
                array = arguments.shaped(given, name, shape)
                object.__setattr__(self, name, array if name != "n" else array.astype(np.int64))

    @classmethod
    def of(
        cls,
        axes: tuple[Axis, ...],
        interval: Callable[[tuple[int, ...]], Interval | None],
        seeds: int,
        *,
        name: str = "",
        unit: str = "",
    ) -> Estimates:
        """Create estimates from a function of the position, which returns None if undefined."""
        from optcp.stats import Interval

        arguments.function(interval, "interval")
        axes = tuple(arguments.one_of(axis, Axis, "axes", "an Axis") for axis in arguments.several(axes, "axes"))
        shape = tuple(len(axis) for axis in axes)
        estimate, low, high, at_least = (np.full(shape, np.nan) for _ in range(4))
        n, repeated = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
        for at in np.ndindex(*shape):
            if (one := interval(at)) is not None:
                arguments.one_of(one, Interval, "interval", "a function from a position to an interval or None")
                estimate[at], low[at], high[at], n[at] = one.estimate, one.low, one.high, one.n
                at_least[at] = np.nan if one.at_least is None else one.at_least
                repeated[at] = one.repeated
        return cls(axes, estimate, low, high, n, seeds, name, unit, at_least, repeated)

    def interval(self, at: tuple[int, ...] = ()) -> Interval:
        """Return the estimate at a position, with one index per axis.

        Raises
        ------
        InputError
            If the position does not exist.
        """
        from optcp.stats import Interval

        try:
            estimate, low, high, n = (array[at].item() for array in (self.estimate, self.low, self.high, self.n))
            bound = np.nan if self.at_least is None else self.at_least[at].item()
        except (TypeError, ValueError, IndexError):
            expected = f"a position, one index for each axis of {self.estimate.shape}"
            raise arguments.refused(at, "at", expected) from None
        repeated = self.repeated is not None and bool(self.repeated[at])
        return Interval(estimate, low, high, n, None if np.isnan(bound) else bound, repeated)

    def times(self, factor: float, unit: str = "") -> Estimates:
        """Return the estimates multiplied by a factor, in another unit."""
        factor = arguments.number(factor, "factor")
        arrays = {name: factor * getattr(self, name) for name in ("estimate", "low", "high")}
        at_least = None if self.at_least is None else factor * self.at_least
        return replace(self, unit=unit, **arrays, at_least=at_least)

    def known(self, value: float, **where: str | float) -> Estimates:
        """Return the estimates with one cell replaced by an exact value."""
        place = [slice(None)] * len(self.axes)
        for name, wanted in where.items():
            axis = position(self.axes, name)
            place[axis] = slice((at := self.axes[axis].index(wanted)), at + 1)
        value = arguments.number(value, "value")
        arrays = {name: getattr(self, name).copy() for name in ("estimate", "low", "high")}
        for array in arrays.values():
            array[tuple(place)] = value
        return replace(self, **arrays)

    @property
    def largest(self) -> float:
        """Largest magnitude of finite estimates and lower bounds; 0 without any."""
        known = [self.estimate] if self.at_least is None else [self.estimate, self.at_least]
        return max((float(np.abs(array[np.isfinite(array)]).max(initial=0)) for array in known), default=0.0)

    def __iter__(self) -> Iterator[tuple[dict[str, str], Interval]]:
        """Yield the axis values of each cell, as written, and its interval."""
        for at, key in cells_of(self.axes):
            yield key, self.interval(at)

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        unit = f" [{self.unit}]" if self.unit else ""
        title = f"{self.name or 'estimate'}{unit}, 95 % interval over {count_noun(self.seeds, 'seed')}"
        if (self.n < self.seeds).any():
            title += "; n is less where some were undefined"
        rows = [
            [axis.shown[i] for axis, i in zip(self.axes, at, strict=True)]
            + [censored(one.estimate, one.at_least), number(one.low), number(one.high), str(one.n)]
            for at, _ in cells_of(self.axes)
            for one in [self.interval(at)]
        ]
        return title, [*(axis.name for axis in self.axes), "estimate", "low", "high", "n"], rows

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return tidy columns: each axis in SI units or as written, estimate, low, high and n."""
        axes = {axis.column: axis.coordinates for axis in self.axes}
        return tidy(axes, estimate=self.estimate, low=self.low, high=self.high, n=self.n)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Return :meth:`columns` as a pandas DataFrame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return optional("pandas").DataFrame(self.columns())

    def to_numpy(self) -> NDArray[np.float64]:
        """Return an array with estimate, low and high on the last axis, shape (length of each axis, 3)."""
        return np.stack([self.estimate, self.low, self.high], axis=-1)

    def plot(self, *, x: str, by: str | None = None, columns: int = 1, ax: Axes | None = None) -> Axes:
        """Plot the estimates over an axis, with intervals as error bars.

        Parameters
        ----------
        x
            Axis of the plot.
        by
            Axis with one curve per value; by default there is one curve.
        columns
            Width in columns of an IEEE page, 1 or 2.
        ax
            Axes to draw into; by default a new figure.

        Raises
        ------
        InputError
            If an axis does not exist, or another axis has several values.
        """
        optional("matplotlib")
        from optcp.plots.estimates import draw

        return draw(self, x, by, columns, ax)
