"""Table 3: queues in front of the lightpaths, and delays from end to end beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import exhibit
from optcp.papers.lbas.exhibit import Lbas, largest_part, missing_part, mode_parts, pairs, together, trends
from optcp.papers.lbas.paper import CELLS, FLOWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.judge import Part
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell
    from optcp.study import Done

DELAYS = ("metro_delay_ms", "core_delay_ms", "far_delay_ms")
"""On the path of a packet; those of its host's links are not counted."""
LONGEST = ("metro_longest_ms", "core_longest_ms", "far_longest_ms")


@exhibit
class Table3(Lbas):
    """Time-weighted queue of a port, the packet in transmission included."""

    id = "lbas/table3"
    title = "Average queue length in core nodes"
    where = "section 3.3, Table 3"
    metrics = ("queue_mb", *DELAYS)
    printed: ClassVar = {"queue_mb": "table3_queue_mb"}
    why = (
        "The queue follows from how far flows are from filling the lightpath, which depends on what the paper leaves "
        "open of TCP (docs/papers/lbas.md)."
    )

    def combined(self, cell: Cell, measured: Measured) -> dict[str, Any]:
        """The queueing delay from metro node to metro node, and the longest one on each part of the path."""
        total = sum(measured.values(metric, [cell])[0] for metric in DELAYS)
        longest = {metric: measured.longest(metric, cell) for metric in LONGEST}
        delay = stats.mean(np.asarray(total), batches=measured.batched([cell]))
        return {"delay_ms": replace(delay, n=len(measured.cells[cell])), **longest}

    def notes(self, done: Mapping[str, Done]) -> list[str]:
        """What the delays are."""
        del done
        return [
            "Delays are mean times from a packet's arrival at a port until its last bit has left, weighted by bytes: "
            "from a metro node (`metro`), into a lightpath (`core`) and towards the other metro node (`far`). "
            "`delay_ms` is their sum. The longest ones are maxima over all runs from their start, without an "
            "interval."
        ]

    def judges(self, measured: Measured) -> dict[str, list[Part]]:
        """The parts of each statement."""
        over: tuple[tuple[Any, Any], ...] = (("degree", True), ("degree", False), ("flows", True), ("flows", False))
        return {
            "anycast-shortens-queue": [
                *mode_parts(measured, lambda cells: measured.values("queue_mb", cells), "below", "MB"),
                *largest_reduction(measured),
            ],
            "queue-falls": [
                part for axis, anycast in over for part in trends(measured, "queue_mb", axis, anycast, "down")
            ],
        }


def largest_reduction(measured: Measured) -> list[Part]:
    """Judge: the largest reduction is the printed one, and reductions grow with the bundling degree."""
    parts = missing_part(measured, [CELLS])
    if measured.has(CELLS):
        parts += largest_part(
            reductions(measured, pairs()), "reduction", "queue_reduction_pct", batches=measured.batched(CELLS)
        )
    for flows in FLOWS:
        row = [pair for pair in pairs() if pair[0].flows == flows]
        cells = [cell for pair in row for cell in pair]
        if measured.has(cells):
            steps = [f"b_D = {cell.bundling_degree}" for cell, _ in row]
            values = list(reductions(measured, row).values())
            name = f"reduction at {flows} flows"
            parts += judge.trend_parts(name, steps, values, "up", "points", batches=measured.batched(cells))
    return parts


def reductions(measured: Measured, of: Sequence[tuple[Cell, Cell]]) -> dict[Cell, NDArray[np.float64]]:
    """The reduction of the queue relative to the value with anycast switching, per cent, of several pairs together."""
    return together(measured, "queue_mb", of, lambda one, other: 100 * (other - one) / one)
