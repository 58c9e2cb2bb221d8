"""Tables as comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from optcp.export import tabular
from optcp.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.table import Table


def files(directory: Path) -> Iterator[Path]:
    """Write each observation of every run, and rows and curves of every exhibit, in a directory.

    A head line, then the values; truth values are 0 and 1, what is missing is empty.
    """
    runs, exhibits = tabular.found(directory)
    for run in runs:
        for file in sorted(run.meta["files"]):
            name = file.removesuffix(".parquet")
            yield _write(run.directory / f"{name}.csv", _columns(run.table(name)))
    for path, result in exhibits.items():
        for sheet in tabular.sheets(path, result):
            yield _write(sheet.stem.with_name(f"{sheet.stem.name}.csv"), sheet.columns)


def _columns(table: Table) -> dict[str, list[Any]]:
    return {
        name: table.texts(name)
        if isinstance(values, tuple)
        else (values.astype(int) if values.dtype == bool else values).tolist()
        for name, values in table.columns.items()
    }


def _write(target: Path, columns: dict[str, list[Any]]) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_text(target, text.getvalue())
    return target
