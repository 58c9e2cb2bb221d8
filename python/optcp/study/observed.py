"""Observation of all runs of a study: interval sums and event counts as labelled cells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.data.axes import Axis
from optcp.data.labelled import html_table, text_table
from optcp.data.table import PICOSECONDS_A_SECOND, Table
from optcp.data.times import Instant, picoseconds
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from optcp.data.cells import Cells
    from optcp.study.done import StudyResult

Instants = Instant | Sequence[Instant] | None
UNITS = {"bytes": "B", "packets": "packets", "utilisation": ""}
"""Units by suffix of the column name."""


@dataclass(frozen=True, repr=False)
class Observed:
    """Observation of all runs of a study, as returned by :meth:`optcp.study.done.StudyResult.__getitem__`.

    Observations with an interval (``goodput``, ``load``, ``queue``) have one value per interval and group or port; use
    :meth:`cells` and :meth:`between`. Others (``drops``, ``completions``) have events; use :meth:`count` and
    :meth:`first`. Interval i of length T is (i T, (i + 1) T].

    Parameters
    ----------
    done
        Finished study.
    name
        Name of the observation.
    """

    done: StudyResult
    name: str

    @functools.cached_property
    def _rows(self) -> tuple[Table, NDArray[np.int64]]:
        return self.done.rows(self.name)

    @property
    def table(self) -> Table:
        """Rows of all runs: columns of cell, axes and seed, then the columns of the observation."""
        return self._rows[0]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield each row of the table as a dictionary."""
        return iter(self.table)

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Return the table as a pandas DataFrame, with texts as categories."""
        return self.table.to_pandas()

    def _shown(self) -> tuple[str, list[str], list[list[str]]]:
        title, head, rows = self.table.shown()
        return f"observation {self.name!r} of {self.done.grid.title!r}: {title}", head, rows

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())

    @property
    def interval_s(self) -> float:
        """Length of an interval, in s.

        Raises
        ------
        InputError
            If the observation consists of events.
        """
        if self.table.interval_s is None:
            raise InputError(f"{self.name!r} has events, not intervals; use count()")
        return self.table.interval_s

    def _own(self) -> list[str]:
        """Return the names of the columns of the observation itself."""
        names = list(self.table.columns)
        return names[names.index("seed") + 1 :]

    def cells(self, column: str | None = None) -> Cells:
        """Return the values of all intervals, with the axes group or port, and ``time`` (end of the interval).

        Parameters
        ----------
        column
            Column; by default the first one.

        Raises
        ------
        InputError
            If the observation consists of events, the column does not exist, or runs have different intervals.
        """
        table, run = self._rows
        interval_s = self.interval_s
        _, row, *values = self._own()
        column = values[0] if column is None else arguments.text(column, "column")
        if column not in values:
            raise InputError(f"{self.name!r} has no column {column!r}; {nearest(column, values)}")
        runs = self.done.places
        each = np.bincount(run, minlength=runs)
        each = each.reshape(-1, len(self.done.grid.branches))[:, list(self.done.grid.distinct)].ravel()
        if (each != each[0]).any():
            raise InputError(
                f"{self.name!r}: runs have different numbers of intervals, {each.min()} to {each.max()} of "
                f"{interval_s:g} s"
            )
        codes, texts = table.coded(row)
        first, ends_ps = codes[: each[0]], table.numbers("time_ps")[: each[0]]
        alike = (table.numbers("time_ps").reshape(len(each), -1) == ends_ps).all() and (
            codes.reshape(len(each), -1) == first
        ).all()
        if not alike:
            raise InputError(f"{self.name!r}: combinations have different intervals or {row}s; reduce them with each()")
        shown = first[np.sort(np.unique(first, return_index=True)[1])]
        count = each[0] // max(1, len(shown))
        found = np.empty((runs, each[0]))
        found[run[:: each[0]]] = table.numbers(column).reshape(len(each), each[0])
        ends_ps = ends_ps[:count]
        time = Axis(
            "time",
            tuple(f"{end / PICOSECONDS_A_SECOND} s" for end in ends_ps),
            "s",
            tuple(float(end) / PICOSECONDS_A_SECOND for end in ends_ps),
        )
        names = Axis(row, tuple(texts[code] for code in shown))
        unit = next((unit for end, unit in UNITS.items() if column.endswith(end)), "")
        return self.done.cells(found.reshape(runs, len(shown), count), (names, time), self.name, unit)

    def between(self, start: Instant, end: Instant, column: str | None = None) -> Cells:
        """Return the sums over the intervals in (start, end]; both must be multiples of the interval.

        Raises
        ------
        InputError
            As for :meth:`cells`, or if a time is invalid or inside an interval.
        """
        return self.cells(column).between(start, end)

    def _which(
        self, after: Instants, until: Instants, before: Instants, where: dict[str, object]
    ) -> tuple[Table, NDArray[np.int64], NDArray[np.bool_]]:
        table, run = self._rows
        mask = np.ones(len(table), dtype=bool)
        for name, wanted in where.items():
            if name not in self._own():
                raise InputError(f"{self.name!r} has no column {name!r}; {nearest(name, self._own())}")
            if isinstance(table.columns[name], tuple):
                codes, texts = table.coded(name)
                fits = _condition(name, wanted)
                mask &= np.array([fits(text) for text in texts], dtype=bool)[codes] if texts else False
            else:
                exact = isinstance(wanted, (bool, np.bool_))
                mask &= table.numbers(name) == (wanted if exact else arguments.number(wanted, name))
        branches = len(self.done.grid.branches)
        for instants, keeps in ((after, np.greater), (until, np.less_equal), (before, np.less)):
            if instants is not None:
                at_ps = np.array([picoseconds(one) for one in _each(instants, branches)], dtype=np.int64)
                mask &= keeps(table.numbers("time_ps"), at_ps[run % branches])
        return table, run, mask

    def count(
        self,
        *,
        after: Instants = None,
        until: Instants = None,
        before: Instants = None,
        **where: Any,  # noqa: ANN401
    ) -> Cells:
        """Return the number of events per run.

        Parameters
        ----------
        after, until, before
            Count only events after, up to and including, or before a time; or a list with one time per branch.
        **where
            Required value by column; for texts also a list of values or a function that returns a bool.

        Raises
        ------
        InputError
            If a column does not exist.
        """
        _, run, mask = self._which(after, until, before, where)
        return self.done.cells(np.bincount(run[mask], minlength=self.done.places), name=self.name)

    def first(
        self,
        *,
        after: Instants = None,
        until: Instants = None,
        before: Instants = None,
        **where: Any,  # noqa: ANN401
    ) -> Cells:
        """Return the time of the first event, in s; undefined without one. Parameters are as for :meth:`count`."""
        table, run, mask = self._which(after, until, before, where)
        found = np.full(self.done.places, np.nan)
        # Write in reverse order, so that the first event of a run is written last.
        found[run[mask][::-1]] = table.seconds[mask][::-1]
        return self.done.cells(found, name=f"first of {self.name}", unit="s")


def _each(instants: Instant | Sequence[Instant], cells: int) -> list[Instant]:
    """Return one time per branch."""
    if isinstance(instants, (str, int, float, np.number)):
        return [instants] * cells
    found: list[Instant] = arguments.several(instants, "time", "a time, or a list of times")
    if len(found) != cells:
        raise InputError(f"expected one time, or {cells} times (one per branch), got {len(found)}")
    return found


def _condition(column: str, wanted: Any) -> Callable[[str], bool]:  # noqa: ANN401 - a text, several, or a function
    if callable(wanted):
        return lambda text: bool(wanted(text))
    if isinstance(wanted, str):
        return lambda text: text == wanted
    expected = "a text, a list of texts or a function"
    several = {arguments.text(one, column) for one in arguments.several(wanted, column, expected)}
    return lambda text: text in several
