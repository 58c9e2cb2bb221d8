"""CSV output that spreadsheets do not execute as formulas.

Spreadsheets interpret a cell as a formula [1]_ if it starts with a tab, a carriage return, ``=``, ``+``, ``-`` or
``@``. The same applies to the full-width forms of these signs. Such texts get a leading apostrophe, unless they are
numbers. A carriage return becomes a line end inside quotes, where spreadsheets start no new row. Files are UTF-8
without a byte order mark, which other programs would read as part of the first name.

References
----------
.. [1] OWASP, CSV Injection, https://owasp.org/www-community/attacks/CSV_Injection.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
            "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip
"""First characters of texts that spreadsheets interpret as formulas."""


def shown(text: str) -> str:
    """Return a text that spreadsheets display but do not execute.

    Examples
    --------
    >>> shown("=1+1"), shown("-3.5e-2"), shown("-3 dB"), shown("A->B")
    ("'=1+1", '-3.5e-2', "'-3 dB", 'A->B')
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(FORMULAS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()


def lines(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; texts must have passed :func:`shown`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def written(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV."""
    return lines([shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
