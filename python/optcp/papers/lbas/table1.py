"""Table 1: throughput of the lightpaths."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from optcp.papers import judge
from optcp.papers.base import exhibit
from optcp.papers.lbas import order
from optcp.papers.lbas.exhibit import Lbas, largest_part, missing_part, mode_parts, pairs, together, trends
from optcp.papers.lbas.paper import BUNDLING_DEGREES, CELLS, FEWER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.judge import Part
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell
    from optcp.study import Done, Grid

EQUAL_PCT = 2.0
"""Throughputs within this margin of each other are the same (claims.toml)."""


@exhibit
class Table1(Lbas):
    """Every bit on the lightpaths: data, ACKs, retransmissions."""

    id = "lbas/table1"
    title = "Average throughput per lightpath"
    where = "section 3.1, Table 1"
    metrics = ("throughput_gbps",)
    printed: ClassVar = {"throughput_gbps": "table1_throughput_gbps"}
    why = (
        "Throughput depends on unstated parameters of TCP, above all on what a timeout that interrupts a "
        "recovery does to ssthresh (docs/papers/lbas.md)."
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The shared runs, and the small network in which the order of packets is watched."""
        return {**super().studies(chosen, options), order.ORDER: order.study(chosen, options)}

    def judges(self, measured: Measured) -> dict[str, list[Part]]:
        """The parts of each statement about the cells."""
        both = (True, False)
        metric = self.metrics[0]
        return {
            "anycast-raises-throughput": mode_parts(
                measured, lambda cells: measured.values(metric, cells), "above", "Gb/s"
            ),
            "throughput-rises-with-flows": [
                part for anycast in both for part in trends(measured, metric, "flows", anycast, "up")
            ],
            "throughput-rises-with-degree": [
                part for anycast in both for part in trends(measured, metric, "degree", anycast, "up")
            ],
            "largest-gain": largest_gain(measured),
            "lightpaths-are-bottleneck": only_bottleneck(measured),
        }

    def judges_beside(self, done: Mapping[str, Done]) -> dict[str, list[Part]]:
        """The statement about the order of packets."""
        return {"shortest-queue-keeps-order": keeps_order(done[order.ORDER].once(order.overtaken))}

    def notes(self, done: Mapping[str, Done]) -> list[str]:
        """What the small network showed."""
        found = done[order.ORDER].once(order.overtaken)
        counts = "; ".join(
            f"{way}: {one.segments} segments and {one.acks} ACKs of {one.sent}" for way, one in found.items()
        )
        return [
            f"Packets overtaken within their flow, in a network of 100 Mb/s over 4 s: {counts}. An ACK counts where "
            "its number falls; duplicate ACKs that overtake each other do not show, so there are at least as many."
        ]


def gains(measured: Measured, of: Sequence[tuple[Cell, Cell]]) -> dict[Cell, NDArray[np.float64]]:
    """The gain in throughput relative to the value with anycast switching, per cent, of several pairs together."""
    return together(measured, "throughput_gbps", of, lambda one, other: 100 * (one - other) / one)


def largest_gain(measured: Measured) -> list[Part]:
    """Judge: the largest gain is the printed one, in the first cell, and gains shrink with more flows."""
    parts = missing_part(measured, [CELLS])
    if measured.has(CELLS):
        parts += largest_part(gains(measured, pairs()), "gain", "throughput_gain_pct", batches=measured.batched(CELLS))
    first, *others = pairs()
    for other in others:
        if measured.has((*first, *other)):
            of_first, of_other = gains(measured, [first, other]).values()
            name = f"b_D = {other[0].bundling_degree} and {other[0].flows} flows"
            text = f"gain at b_D = 2 and 100 flows minus {name}"
            batches = measured.batched((*first, *other))
            parts.append(judge.paired_part(text, of_first, of_other, "above", "points", batches=batches))
    for degree in BUNDLING_DEGREES:
        row = [pair for pair in pairs() if pair[0].bundling_degree == degree]
        cells = [cell for pair in row for cell in pair]
        if measured.has(cells):
            steps = [f"{cell.flows} flows" for cell, _ in row]
            values = list(gains(measured, row).values())
            name = f"gain at b_D = {degree}"
            parts += judge.trend_parts(name, steps, values, "down", "points", batches=measured.batched(cells))
    return parts


def keeps_order(found: Mapping[str, order.Overtaken]) -> list[Part]:
    """Judge: nothing is overtaken with least unfinished work, something is with other balancing."""
    parts = []
    for way, (segments, acks, _) in found.items():
        text = f"{way}: {segments} segments and, by falling numbers, {acks} ACKs overtaken"
        if way in order.KEPT:
            parts.append(judge.exact_part(text, segments == 0 and acks == 0))
        elif way in order.BROKEN:
            parts.append(judge.exact_part(text, segments > 0 and acks > 0))
    return parts


def only_bottleneck(measured: Measured) -> list[Part]:
    """Judge: nothing is lost at metro nodes, K does not matter, and all lightpaths have as many flows.

    Only K is a result: metro nodes have unlimited queues, and the flows of a lightpath follow from the static formula.
    What a metro node may still do is let packets wait, so the longest wait stands beside.
    """
    parts = []
    losing = [
        cell.name
        for cell in measured.cells
        if any(one["metro_drop_mbps"].any() for one in measured.cells[cell].values())
    ]
    if measured.cells:
        waits = {cell: measured.longest("metro_longest_ms", cell).estimate for cell in measured.cells}
        worst = max(waits, key=lambda cell: waits[cell])
        text = (
            f"metro nodes that lose packets: {', '.join(losing) or 'none'}, of {len(measured.cells)} cells, by "
            f"construction (their queues are unlimited); longest wait at one {waits[worst]:.3g} ms ({worst.name})"
        )
        parts.append(judge.exact_part(text, not losing))
    beside = list(zip(CELLS[:2], FEWER, strict=True))
    parts += missing_part(measured, beside)
    for cell, fewer in beside:
        if measured.has((cell, fewer)):
            first, second = measured.values("throughput_gbps", (cell, fewer))
            mode = "with anycast" if cell.anycast else "without"
            difference = 100 * (second - first) / first.mean()
            name, batches = f"K = 2 against K = 5, {mode}", measured.batched((cell, fewer))
            parts.append(judge.equivalence_part(name, difference, EQUAL_PCT, "%", batches=batches))
    equal = all(set(cell.flows_by_lightpath()) == {cell.flows} for cell in (*CELLS, *FEWER))
    text = "flows by lightpath equal N K in every cell, by construction (the static formula)"
    parts.append(judge.exact_part(text, equal))
    return parts
