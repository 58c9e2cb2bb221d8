"""Formatting of numbers and tables for terminals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Column, Table


WIDEST = 10_000
"""Table width in letters that no table exceeds."""

FOLDED = 4
"""Minimum width in letters of a folded column."""

STYLES = {
    "match": "green",
    "near": "yellow",
    "differs": "red",
    "undecided": "magenta",
    "claim-only": "dim",
    "true": "green",
    "false": "red",
    "ok": "green",
    "failed": "red",
    "refused": "yellow",
}


def number(value: float | None) -> str:
    """Return a value with two decimals, or "-" without a value."""
    return "-" if value is None else f"{value:.2f}"


def bounds(values: Sequence[float | None]) -> str:
    """Return an estimate with the ends of its interval."""
    centre, low, high = (number(value) for value in values)
    return f"{centre} [{low}, {high}]"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval, with "-" for undefined ends or for both."""
    if low is None and high is None:
        return "-"
    return f"[{number(low)}, {number(high)}]"


def digits(value: float, beside: float) -> str:
    """Return a number with four digits; 0 if it is rounding noise compared with ``beside``."""
    if not math.isfinite(value):
        return "-"
    if abs(value) < 1e-12 * beside:
        return "0"
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def p_text(p: float) -> str:
    """Return a p-value with two digits; small ones as "<0.001"."""
    return "-" if math.isnan(p) else "<0.001" if p < 0.001 else f"{p:.2g}"


def rate_text(bps: float) -> str:
    """Return a rate in bit/s with its unit."""
    if not math.isfinite(bps):
        return "-"
    for factor, unit in ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")):
        if abs(bps) >= factor:
            return f"{bps / factor:.3f} {unit}"
    return f"{bps:.0f} bps"


def size_text(octets: int) -> str:
    """Return an amount of data with its unit.

    Examples
    --------
    >>> size_text(625_000), size_text(1375), size_text(391_940)
    ('625 kB', '1.375 kB', '391.94 kB')
    """
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if octets >= factor:
            return f"{octets / factor:.6g} {unit}"
    return f"{octets} B"


def counts(words: Iterable[str], order: Sequence[str]) -> str:
    """Return counts of words in a fixed order: "3 match, 1 differs"."""
    found = list(words)
    return ", ".join(f"{found.count(name)} {name}" for name in order if name in found)


def show_table(console: Console, table: Table) -> None:
    """Print a table without truncating texts.

    The table has its natural width. On a narrow terminal, columns that may wrap are folded to at least ``FOLDED``
    letters.
    """
    table.width = console.measure(table, options=console.options.update(max_width=WIDEST)).maximum
    if console.is_terminal and table.width > console.width:
        columns = [column for column in table.columns if not column.no_wrap]
        spare = sum(max(_letters(column) - FOLDED, 0) for column in columns)
        table.width = max(console.width, table.width - spare)
        for column in columns:
            column.overflow, column.justify = "fold", "left"
            column.header = str(column.header).replace("_", "_\n")
    console.print(table, crop=False)


def _letters(column: Column) -> int:
    return max(cell_len(str(text)) for text in (column.header, *column.cells))
