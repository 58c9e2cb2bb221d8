"""Files with the complete tables of an outage study: CSV, and one spreadsheet with a sheet per table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.common import spreadsheet
from optcp.common.files import replacing, write_text
from optcp.data.labelled import missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.outage.listings import Listing

FOLDER = "tables"
"""Directory of the CSV files."""
WORKBOOK = "outage.xlsx"
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Byte order mark, by which Excel recognises UTF-8."""
MOST_ROWS = 100_000
"""Maximum number of rows of a sheet; more take minutes."""
WIDEST = 40
"""Maximum width of a column of the spreadsheet, in letters."""


def write(directory: Path, found: Sequence[Listing]) -> list[Path]:
    """Write tables; return the files.

    The spreadsheet is written if openpyxl is installed. It has no tables with more than :data:`MOST_ROWS` rows.
    """
    written = write_csv(directory, found)
    if not missing("openpyxl"):
        _workbook(directory / WORKBOOK, [one for one in found if len(one.rows) <= MOST_ROWS])
        written.append(directory / WORKBOOK)
    return written


def write_csv(directory: Path, found: Sequence[Listing]) -> list[Path]:
    """Write tables as CSV only; return the files."""
    (directory / FOLDER).mkdir(exist_ok=True)
    written = []
    for one in found:
        target = directory / FOLDER / f"{one.name}.csv"
        write_text(target, MARK + spreadsheet.written([one.heads, *one.rows]))
        written.append(target)
    return written


def _workbook(target: Path, found: list[Listing]) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    book.remove(book.active)
    for one in found:
        sheet = book.create_sheet(one.name)
        for row in [one.heads, *one.rows]:
            sheet.append([spreadsheet.shown(cell) if isinstance(cell, str) else cell for cell in row])
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for at, values in enumerate(zip(one.heads, *one.rows, strict=True), 1):
            widest = max(len(f"{value:.4g}" if isinstance(value, float) else str(value)) for value in values)
            sheet.column_dimensions[get_column_letter(at)].width = min(widest + 2, WIDEST)
        sheet.freeze_panes = "B2"
        sheet.auto_filter.ref = sheet.dimensions
    with replacing(target) as file:
        book.save(file)
