"""Texts of users: encoding, lines, and rows of CSV files.

# Model

A byte order mark determines the encoding; the default is UTF-8. Lines end with LF, CRLF or CR. Rows of CSV follow
RFC 4180, but a row never spans lines. ``#`` outside quotes starts a comment, and lines without a value are skipped.
The first row determines the separator: a comma, a semicolon or a tab.
"""

from __future__ import annotations

import codecs
import csv
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SEPARATORS = (",", ";", "\t")
"""Possible separators; the first one wins a tie."""

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Encodings by byte order mark; UTF-32 must precede UTF-16, whose mark is a prefix."""

LONGEST_WORD = 40
"""Maximum number of quoted characters in a message."""

NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
LONGEST_NUMBER = 100
"""Maximum number of characters of a number."""

UNCOMMENTED = re.compile(r'(?:[^"#]+|"[^"]*")*')
"""Line up to its comment, or up to an unclosed quote."""


def decoded(content: bytes) -> str:
    """Return the text of a file with LF line ends.

    Raises
    ------
    ValueError
        If the bytes do not match the encoding, with a message such as "not UTF-8 text: byte 0xFC in line 3".
    """
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        name = encoding.removesuffix("-sig").upper()
        raise ValueError(
            f"not {name} text: byte 0x{content[error.start]:02X} in line {line}; save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(text: str) -> list[str]:
    """Return the lines of a text. Unlike :meth:`str.splitlines`, only LF ends a line."""
    found = text.split("\n")
    if not found[-1]:
        found.pop()
    return found


def rows(text: str, columns: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and stripped fields of each CSV line with a value.

    Parameters
    ----------
    text
        Text of :func:`decoded`.
    columns
        Expected number of columns, which helps to detect the separator.

    Raises
    ------
    ValueError
        If a line is no row; the message begins with "line N: ".
    """
    separator = ""
    for number, line in enumerate(lines(text), 1):
        # Most lines of long files have neither quotes nor comments.
        if separator and '"' not in line and "#" not in line:
            fields = [field.strip() for field in line.split(separator)]
            if any(fields):
                yield number, fields
            continue
        match = UNCOMMENTED.match(line)
        written = match[0] if match else ""
        if line[len(written) :].startswith('"'):
            raise ValueError(f"line {number}: a quoted field is not closed in its line")
        if not written.strip():
            continue
        separator = separator or _separator(written, columns)
        fields = _fields(written, separator, number)
        if any(fields):
            yield number, fields


def is_number(text: str) -> bool:
    """Return whether a field is a number that :class:`decimal.Decimal` holds exactly."""
    return len(text) <= LONGEST_NUMBER and NUMBER.fullmatch(text) is not None


def short(text: object) -> str:
    """Return a word of a file for a message, shortened if necessary."""
    words = str(text)
    return words if len(words) <= LONGEST_WORD else words[:LONGEST_WORD] + "..."


def _separator(written: str, columns: int | None) -> str:
    """Return the separator that gives the expected number of columns, or else the most columns."""
    bare = re.sub('"[^"]*"', "", written)
    counts = {separator: bare.count(separator) + 1 for separator in SEPARATORS}
    fitting = [separator for separator, count in counts.items() if count == columns]
    return fitting[0] if fitting else max(SEPARATORS, key=lambda separator: counts[separator])


def _fields(written: str, separator: str, number: int) -> list[str]:
    try:
        row = next(csv.reader([written.strip(" ")], delimiter=separator, skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"line {number}: {error}") from None
    return [field.strip() for field in row]
