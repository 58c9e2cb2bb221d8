"""Table 3: queues before the lightpaths, and end-to-end delays."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Exhibit, Findings, Found, Part
from optcp.stats import Interval
from optcp_papers.lbas.outcome import Measured, Together
from optcp_papers.lbas.paper import Cell
from optcp_papers.lbas.tables import SETUP, Way, change_trends, curves, largest, mode_parts, shown, trends

METRIC = "queue_mb"
PRINTED = {METRIC: "table3_queue_mb"}
DELAYS = ("metro_delay_ms", "core_delay_ms", "far_delay_ms")
"""Delays on the path of a packet, without the links of its hosts."""
LONGEST = ("metro_longest_ms", "core_longest_ms", "far_longest_ms")
WHY = (
    "The queue follows from how far flows are from filling the lightpath, which depends on what the paper leaves "
    "open of TCP (docs/details/lbas.md)."
)
NOTE = (
    "Delays are mean times from a packet's arrival at a port until its last bit has left, weighted by bytes: "
    "from a metro node (`metro`), into a lightpath (`core`) and towards the other metro node (`far`). "
    "`delay_ms` is their sum. The longest ones are maxima over all runs from their start, without an "
    "interval."
)


def find(found: Found) -> Findings:
    """Return the time-weighted queue of a port, including the packet in transmission."""
    runs = shown(found)
    rows = runs.rows(metrics, PRINTED, WHY)
    return Findings(rows, runs.judged(CLAIMS), curves(rows, METRIC), [*runs.notes, NOTE], runs.kept)


def metrics(measured: Measured, cell: Cell) -> dict[str, Interval]:
    """Return the queue, the queueing delay between metro nodes, and its maximum on each part of the path."""
    means = {metric: measured.interval(cell, metric) for metric in (METRIC, *DELAYS)}
    longest = {metric: measured.longest(cell, metric) for metric in LONGEST}
    return {**means, "delay_ms": measured.interval(cell, *DELAYS), **longest}


def reductions(pairs: Together) -> list[NDArray[np.float64]]:
    """Return the reduction of the queue of each pair, in % of the value with anycast switching."""
    return [100 * (other - one) / one for one, other in zip(*pairs.sides(METRIC), strict=True)]


def largest_reduction(measured: Measured) -> list[Part]:
    """Judge: the maximum reduction is the published one, and reductions grow with the bundling degree."""
    parts = largest(measured, reductions, "reduction", "queue_reduction_pct")
    return parts + change_trends(measured, reductions, "reduction", "degree", "up")


def queue_falls(measured: Measured) -> list[Part]:
    """Judge: the queue falls with the bundling degree and with the flows, with and without anycast switching."""
    down: dict[bool, Way] = {True: "down", False: "down"}
    return trends(measured, METRIC, "degree", down) + trends(measured, METRIC, "flows", down)


CLAIMS: Mapping[str, Callable[[Measured], list[Part]]] = {
    "anycast-shortens-queue": lambda measured: [
        *mode_parts(measured, [METRIC], "below", "MB"),
        *largest_reduction(measured),
    ],
    "queue-falls": queue_falls,
}
"""Judge of each claim."""

TABLE3 = Exhibit("lbas/table3", "Average queue length in core nodes", "section 3.3, Table 3", SETUP, find)
