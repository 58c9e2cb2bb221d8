"""Table 1: throughput of the lightpaths."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Exhibit, Findings, Found, Part, judge
from optcp_papers.lbas import order
from optcp_papers.lbas.outcome import Measured, Together
from optcp_papers.lbas.paper import CELLS, FEWER
from optcp_papers.lbas.tables import (
    MODES,
    PAIRS,
    SETUP,
    change_trends,
    curves,
    grids,
    largest,
    missing_part,
    mode_parts,
    shown,
    trends,
)

METRIC = "throughput_gbps"
PRINTED = {METRIC: "table1_throughput_gbps"}
WHY = (
    "Throughput depends on unstated parameters of TCP, above all on what a timeout that interrupts a "
    "recovery does to ssthresh (docs/details/lbas.md)."
)
EQUAL_PCT = 2.0
"""Margin within which throughputs count as equal (claims.toml)."""


def find(found: Found) -> Findings:
    """Return the bits on the lightpaths (data, ACKs, retransmissions), and the order of packets in a small network."""
    runs, overtaken = shown(found), found.done[order.ORDER].once(order.overtaken)
    rows = runs.rows(lambda measured, cell: {METRIC: measured.interval(cell, METRIC)}, PRINTED, WHY)
    claims = runs.judged(CLAIMS) | {"shortest-queue-keeps-order": runs.of_chosen(keeps_order(overtaken))}
    counts = "; ".join(
        f"{way}: {item.segments} segments and {item.acks} ACKs of {item.sent}" for way, item in overtaken.items()
    )
    note = (
        f"Packets overtaken within their flow, in a network of 100 Mb/s over 4 s: {counts}. An ACK counts where "
        "its number falls; duplicate ACKs that overtake each other do not show, so there are at least as many."
    )
    return Findings(rows, claims, curves(rows, METRIC), [*runs.notes, note], runs.kept)


def gains(pairs: Together) -> list[NDArray[np.float64]]:
    """Return the gain in throughput of each pair, in % of the value with anycast switching."""
    return [100 * (one - other) / one for one, other in zip(*pairs.sides(METRIC), strict=True)]


def largest_gain(measured: Measured) -> list[Part]:
    """Judge: the maximum gain is the published one, in the first combination, and gains shrink with more flows."""
    parts = largest(measured, gains, "gain", "throughput_gain_pct")
    first, *others = PAIRS
    for other in others:
        if both := measured.together((*first, *other)):
            of_first, of_other = gains(both)
            name = f"b_D = {other[0].bundling_degree} and {other[0].flows} flows"
            text = f"gain at b_D = 2 and 100 flows minus {name}"
            parts.append(judge.paired_part(text, of_first, of_other, "above", "points", batches=both.batches))
    return parts + change_trends(measured, gains, "gain", "flows", "down")


def keeps_order(found: Mapping[str, order.Overtaken]) -> list[Part]:
    """Judge: no packet is overtaken with least unfinished work, some are with other balancing."""
    parts = []
    for way, (segments, acks, _) in found.items():
        text = f"{way}: {segments} segments and, by falling numbers, {acks} ACKs overtaken"
        if way in order.KEPT:
            parts.append(judge.exact_part(text, segments == 0 and acks == 0))
        elif way in order.BROKEN:
            parts.append(judge.exact_part(text, segments > 0 and acks > 0))
    return parts


def only_bottleneck(measured: Measured) -> list[Part]:
    """Judge: nothing is lost at metro nodes, K does not matter, and all lightpaths have equally many flows.

    Only K is a result: metro nodes have unlimited queues, and the flows of a lightpath follow from the static formula.
    Packets can still wait at metro nodes, so the text states the maximum wait.
    """
    parts = []
    losing = [
        cell.name
        for cell in measured.cells
        if any(item["metro_drop_mbps"].any() for item in measured.cells[cell].values())
    ]
    if measured.cells:
        waits = {cell: measured.longest(cell, "metro_longest_ms").estimate for cell in measured.cells}
        worst = max(waits, key=lambda cell: waits[cell])
        text = (
            f"metro nodes that lose packets: {', '.join(losing) or 'none'}, of {len(measured.cells)} cells, by "
            f"construction (their queues are unlimited); longest wait at one {waits[worst]:.3g} ms ({worst.name})"
        )
        parts.append(judge.exact_part(text, not losing))
    beside = list(zip(CELLS[:2], FEWER, strict=True))
    parts += missing_part(measured, beside)
    for pair in beside:
        if both := measured.together(pair):
            first, second = both.values("throughput_gbps")
            difference = 100 * (second - first) / first.mean()
            name = f"K = 2 against K = 5, {MODES[pair[0].anycast]}"
            parts.append(judge.equivalence_part(name, difference, EQUAL_PCT, "%", batches=both.batches))
    equal = all(set(cell.flows_by_lightpath()) == {cell.flows} for cell in (*CELLS, *FEWER))
    text = "flows by lightpath equal N K in every cell, by construction (the static formula)"
    parts.append(judge.exact_part(text, equal))
    return parts


CLAIMS: Mapping[str, Callable[[Measured], list[Part]]] = {
    "anycast-raises-throughput": lambda measured: mode_parts(measured, [METRIC], "above", "Gb/s"),
    "throughput-rises-with-flows": lambda measured: trends(measured, METRIC, "flows", {True: "up", False: "up"}),
    "throughput-rises-with-degree": lambda measured: trends(measured, METRIC, "degree", {True: "up", False: "up"}),
    "largest-gain": largest_gain,
    "lightpaths-are-bottleneck": only_bottleneck,
}
"""Judge of each claim about the combinations."""

TABLE1 = Exhibit(
    "lbas/table1",
    "Average throughput per lightpath",
    "section 3.1, Table 1",
    replace(
        SETUP,
        grids=lambda chosen, options: {**grids(chosen, options), order.ORDER: order.grid(chosen, options)},
    ),
    find,
)
