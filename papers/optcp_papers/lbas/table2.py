"""Table 2: drops in the core nodes."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from optcp.papers.kit import Exhibit, Findings, Found, Part, Row
from optcp.stats import Interval
from optcp_papers.lbas.outcome import Measured
from optcp_papers.lbas.paper import CELLS, Cell
from optcp_papers.lbas.steady import Steady, steady
from optcp_papers.lbas.tables import SETUP, curves, mode_parts, shown, trends

METRIC, FAR = "drop_mbps", "far_drop_mbps"
PRINTED = {METRIC: "table2_drop_mbps", "drop_node_mbps": "table2_drop_mbps"}
"""Published tables by metric. It is unstated whether the values are per lightpath or the sum over a node."""
WHY = (
    "The size of drops is a matter of one line of TCP: what a timeout that interrupts a recovery does to ssthresh "
    "changes it by orders of magnitude (docs/details/lbas.md). Steady NewReno at these rates drops far less than "
    "printed."
)
LAW = "square-root law"
LIGHTPATH_MBPS = 10_000


def find(found: Found) -> Findings:
    """Return the rates of dropped packets: at the ports of the lightpaths, and separately towards metro nodes."""
    runs = shown(found)
    rows = runs.rows(metrics, PRINTED, WHY)
    series = curves(rows, METRIC)
    return Findings([*rows, *law_rows()], runs.judged(CLAIMS), series, [*runs.notes, law_note()], runs.kept)


def metrics(measured: Measured, cell: Cell) -> dict[str, Interval]:
    """Return the metrics of a combination."""
    core = measured.interval(cell, METRIC)
    return {METRIC: core, FAR: measured.interval(cell, FAR), "drop_node_mbps": core.times(cell.bundling_degree)}


def anycast_drops_less(measured: Measured) -> list[Part]:
    """Judge: every pair drops less with anycast switching, with and without the ports towards metro nodes."""
    both = mode_parts(measured, [METRIC, FAR], "below", "Mb/s")
    core = mode_parts(measured, [METRIC], "below", "Mb/s")
    return core + [replace(part, text=f"with far-side ports, {part.text}") for part in both]


def at_published(cell: Cell) -> Steady:
    """Return the drop rate of steady NewReno at the published values of a combination."""
    throughput_mbps = 1000 * cell.printed("table1_throughput_gbps")
    return steady(throughput_mbps, cell.flows, cell.printed("table3_queue_mb"), LIGHTPATH_MBPS)


def law_rows() -> list[Row]:
    """Return the drop rate of steady NewReno at the published throughput and queue: by the law, and at most."""
    return [
        Row(cell.key(LAW), metric, None, round(value, 4), (None, None), 0, "claim-only")
        for cell in CELLS
        for metric, value in (("law_mbps", at_published(cell).law_mbps), ("most_mbps", at_published(cell).most_mbps))
    ]


def law_note() -> str:
    """Describe these rows, and their distance from the published values."""
    law = {cell: cell.printed("table2_drop_mbps") / at_published(cell).law_mbps for cell in CELLS}
    most = {cell: cell.printed("table2_drop_mbps") / at_published(cell).most_mbps for cell in CELLS}
    return (
        f"`{LAW}`: what steady NewReno drops at the printed throughput and queue, with one loss for each halving "
        "(`law_mbps`), and with a whole window lost at each and repaired a segment a round trip (`most_mbps`). "
        f"The printed values are {_range(law)} times the first and {_range(most)} times the second; if they are "
        f"sums over a core node, {_range(law, by_node=True)} and {_range(most, by_node=True)} times."
    )


def _range(ratios: Mapping[Cell, float], by_node: bool = False) -> str:
    found = [ratio / cell.bundling_degree if by_node else ratio for cell, ratio in ratios.items()]
    low, high = (f"{end:.0f}" if end >= 10 else f"{end:.2g}" for end in (min(found), max(found)))
    return f"{low} to {high}"


CLAIMS: Mapping[str, Callable[[Measured], list[Part]]] = {
    "anycast-drops-less": anycast_drops_less,
    "drops-fall-with-degree": lambda measured: trends(measured, METRIC, "degree", {True: "down", False: "up"}),
    "drops-rise-with-flows": lambda measured: trends(measured, METRIC, "flows", {True: "up", False: "up"}),
}
"""Judge of each claim."""

TABLE2 = Exhibit("lbas/table2", "Average drop rate in core nodes", "section 3.2, Table 2", SETUP, find)
