"""Table 2: drops in the core nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from optcp.papers.base import exhibit
from optcp.papers.lbas.exhibit import Lbas, mode_parts, printed, trends
from optcp.papers.lbas.paper import CELLS
from optcp.papers.lbas.steady import Steady, steady
from optcp.papers.model import Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.judge import Part
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell
    from optcp.study import Done

LAW = "square-root law"
LIGHTPATH_MBPS = 10_000


@exhibit
class Table2(Lbas):
    """Bits of dropped packets: at the ports of the lightpaths, and apart at those towards metro nodes."""

    id = "lbas/table2"
    title = "Average drop rate in core nodes"
    where = "section 3.2, Table 2"
    metrics = ("drop_mbps", "far_drop_mbps")
    printed: ClassVar = {"drop_mbps": "table2_drop_mbps", "drop_node_mbps": "table2_drop_mbps"}
    why = (
        "The size of drops is a matter of one line of TCP: what a timeout that interrupts a recovery does to ssthresh "
        "changes it by orders of magnitude (docs/papers/lbas.md). Steady NewReno at these rates drops far less than "
        "printed."
    )

    def combined(self, cell: Cell, measured: Measured) -> dict[str, Any]:
        """The drops of all lightpaths of a node together: what the printed values are sums of is unstated."""
        return {"drop_node_mbps": measured.interval("drop_mbps", cell).times(cell.bundling_degree)}

    def rows_beside(self) -> list[Row]:
        """What steady NewReno drops at the printed throughput and queue: by the law, and at most."""
        return [one for cell in CELLS for one in _law(cell)]

    def notes(self, done: Mapping[str, Done]) -> list[str]:
        """What those rows are, and how far the printed values are from them."""
        del done
        law = [(cell, printed("table2_drop_mbps", cell) / of_print(cell).law_mbps) for cell in CELLS]
        most = [(cell, printed("table2_drop_mbps", cell) / of_print(cell).most_mbps) for cell in CELLS]
        return [
            f"`{LAW}`: what steady NewReno drops at the printed throughput and queue, with one loss for each halving "
            "(`law_mbps`), and with a whole window lost at each and repaired a segment a round trip (`most_mbps`). "
            f"The printed values are {_range(law)} times the first and {_range(most)} times the second; if they are "
            f"sums over a core node, {_range(law, by_node=True)} and {_range(most, by_node=True)} times."
        ]

    def judges(self, measured: Measured) -> dict[str, list[Part]]:
        """The parts of each statement."""

        def at_both(cells: Sequence[Cell]) -> list[NDArray[np.float64]]:
            here, there = (measured.values(metric, cells) for metric in ("drop_mbps", "far_drop_mbps"))
            return [one + other for one, other in zip(here, there, strict=True)]

        core = mode_parts(measured, lambda cells: measured.values("drop_mbps", cells), "below", "Mb/s")
        both = [
            replace(part, text=f"with far-side ports, {part.text}")
            for part in mode_parts(measured, at_both, "below", "Mb/s")
        ]
        return {
            "anycast-drops-less": core + both,
            "drops-fall-with-degree": [
                *trends(measured, "drop_mbps", "degree", True, "down"),
                *trends(measured, "drop_mbps", "degree", False, "up"),
            ],
            "drops-rise-with-flows": [
                part for anycast in (True, False) for part in trends(measured, "drop_mbps", "flows", anycast, "up")
            ],
        }


def of_print(cell: Cell) -> Steady:
    """What steady NewReno drops at the printed values of a cell."""
    throughput = 1000 * printed("table1_throughput_gbps", cell)
    return steady(throughput, cell.flows, printed("table3_queue_mb", cell), LIGHTPATH_MBPS)


def _range(ratios: Sequence[tuple[Cell, float]], by_node: bool = False) -> str:
    found = [ratio / cell.bundling_degree if by_node else ratio for cell, ratio in ratios]
    low, high = (f"{end:.0f}" if end >= 10 else f"{end:.2g}" for end in (min(found), max(found)))
    return f"{low} to {high}"


def _law(cell: Cell) -> list[Row]:
    bound = of_print(cell)
    return [
        Row(cell.key(LAW), metric, None, round(value, 4), (None, None), 0, "claim-only")
        for metric, value in (("law_mbps", bound.law_mbps), ("most_mbps", bound.most_mbps))
    ]
