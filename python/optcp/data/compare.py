"""Paired comparison of the metrics of a study with a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments, spreadsheet
from optcp.data.cells import Cells
from optcp.data.labelled import cells_of, censored, html_table, number, optional, prefixed, text_table
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Compared:
    """Comparison of one metric in one cell with the reference.

    Attributes
    ----------
    metric, unit
        Name and SI unit of the metric.
    cell
        Values of the cell as written, by axis.
    value, reference
        Means over the seeds in which both are defined.
    difference, low, high, p
        ``value - reference`` with its 95 % interval and two-sided p-value (:func:`optcp.stats.paired`), not corrected
        for multiple comparisons. A single run has infinite bounds and p = NaN.
    n
        Number of seeds in which both are defined; without any, all numbers are NaN. 1 if neither cell contains anything
        random.
    relative_pct
        Difference relative to the magnitude of the reference, in %; NaN if that is zero.
    value_at_least, reference_at_least
        Lower bounds of the means. They equal the means unless a run is censored. Then the mean is infinite, and the
        difference, its interval and the p-value are NaN.
    """

    metric: str
    unit: str
    cell: dict[str, str]
    value: float
    reference: float
    difference: float
    low: float
    high: float
    p: float
    n: int
    relative_pct: float
    value_at_least: float
    reference_at_least: float

    @property
    def censored(self) -> bool:
        """Whether a mean is censored, so that there is no difference."""
        return not (np.isfinite(self.value) and np.isfinite(self.reference)) and self.n > 0


NUMBERS = ("value", "reference", "difference", "low", "high", "p", "relative_pct")
BOUNDS = ("value_at_least", "reference_at_least")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Table of :class:`Compared` rows.

    Attributes
    ----------
    rows
        Rows by metric and cell, without the reference itself.
    at
        Reference values by axis.
    """

    rows: tuple[Compared, ...]
    at: dict[str, str]

    @property
    def common(self) -> tuple[str, ...]:
        """Axes of all metrics."""
        return tuple(name for name in self._axes() if all(name in row.cell for row in self.rows))

    @property
    def differing(self) -> tuple[str, ...]:
        """Axes of some metrics only, such as groups, ports or reasons."""
        return tuple(name for name in self._axes() if name not in self.common)

    def units(self) -> dict[str, tuple[float, str]]:
        """Return the divisor and displayed unit of each metric.

        All rows of a metric share a unit. A metric whose name ends in ``_s`` is shown in seconds.
        """
        largest: dict[str, float] = {}
        for row in self.rows:
            sizes = [abs(bound) for bound in (row.value_at_least, row.reference_at_least) if np.isfinite(bound)]
            largest[row.metric] = max(largest.get(row.metric, 0.0), *sizes, 0.0)
        units = {row.metric: row.unit for row in self.rows}
        return {
            name: (1.0, units[name]) if name.endswith("_s") else prefixed(size, units[name])
            for name, size in largest.items()
        }

    def _axes(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row.cell))

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        where = ", ".join(f"{name} = {value}" for name, value in self.at.items())
        axes = self._axes()
        rows = [
            [f"{row.metric} [{row.unit}]" if row.unit else row.metric]
            + [row.cell.get(name, "") for name in axes]
            + [censored(row.value, row.value_at_least), censored(row.reference, row.reference_at_least)]
            + [number(getattr(row, name)) for name in NUMBERS[2:]]
            + [str(row.n)]
            for row in self.rows
        ]
        return f"differences from {where}, paired by seed, 95 % intervals", ["metric", *axes, *NUMBERS, "n"], rows

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def columns(self) -> dict[str, list[Any]]:
        """Return tidy columns with one row per metric and cell; None if a metric lacks an axis."""
        columns: dict[str, list[Any]] = {"metric": [row.metric for row in self.rows]}
        columns |= {name: [row.cell.get(name) for row in self.rows] for name in self._axes()}
        return columns | {name: [getattr(row, name) for row in self.rows] for name in ("unit", *NUMBERS, "n", *BOUNDS)}

    def csv(self) -> str:
        """Return :meth:`columns` as CSV text, with undefined values empty."""
        columns = self.columns()
        # NaN is the only value that differs from itself.
        rows = [["" if one != one else one for one in row] for row in zip(*columns.values(), strict=True)]  # noqa: PLR0124
        return spreadsheet.written([columns, *rows])

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Return :meth:`columns` as a pandas DataFrame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return optional("pandas").DataFrame(self.columns())


