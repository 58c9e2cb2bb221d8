"""What has the form of a table: observations of runs, and rows and curves of exhibits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.errors import InputError
from optcp.report.build import load_results
from optcp.study import saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from optcp.papers.model import Key, Result
    from optcp.study.saved import Table


@dataclass(frozen=True)
class Sheet:
    """A table to write.

    Attributes
    ----------
    stem
        Where, without the ending.
    columns
        Name to values, row by row: numbers (None where there is none), truth values, or texts.
    """

    stem: Path
    columns: dict[str, list[Any]]


def runs(directory: Path) -> list[saved.SavedRun]:
    """Every run in a directory; none if it holds exhibits' results and no run.

    Raises
    ------
    optcp.errors.InputError
        If there is neither.
    """
    return _either(directory, saved.find, load_results)


def exhibits(directory: Path) -> list[Result]:
    """Every exhibit's result below a directory; none if it holds runs and no result.

    Raises
    ------
    optcp.errors.InputError
        If there is neither.
    """
    return _either(directory, load_results, saved.find)


def _either(directory: Path, wanted: Callable[[Path], list[Any]], other: Callable[[Path], list[Any]]) -> list[Any]:
    if not directory.is_dir():
        raise InputError(f"{directory}: there is no such directory; `optcp run` and `optcp reproduce` make them")
    try:
        return wanted(directory)
    except InputError:
        try:
            other(directory)
        except InputError:
            raise InputError(
                f"{directory}: there are no runs and no exhibits' results; `optcp run` and `optcp reproduce` make them"
            ) from None
        return []


def observations(run: saved.SavedRun) -> Iterator[tuple[Path, Table]]:
    """Every Parquet file of a run, with its table."""
    for path in sorted(run.directory.glob("*.parquet")):
        yield path, saved.read_table(path)


def sheets(directory: Path, result: Result) -> Iterator[Sheet]:
    """The tables of an exhibit: its rows and, if it has any, its curves, a row a point."""
    stem = directory / result.exhibit
    if result.rows:
        rows = result.rows
        yield Sheet(
            stem,
            {
                **_keys([row.key for row in rows]),
                "metric": [row.metric for row in rows],
                "paper": [row.paper for row in rows],
                "measured": [row.measured for row in rows],
                "ci95_low": [row.ci95[0] for row in rows],
                "ci95_high": [row.ci95[1] for row in rows],
                "n": [row.n for row in rows],
                "verdict": [row.verdict for row in rows],
                "why": [row.why for row in rows],
            },
        )
    if result.series:
        points = [(series, place) for series in result.series for place in range(len(series.x))]
        intervals = [series.ci95[place] if series.ci95 else (None, None) for series, place in points]
        texts = ("x_label", "x_unit", "y_label", "y_unit")
        yield Sheet(
            stem.with_name(f"{stem.name}-series"),
            {
                "name": [series.name for series, _ in points],
                **_keys([series.key for series, _ in points]),
                **{name: [getattr(series, name) for series, _ in points] for name in texts},
                "x": [series.x[place] for series, place in points],
                "y": [series.y[place] for series, place in points],
                "ci95_low": [low for low, _ in intervals],
                "ci95_high": [high for _, high in intervals],
            },
        )


def _keys(keys: Sequence[Key]) -> dict[str, list[Any]]:
    """A column for each name of the keys: numbers if all of its values are, else texts."""
    columns = {}
    for name in dict.fromkeys(name for key in keys for name in key):
        values = [key.get(name) for key in keys]
        if any(isinstance(value, str | bool) for value in values):
            values = ["" if value is None else str(value) for value in values]
        # A result's own columns come first in the reader's mind: a key of the same name stands aside.
        columns[f"{name}_" if name in ("metric", "name", "n", "x", "y") else name] = values
    return columns


def arrays(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Columns as Parquet takes them: what is missing among numbers is not a number."""
    return {
        name: [str(value) for value in values]
        if any(isinstance(value, str) for value in values)
        else np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        for name, values in columns.items()
    }
