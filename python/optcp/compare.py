"""Every metric of a study in each cell against one cell, paired by seed."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.errors import InputError
from optcp.labelled import cells_of, html_table, number, optional, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.cells import Cells


@dataclass(frozen=True)
class Compared:
    """One metric in one cell against the reference.

    Attributes
    ----------
    metric, unit
        What is compared, and its SI unit.
    cell
        The cell's values as written, by axis.
    value, reference
        Means over the seeds in which both are defined.
    difference, low, high, p
        ``value - reference`` with its 95 % interval and two-sided p-value: :func:`optcp.stats.paired`. The p-values are
        not corrected for their number.
    n
        The seeds in which both are defined; where there is none, all numbers are NaN.
    relative_pct
        The difference in per cent of the reference's size; NaN where that is zero.
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


NUMBERS = ("value", "reference", "difference", "low", "high", "p", "relative_pct")


@dataclass(frozen=True, repr=False)
class Comparison:
    """A table of :class:`Compared` rows.

    Attributes
    ----------
    rows
        By metric, then by cell; the reference itself is left out.
    at
        The reference: a value of each axis that is fixed.
    """

    rows: tuple[Compared, ...]
    at: dict[str, str]

    @property
    def common(self) -> tuple[str, ...]:
        """The axes that every metric has."""
        return tuple(name for name in self._axes() if all(name in row.cell for row in self.rows))

    @property
    def differing(self) -> tuple[str, ...]:
        """The axes that only some metrics have, such as their groups, ports or reasons."""
        return tuple(name for name in self._axes() if name not in self.common)

    def _axes(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row.cell))

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        where = ", ".join(f"{name} = {value}" for name, value in self.at.items())
        axes = self._axes()
        rows = [
            [f"{row.metric} [{row.unit}]" if row.unit else row.metric]
            + [row.cell.get(name, "") for name in axes]
            + [number(getattr(row, name)) for name in NUMBERS]
            + [str(row.n)]
            for row in self.rows
        ]
        return f"against {where}, paired by seed, 95 % intervals", ["metric", *axes, *NUMBERS, "n"], rows

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def columns(self) -> dict[str, list[Any]]:
        """Tidy columns, a row a metric and cell; axes as written, None where a metric has no such axis."""
        columns: dict[str, list[Any]] = {"metric": [row.metric for row in self.rows]}
        columns |= {name: [row.cell.get(name) for row in self.rows] for name in self._axes()}
        return columns | {name: [getattr(row, name) for row in self.rows] for name in ("unit", *NUMBERS, "n")}

    def csv(self) -> str:
        """:meth:`columns` as comma-separated values; what is undefined is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns := self.columns())
        # Only NaN differs from itself.
        writer.writerows([["" if one != one else one for one in row] for row in zip(*columns.values(), strict=True)])  # noqa: PLR0124
        return text.getvalue()

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Make a pandas DataFrame of :meth:`columns`.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return optional("pandas").DataFrame(self.columns())


def compare(metrics: Mapping[str, Cells], *, at: Mapping[str, str | float]) -> Comparison:
    """Compare every metric in each cell with one cell, seed by seed.

    Parameters
    ----------
    metrics
        Cells by the metric's name.
    at
        The reference: a value for each axis that is fixed. Along the others, each cell is compared with the reference
        of its own.

    Raises
    ------
    InputError
        If no axis is fixed, or a metric has no such axis or value.

    Examples
    --------
    >>> from optcp.axes import Axis
    >>> from optcp.cells import Cells
    >>> drops = Cells([[4, 5], [5, 7], [6, 9]], (Axis("delay", ("0 ms", "50 ms")),), (1, 2, 3))
    >>> row = compare({"drops": drops}, at={"delay": "0 ms"}).rows[0]
    >>> row.cell, row.value, row.reference, row.difference, row.relative_pct
    ({'delay': '50 ms'}, 7.0, 5.0, 2.0, 40.0)
    """
    if not at:
        raise InputError('compare() needs the cell to compare with, for example at={"switch_delay": "0 ms"}')
    rows: list[Compared] = []
    fixed: dict[str, str] = {}
    for metric, cells in metrics.items():
        reference = cells.at(**at)
        axes = {axis.name: axis for axis in cells.axes}
        fixed = {name: axes[name].values[axes[name].index(value)] for name, value in at.items()}
        for _, cell in cells_of(cells.axes):
            if any(cell[name] != value for name, value in fixed.items()):
                others = {name: value for name, value in cell.items() if name not in fixed}
                rows.append(_row(metric, cells.unit, cell, cells.at(**cell).values, reference.at(**others).values))
    return Comparison(tuple(rows), fixed)


def _row(
    metric: str, unit: str, cell: dict[str, str], values: NDArray[np.float64], references: NDArray[np.float64]
) -> Compared:
    from optcp import stats

    both = ~(np.isnan(values) | np.isnan(references))
    if not both.any():
        return Compared(metric, unit, cell, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 0, np.nan)
    one, other = values[both], references[both]
    test = stats.paired(one, other)
    mean = float(other.mean())
    gap = test.interval
    relative = 100 * gap.estimate / abs(mean) if mean != 0 else np.nan
    return Compared(
        metric, unit, cell, float(one.mean()), mean, gap.estimate, gap.low, gap.high, test.p, gap.n, relative
    )
