"""Files with the complete tables of an outage study: CSV, and one spreadsheet with a sheet per table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.common import spreadsheet
from optcp.common.files import replacing, write_text
from optcp.data.labelled import missing
from optcp.outage.listings import listings

if TYPE_CHECKING:
    from pathlib import Path

    from optcp.outage.listings import Listing
    from optcp.outage.result import Result

FOLDER = "tables"
"""Directory of the CSV files."""
WORKBOOK = "outage.xlsx"
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Byte order mark, by which Excel recognises UTF-8."""
WIDEST = 40
"""Maximum width of a column of the spreadsheet, in letters."""


def write(directory: Path, result: Result) -> list[Path]:
    """Write the tables of a result; return the files.

    The spreadsheet is written if openpyxl is installed.
    """
    found = listings(result)
    (directory / FOLDER).mkdir(exist_ok=True)
    written = []
    for one in found:
        target = directory / FOLDER / f"{one.name}.csv"
        write_text(target, MARK + spreadsheet.written([one.heads, *one.rows]))
        written.append(target)
    if not missing("openpyxl"):
        _workbook(directory / WORKBOOK, found)
        written.append(directory / WORKBOOK)
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
