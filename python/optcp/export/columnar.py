"""Export of tables as Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import _core
from optcp.common.files import write_bytes
from optcp.export import tabular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.export import Chosen


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write rows and curves of exhibits; only list the tables of a study, which are Parquet already."""
    study, exhibits = tabular.found(directory, chosen)
    for name in study.tables if study else ():
        for _ in study.pieces(name):  # type: ignore[union-attr]
            pass  # as the study wrote it, or not named at all
        yield directory / name, " (Parquet files already)"
    for path, result in exhibits.items():
        for sheet in tabular.sheets(path, result):
            target = sheet.stem.with_name(f"{sheet.stem.name}.parquet")
            kind = {"optcp.kind": "exhibit", "optcp.exhibit": result.exhibit}
            content = _core.write_parquet(tabular.arrays(sheet.columns), kind)
            write_bytes(target, content)
            yield target, ""
