"""A table: columns of one length, which other libraries take over through Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.data.labelled import MOST_ROWS, html_table, number, optional, text_table
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

PICOSECONDS_A_SECOND = 1e12


class NoColumn(InputError):  # noqa: N818 - reads as what happened
    """A table has no such column, or one of another kind."""


@dataclass(frozen=True, repr=False)
class Table:
    """An observation of a run, or of a study.

    Any library that reads Arrow streams accepts it: ``polars.DataFrame(table)``, ``pyarrow.table(table)``. Iteration
    yields the rows as dictionaries by column, so ``pandas.DataFrame(table)`` also works. :meth:`to_pandas` is faster,
    and keeps the columns of a table without rows.

    Parameters
    ----------
    columns
        Name to values, shape (rows,); texts are (codes, distinct texts). Names end in units: ``time_ps``,
        ``cwnd_bytes``.
    interval_s
        Length of the intervals in seconds, or None for events.

    Examples
    --------
    >>> table = Table({"time_ps": np.array([5, 6], dtype="u8"), "port": (np.array([1, 0], dtype="u4"), ["a", "b"])})
    >>> table
    table of 2 rows
    time_ps  port
          5     b
          6     a
    >>> table["port"], table.where(port="a")["time_ps"]
    (array(['b', 'a'], dtype=object), array([6], dtype=uint64))
    """

    columns: dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]
    interval_s: float | None = None
    """Length of the intervals in seconds; None for events."""

    def __post_init__(self) -> None:
        lengths = set()
        for name, values in arguments.mapping(self.columns, "columns", "a mapping of names to values").items():
            codes = values[0] if isinstance(values, tuple) and len(values) == 2 else values
            if not isinstance(codes, np.ndarray) or codes.ndim != 1 or not isinstance(name, str):
                raise arguments.refused(values, f"column {name!r}", "an array, or for texts (codes, distinct texts)")
            lengths.add(len(codes))
        if len(lengths) > 1:
            raise InputError(f"columns of a table are of one length, got {min(lengths)} and {max(lengths)} rows")

    @classmethod
    def read(
        cls, metadata: Mapping[str, str], columns: dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]
    ) -> Table:
        """Make a table of the columns and metadata of a Parquet file; the metadata gives the interval length."""
        interval_ps = arguments.mapping(metadata, "metadata").get("optcp.interval_ps")
        return cls(columns, int(interval_ps) / PICOSECONDS_A_SECOND if interval_ps else None)

    def __len__(self) -> int:
        for values in self.columns.values():
            return len(values[0] if isinstance(values, tuple) else values)
        return 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row, by column."""
        names = list(self.columns)
        columns = [self[name].tolist() for name in names]
        return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))

    def _column(self, name: str) -> NDArray[Any] | tuple[NDArray[Any], list[str]]:
        if arguments.text(name, "column") not in self.columns:
            raise NoColumn(f"the table has no column {name!r}; {nearest(name, self.columns)}")
        return self.columns[name]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Values of a column, shape (rows,).

        Raises
        ------
        InputError
            If the table has no such column; the message suggests the nearest name.
        """
        values = self._column(name)
        return np.array(values[1], dtype=object)[values[0]] if isinstance(values, tuple) else values

    def numbers(self, name: str) -> NDArray[Any]:
        """Values of a column of numbers or truth values.

        Raises
        ------
        InputError
            If the table has no such column, or the column holds texts.
        """
        values = self._column(name)
        if isinstance(values, tuple):
            raise NoColumn(f"column {name!r} holds texts, not numbers")
        return values

    @property
    def seconds(self) -> NDArray[np.float64]:
        """``time_ps`` in seconds."""
        return self.numbers("time_ps") / PICOSECONDS_A_SECOND

    def texts(self, name: str) -> list[str]:
        """Values of a column of texts, row by row."""
        codes, names = self.coded(name)
        return [names[code] for code in codes]

    def distinct(self, name: str) -> list[str]:
        """Texts that occur in a column, in the order in which they first do."""
        codes, names = self.coded(name)
        found, first = np.unique(codes, return_index=True)
        return [names[code] for code in found[np.argsort(first)]]

    def is_(self, name: str, text: str) -> NDArray[np.bool_]:
        """For each row, whether its text in a column is this."""
        arguments.text(text, "text")
        codes, names = self.coded(name)
        equal: NDArray[np.bool_] = np.isin(codes, [code for code, one in enumerate(names) if one == text])
        return equal

    def rows(self, which: NDArray[Any] | slice) -> Table:
        """Return the rows that a mask, places or a slice choose.

        Raises
        ------
        InputError
            If ``which`` has another form, or an index is out of range.
        """
        try:
            which = which if isinstance(which, slice) else np.asarray(which)
            np.empty(len(self), dtype=bool)[which]
        except (IndexError, TypeError, ValueError, OverflowError):
            expected = f"a slice, a mask of {len(self)} rows, or places of rows"
            raise arguments.refused(which, "which", expected) from None
        if isinstance(which, np.ndarray) and which.ndim != 1:
            raise arguments.refused(which, "which", "a slice, or a list of places or truth values")
        kept: dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]] = {}
        for name, values in self.columns.items():
            kept[name] = (values[0][which], values[1]) if isinstance(values, tuple) else values[which]
        return Table(kept, self.interval_s)

    def where(self, **texts: str) -> Table:
        """Return the rows whose texts are these: ``table.where(flow="a.0", event="sent")``."""
        mask = np.ones(len(self), dtype=bool)
        for name, text in texts.items():
            mask &= self.is_(name, text)
        return self.rows(mask)

    def coded(self, name: str) -> tuple[NDArray[Any], list[str]]:
        """Values of a column of texts as places in a list of distinct ones, and that list.

        Raises
        ------
        InputError
            If the table has no such column, or the column holds numbers.
        """
        values = self._column(name)
        if not isinstance(values, tuple):
            raise NoColumn(f"column {name!r} holds numbers, not texts")
        return values

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream of one batch; ``requested_schema`` is not followed, which Arrow allows."""
        del requested_schema
        return _core.arrow_stream(self.columns)

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """Each column by its name; texts are objects."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self) -> Any:  # noqa: ANN401 - pandas may not be installed
        """Make a pandas DataFrame; texts are categories.

        Raises
        ------
        InputError
            Where there is no pandas.
        """
        pandas = optional("pandas")
        columns = {
            name: pandas.Categorical.from_codes(values[0], values[1]) if isinstance(values, tuple) else values
            for name, values in self.columns.items()
        }
        return pandas.DataFrame(columns)

    def shown(self) -> tuple[str, list[str], list[list[str]]]:
        """Title, head and first rows, as texts."""
        first = self.rows(slice(MOST_ROWS))
        columns = [
            [number(float(value)) if isinstance(value, np.floating) else str(value) for value in first[name]]
            for name in self.columns
        ]
        rows = [list(row) for row in zip(*columns, strict=True)]
        more = f", the first {MOST_ROWS}" if len(self) > MOST_ROWS else ""
        return f"table of {count_noun(len(self), 'row')}{more}", list(self.columns), rows

    def __repr__(self) -> str:
        return text_table(*self.shown())

    def _repr_html_(self) -> str:
        return html_table(*self.shown())
