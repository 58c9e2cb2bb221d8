"""Beyond the paper: does anycast switching help today's senders? In the smaller copy of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import outcome, smaller
from optcp.papers.lbas.rows import both_modes, columns, curves
from optcp.papers.lbas.smaller import Smaller

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.lbas.outcome import Batches
    from optcp.papers.lbas.paper import Cell
    from optcp.study import Done, Grid

RUNS = 8
NAME = "long flows"


def study(chosen: Mapping[str, Value], options: Options) -> Grid:
    """Every sender in every cell, with anycast switching and without."""
    cells = smaller.QUICK_CELLS if smaller.is_quick(options) else smaller.CELLS
    settings = [{**sender, **dict(cell.overrides())} for sender in smaller.SENDERS.values() for cell in cells]
    return smaller.study("lbas, smaller copy", settings, chosen, options)


def measured(done: Done) -> dict[tuple[str, Cell], dict[int, Batches]]:
    """What the ports counted, by sender and cell, then by seed."""
    return done.once(_measured)


def _measured(done: Done) -> dict[tuple[str, Cell], dict[int, Batches]]:
    whole = len(done.grid.branches) == len(smaller.SENDERS) * len(smaller.CELLS)
    cells = smaller.CELLS if whole else smaller.QUICK_CELLS
    places = [(sender, cell) for sender in smaller.SENDERS for cell in cells]
    found: dict[tuple[str, Cell], dict[int, Batches]] = {place: {} for place in places}
    for seed, runs in done:
        for place, run in zip(places, runs, strict=True):
            found[place][seed] = outcome.batches(run)
    return found


@exhibit
class Today(Smaller):
    """The paper's quantities for three interpretations of NewReno, for CUBIC and for BBR."""

    id = "lbas/today"
    title = "Utilisation, drops and queue with today's senders, smaller copy of the network"
    runs = RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study with all cells."""
        return {NAME: study(chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by sender and cell, and differences paired by seed."""
        del chosen
        found = measured(done[NAME])
        rows = []
        for sender, cell in found:
            if not cell.anycast:
                continue
            modes = {
                mode: columns([smaller.shares(one) for one in found[sender, of_mode].values()])
                for mode, of_mode in (("yes", cell), ("no", without(cell)))
            }
            rows += both_modes({name: value for name, value in cell.key(sender).items() if name != "anycast"}, modes)
        series = [
            curve
            for metric, label in METRICS.items()
            for curve in curves(rows, metric, "bundling_degree", ("bundling degree", label), ("", "%"))
        ]
        return Evaluation(rows, [], series, [NOTE])


METRICS = {"utilisation_pct": "utilisation", "dropped_pct": "dropped bytes", "queue_pct": "queue"}
NOTE = (
    "Lightpaths of 100 Mb/s, 60 s without the first 6 s. Utilisation in % of the rate, dropped bytes in % of those "
    "that came to the lightpaths, the mean queue in % of the buffer of C RTT / 10. Differences are paired by seed."
)


def without(cell: Cell) -> Cell:
    """The cell without anycast switching."""
    return type(cell)(cell.bundling_degree, cell.flows, anycast=False, metro_nodes=cell.metro_nodes)
