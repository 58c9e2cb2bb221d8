"""Bars of rows, and error bars from their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from optcp.papers.model import Row


def lengths(rows: Sequence[Row]) -> list[list[float]]:
    """Lengths below and above each value; an end that one run cannot give has no bar."""
    below = [0.0 if row.ci95[0] is None else row.value - row.ci95[0] for row in rows]
    above = [0.0 if row.ci95[1] is None else row.ci95[1] - row.value for row in rows]
    # Rounding may leave a bound a hair on the wrong side of the value.
    return [[max(0.0, length) for length in side] for side in (below, above)]


def group(panel: Axes, rows: Sequence[Row], number: int, of: int, colour: str, label: str) -> None:
    """The bars of one kind, the ``number``-th of ``of`` that stand side by side at each place 0, 1, ..."""
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
