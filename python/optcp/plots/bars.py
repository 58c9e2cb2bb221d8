"""Error bars from the intervals of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.papers.model import Row


def lengths(rows: Sequence[Row]) -> list[list[float]]:
    """Lengths below and above each value; an end that one run cannot give has no bar."""
    below = [0.0 if row.ci95[0] is None else row.measured - row.ci95[0] for row in rows]
    above = [0.0 if row.ci95[1] is None else row.ci95[1] - row.measured for row in rows]
    # Rounding may leave a bound a hair on the wrong side of the value.
    return [[max(0.0, length) for length in side] for side in (below, above)]
