"""Bar charts of rows with error bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from optcp.papers.model import Row


def lengths(rows: Sequence[Row]) -> list[list[float]]:
    """Lengths of error bars below and above each value; zero for an unknown bound."""
    below = [0.0 if row.ci95[0] is None else row.value - row.ci95[0] for row in rows]
    above = [0.0 if row.ci95[1] is None else row.ci95[1] - row.value for row in rows]
    # Rounding can put a bound on the wrong side of the value.
    return [[max(0.0, length) for length in side] for side in (below, above)]


def group(panel: Axes, rows: Sequence[Row], number: int, of: int, colour: str, label: str) -> None:
    """Draw the bars of one series: the ``number``-th of ``of`` side by side at x = 0, 1, ..."""
    width = 0.8 / of
    panel.bar(
        [index + width * (number - (of - 1) / 2) for index in range(len(rows))],
        [row.value for row in rows],
        width,
        yerr=lengths(rows),
        color=colour,
        ecolor="#444444",
        capsize=2,
        label=label,
    )
