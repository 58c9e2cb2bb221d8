"""Tables to export: the tables of studies, and rows and curves of exhibits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common.files import need_directory
from optcp.errors import InputError
from optcp.papers.results import exhibits
from optcp.study import choose
from optcp.study.done import StudyResult
from optcp.study.form import IDENTITY
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.export import Chosen
    from optcp.papers.model import Key, Result

FOLDER = "export"
"""Where in a study's directory its tables and packets go."""


@dataclass(frozen=True)
class Sheet:
    """A table to write.

    Attributes
    ----------
    stem
        Where, without the ending.
    columns
        Name to values, row by row: numbers (None for missing ones), truth values, or texts.
    """

    stem: Path
    columns: dict[str, list[Any]]


def folder(study: StudyResult) -> Path:
    """Where a study's tables and packets go in other forms.

    Raises
    ------
    optcp.errors.InputError
        If there is a symbolic link in it.
    """
    return study.store.written(FOLDER)


def opened(directory: Path, chosen: Chosen) -> StudyResult:
    """The chosen runs of the study in a directory.

    Raises
    ------
    optcp.errors.InputError
        If there is no study, or no such run.
    optcp.errors.RunFailed
        If it cannot be read.
    """
    return choose.part(StudyResult.open(directory), chosen.cells, chosen.seed)


def refuse(chosen: Chosen) -> None:
    """Reject a selection of runs for results that have no runs.

    Raises
    ------
    optcp.errors.InputError
        If runs were chosen.
    """
    if chosen.cells or chosen.seed is not None:
        raise InputError("--cell and --seed select runs of a study; results of experiments have no runs")


def found(directory: Path, chosen: Chosen) -> tuple[StudyResult | None, dict[Path, Result]]:
    """The study, and every exhibit's result by its file, in a directory, of which there may be either.

    Raises
    ------
    optcp.errors.InputError
        If there is neither, or no such run.
    """
    need_directory(directory)
    study = opened(directory, chosen) if (directory / IDENTITY).is_file() else None
    try:
        results = exhibits(directory)
    except InputError:
        results = {}
    if study is None:
        if not results:
            Store(directory).refuse_old("Run the scenario again, into another directory")
            raise InputError(
                f"{directory}: no study and no results of experiments here; "
                "create them with `optcp run` or `optcp reproduce`"
            )
        refuse(chosen)
    return study, results


def sheets(path: Path, result: Result) -> Iterator[Sheet]:
    """The tables of an exhibit's file: its rows and, if it has any, its curves, a row a point."""
    stem = path.with_suffix("")
    if result.rows:
        rows = result.rows
        columns: dict[str, list[Any]] = {
            "metric": [row.metric for row in rows],
            "paper": [row.paper for row in rows],
            "measured": [row.measured for row in rows],
            "at_least": [row.at_least for row in rows],
            "at_most": [row.at_most for row in rows],
            "ci95_low": [row.ci95[0] for row in rows],
            "ci95_high": [row.ci95[1] for row in rows],
            "n": [row.n for row in rows],
            "verdict": [row.verdict for row in rows],
            "why": [row.why for row in rows],
        }
        yield Sheet(stem, _keyed([row.key for row in rows], columns))
    if result.series:
        points = [(series, place) for series in result.series for place in range(len(series.x))]
        intervals = [series.ci95[place] if series.ci95 else (None, None) for series, place in points]
        texts = ("name", "x_label", "x_unit", "y_label", "y_unit")
        columns = {
            **{name: [getattr(series, name) for series, _ in points] for name in texts},
            "x": [series.x[place] for series, place in points],
            "y": [series.y[place] for series, place in points],
            "ci95_low": [low for low, _ in intervals],
            "ci95_high": [high for _, high in intervals],
        }
        yield Sheet(stem.with_name(f"{stem.name}-series"), _keyed([series.key for series, _ in points], columns))


def _keyed(keys: Sequence[Key], columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """A column for each name of the keys, numbers if all of its values are and else texts, then the columns.

    A key that has the name of one of these has an underscore behind it.
    """
    keyed = {}
    for name in dict.fromkeys(name for key in keys for name in key):
        values = [key.get(name) for key in keys]
        if any(isinstance(value, str) for value in values):
            values = ["" if value is None else str(value) for value in values]
        keyed[f"{name}_" if name in columns else name] = values
    return keyed | columns


def arrays(columns: dict[str, list[Any]]) -> dict[str, list[str] | NDArray[Any]]:
    """Return columns for Parquet; missing numbers become NaN."""
    return {name: _array(values) for name, values in columns.items()}


def _array(values: list[Any]) -> list[str] | NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return [str(value) for value in values]
    if all(isinstance(value, int) and value >= 0 for value in values):
        return np.array(values, dtype=np.uint64)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
