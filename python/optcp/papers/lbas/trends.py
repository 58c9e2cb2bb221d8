"""Which of the paper's trends each sender shows: in the long runs that are kept, and in the smaller copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import smaller, today
from optcp.papers.lbas.exhibit import by_cell, kept_runs, provenance_of
from optcp.papers.lbas.outcome import Measured
from optcp.papers.lbas.paper import CELLS, DEFAULTS, READINGS, reading
from optcp.papers.lbas.smaller import Smaller
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.lbas.paper import Cell
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Study

Pairs = list[tuple["Cell", "Cell"]]


@dataclass(frozen=True)
class Network:
    """Whose shares are compared.

    Attributes
    ----------
    name
        "paper, long runs" or "smaller copy".
    rate_mbps, buffer_mb
        Of a lightpath.
    """

    name: str
    rate_mbps: float
    buffer_mb: float


OF_PAPER = Network("paper, long runs", 10_000, 12.5)
COPY = Network("smaller copy", smaller.RATE_MBPS, smaller.BUFFER_BYTES / 1e6)


@exhibit
class Trends(Smaller):
    """The paper's three trends: with anycast switching, with larger bundles, with more flows."""

    id = "lbas/trends"
    title = "The paper's trends by sender: kept long runs, and the smaller copy of the network"
    where = "section 3, and beyond the paper"
    runs = today.RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Study]:
        """Those of ``lbas/today``; long runs are read, and not made here."""
        return {today.NAME: today.study(chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Each trend over all cells that there are."""
        del chosen
        rows: list[Row] = []
        kept: list[dict[str, Any]] = []
        for values in READINGS:
            of_reading = {**DEFAULTS, **values}
            runs = [(cell, content) for cell, content in kept_runs(of_reading) if cell in CELLS]
            rows += rows_of(OF_PAPER, reading(of_reading), Measured(by_cell(runs)))
            kept += provenance_of(reading(of_reading), runs)
        found = today.measured(done[today.NAME])
        for sender in smaller.SENDERS:
            cells = {cell: seeds for (name, cell), seeds in found.items() if name == sender}
            rows += rows_of(COPY, sender, Measured(cells))
        return Evaluation(rows, [], [], [NOTE], kept)


NOTE = (
    "Means over all pairs of cells that there are, as many as the row `pairs` says: with anycast switching minus "
    "without; the largest bundle minus the smallest; the most flows minus the fewest. Utilisation in points of the "
    "rate, the queue in points of the buffer, drops as a ratio less one. Kept long runs have intervals over batches "
    "where there are fewer than three seeds."
)


def rows_of(network: Network, profile: str, measured: Measured) -> list[Row]:
    """The rows of each trend of which both ends are measured."""
    rows = []
    for trend, pairs in trends(list(measured.cells)).items():
        if not pairs:
            continue
        key: Key = {"network": network.name, "profile": profile, "trend": trend}
        rows.append(row({**key}, "pairs", None, stats.exact(len(pairs)), ""))
        runs = min(len(measured.cells[cell]) for pair in pairs for cell in pair)
        for metric, values in changes(network, measured, pairs).items():
            rows.append(row({**key}, metric, None, replace(stats.mean(values), n=runs), ""))
    return rows


def trends(cells: Sequence[Cell]) -> dict[str, Pairs]:
    """Pairs of cells that differ in one thing: the later end of the trend, and the earlier."""
    modes = {True: "with anycast", False: "without"}
    found: dict[str, Pairs] = {
        "anycast switching": [
            (cell, today.without(cell)) for cell in cells if cell.anycast and today.without(cell) in cells
        ]
    }
    for mode, text in modes.items():
        of_mode = [cell for cell in cells if cell.anycast == mode]
        found[f"larger bundles, {text}"] = _ends(of_mode, lambda cell: cell.flows, lambda cell: cell.bundling_degree)
        found[f"more flows, {text}"] = _ends(of_mode, lambda cell: cell.bundling_degree, lambda cell: cell.flows)
    return found


def _ends(cells: Sequence[Cell], fixed: Callable[[Cell], int], along: Callable[[Cell], int]) -> Pairs:
    pairs = []
    for value in sorted({fixed(cell) for cell in cells}):
        line = sorted((cell for cell in cells if fixed(cell) == value), key=along)
        if len(line) > 1:
            pairs.append((line[-1], line[0]))
    return pairs


def changes(network: Network, measured: Measured, pairs: Pairs) -> dict[str, NDArray[np.float64]]:
    """Mean changes over the pairs, one value a seed or batch; without drops on a side there is no ratio of them."""
    later, earlier = ([pair[end] for pair in pairs] for end in (0, 1))

    def means(metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        values = measured.values(metric, [*later, *earlier])
        return np.mean(values[: len(pairs)], axis=0), np.mean(values[len(pairs) :], axis=0)

    taken, queue, drops = (means(metric) for metric in ("throughput_gbps", "queue_mb", "drop_mbps"))
    found = {
        "utilisation_points": 100 * 1000 * (taken[0] - taken[1]) / network.rate_mbps,
        "queue_points": 100 * (queue[0] - queue[1]) / network.buffer_mb,
    }
    if (drops[1] > 0).all():
        found["drop_change_pct"] = 100 * (drops[0] / drops[1] - 1)
    return found
