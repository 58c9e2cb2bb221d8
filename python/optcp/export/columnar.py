"""Tables as Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import _core
from optcp.export import tabular
from optcp.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def files(directory: Path) -> Iterator[Path]:
    """Write rows and curves of every exhibit in a directory; the observations of runs are Parquet files already."""
    runs, exhibits = tabular.found(directory)
    for run in runs:
        for file in sorted(run.meta["files"]):
            run.content(file)  # as the run wrote it, or not named at all
            yield run.directory / file
    for path, result in exhibits.items():
        for sheet in tabular.sheets(path, result):
            target = sheet.stem.with_name(f"{sheet.stem.name}.parquet")
            kind = {"optcp.kind": "exhibit", "optcp.exhibit": result.exhibit}
            content = _core.write_parquet(tabular.arrays(sheet.columns), kind)
            write_bytes(target, content)
            yield target
