"""Export of tables as CSV files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import spreadsheet
from optcp.common.files import replacing, write_text
from optcp.export import tabular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.data.table import Table
    from optcp.export import Chosen
    from optcp.study.done import StudyResult


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write the tables of a study, with columns for cell, seed and axes, and rows and curves of exhibits.

    Files start with a head line. Truth values are 0 and 1, missing values are empty, and texts are escaped by
    :mod:`optcp.common.spreadsheet`.
    """
    study, exhibits = tabular.found(directory, chosen)
    for name in study.tables if study else ():
        yield from _table(study, name)  # type: ignore[arg-type]
    for path, result in exhibits.items():
        for sheet in tabular.sheets(path, result):
            target = sheet.stem.with_name(f"{sheet.stem.name}.csv")
            write_text(target, spreadsheet.written([sheet.columns, *zip(*sheet.columns.values(), strict=True)]))
            yield target, ""


def _table(study: StudyResult, name: str) -> Iterator[tuple[Path, str]]:
    """Write a table part by part, because it may not fit into memory."""
    target = tabular.folder(study) / f"{name}.csv"
    pieces = study.pieces(name)
    first = next(pieces, None)
    if first is None:
        return
    with replacing(target) as file:
        file.write(spreadsheet.written([first.columns]).encode())
        for piece in itertools.chain([first], pieces):
            columns = [_values(piece, column) for column in first.columns]
            file.write(spreadsheet.lines(zip(*columns, strict=True)).encode())
    yield target, ""


def _values(table: Table, name: str) -> list[Any]:
    values = table.columns[name]
    if isinstance(values, tuple):
        codes, texts = values
        shown = [spreadsheet.shown(text) for text in texts]
        return [shown[code] for code in codes]
    if values.dtype == bool:
        values = values.astype(int)
    if values.dtype.kind == "f" and np.isnan(values).any():
        return ["" if value != value else value for value in values.tolist()]  # noqa: PLR0124 - only NaN is unlike itself
    found: list[Any] = values.tolist()
    return found