def compare(metrics: Mapping[str, Cells], *, at: Mapping[str, str | float]) -> Comparison:
    """Compare every metric in each cell with a reference, seed by seed.

    Parameters
    ----------
    metrics
        Cells by name of the metric.
    at
        Reference values by axis. Along other axes, each cell is compared with the reference of equal values.

    Raises
    ------
    InputError
        If ``at`` is empty, or a metric lacks an axis or value.

    Examples
    --------
    >>> from optcp.data.axes import Axis
    >>> from optcp.data.cells import Cells
    >>> drops = Cells([[4, 5], [5, 7], [6, 9]], (Axis("delay", ("0 ms", "50 ms")),), (1, 2, 3))
    >>> row = compare({"drops": drops}, at={"delay": "0 ms"}).rows[0]
    >>> row.cell, row.value, row.reference, row.difference, row.relative_pct
    ({'delay': '50 ms'}, 7.0, 5.0, 2.0, 40.0)
    """
    for cells in arguments.mapping(metrics, "metrics", "a mapping of names to cells").values():
        arguments.one_of(cells, Cells, "metrics", "a mapping of names to cells")
    arguments.texts(list(arguments.mapping(at, "at", "a mapping of axes to values")), "axis")
    if not at:
        raise InputError('compare() needs reference values, for example at={"switch_delay": "0 ms"}')
    rows: list[Compared] = []
    fixed: dict[str, str] = {}
    for metric, cells in metrics.items():
        reference = cells.at(**at)
        axes = {axis.name: axis for axis in cells.axes}
        fixed = {name: axes[name].values[axes[name].index(value)] for name, value in at.items()}
        for _, cell in cells_of(cells.axes):
            if any(cell[name] != value for name, value in fixed.items()):
                others = {name: value for name, value in cell.items() if name not in fixed}
                rows.append(_row(metric, cell, cells.at(**cell), reference.at(**others)))
    return Comparison(tuple(rows), fixed)


def _row(metric: str, cell: dict[str, str], cells: Cells, references: Cells) -> Compared:
    from optcp import stats

    both = ~(np.isnan(cells.values) | np.isnan(references.values))
    nan = float("nan")
    if not both.any():
        return Compared(metric, cells.unit, cell, nan, nan, nan, nan, nan, nan, 0, nan, nan, nan)
    if all(side.repeated is not None and side.repeated.all() for side in (cells, references)):
        both[np.argmax(both) + 1 :] = False
    one, other = (side.values[both] for side in (cells, references))
    value_at_least, reference_at_least = (
        float((side.values if side.at_least is None else side.at_least)[both].mean()) for side in (cells, references)
    )
    test = stats.paired(one, other)
    gap, p, mean = test.interval, test.p if test.interval.n > 1 else nan, float(other.mean())
    if not np.isfinite(gap.estimate):
        gap, p = stats.Interval(nan, nan, nan, gap.n), nan
    return Compared(
        metric,
        cells.unit,
        cell,
        value=float(one.mean()),
        reference=mean,
        difference=gap.estimate,
        low=gap.low,
        high=gap.high,
        p=p,
        n=gap.n,
        relative_pct=100 * gap.estimate / abs(mean) if mean != 0 else nan,
        value_at_least=value_at_least,
        reference_at_least=reference_at_least,
    )
