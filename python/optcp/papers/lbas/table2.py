"""Table 2: drops in the core nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from optcp.papers.base import exhibit
from optcp.papers.lbas.exhibit import Lbas, mode_parts, trends

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.judge import Part
    from optcp.papers.lbas.outcome import Measured
    from optcp.papers.lbas.paper import Cell


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
        """The drops of all lightpaths of a node together: what the print is summed over is not said."""
        return {"drop_node_mbps": measured.interval("drop_mbps", cell).times(cell.bundling_degree)}

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
            "With anycast switching the core drops less": core + both,
            "With anycast switching drops fall": [
                *trends(measured, "drop_mbps", "degree", True, "down"),
                *trends(measured, "drop_mbps", "degree", False, "up"),
            ],
            "Drops are higher with more flows": [
                part for anycast in (True, False) for part in trends(measured, "drop_mbps", "flows", anycast, "up")
            ],
        }
