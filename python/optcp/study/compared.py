"""Terminal table of a paired comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from optcp.common.terminal import digits, p_text, show_table
from optcp.data.labelled import censored
from optcp.study.ranked import LABEL

if TYPE_CHECKING:
    from rich.console import Console

    from optcp.data.compare import Comparison


def show_comparison(console: Console, comparison: Comparison, most: int | None) -> None:
    """Print one row per metric and parameter combination, each with a suitable unit prefix."""
    where = ", ".join(f"{name} = {value}" for name, value in comparison.at.items())
    console.print(
        Text(
            f"Differences from {where}, paired by seed. p values are not corrected for multiple comparisons.",
            style="bold",
        ),
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("metric", "unit", *comparison.common, *([LABEL] if comparison.differing else [])):
        table.add_column(name)
    for name in ("value", "reference", "difference", "95 % interval", "%", "p", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    units = comparison.units()
    for row in comparison.rows[:most]:
        largest = max(abs(row.value_at_least), abs(row.reference_at_least))
        factor, unit = units[row.metric]

        def text(value: float, factor: float = factor, largest: float = largest) -> str:
            return digits(value / factor, largest / factor)

        here = censored(row.value, row.value_at_least, text)
        there = censored(row.reference, row.reference_at_least, text)
        gap, low, high = (text(value) for value in (row.difference, row.low, row.high))
        table.add_row(
            Text(row.metric), Text(unit), *(Text(row.cell[name]) for name in comparison.common),
            *([Text(" ".join(row.cell[name] for name in comparison.differing if name in row.cell))]
              if comparison.differing else []),
            here, there, gap, Text("-" if low == "-" else f"[{low}, {high}]"),
            digits(row.relative_pct, 100), p_text(row.p), str(row.n),
        )  # fmt: skip
    show_table(console, table)
    if names := list(dict.fromkeys(row.metric for row in comparison.rows if row.censored)):
        console.print(
            f"{', '.join(names)}: some flows had not finished at the end of the run, so only lower bounds are known; "
            "compare a quantile that all runs reach, or set a later `stop`",
            soft_wrap=True,
        )
    left = len(comparison.rows) - table.row_count
    if left:
        console.print(f"{left} more rows: use --all, or --metric METRIC for one metric")
