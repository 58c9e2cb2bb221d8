"""Which of the paper's trends each sender shows: in the stored long runs, and in the smaller copy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import smaller, today
from optcp.papers.lbas.long_runs import by_cell, kept_runs, not_committed, provenance_of
from optcp.papers.lbas.outcome import Measured
from optcp.papers.lbas.paper import BUNDLING_DEGREES, CELLS, FLOWS, READINGS, Cell, reading
from optcp.papers.lbas.smaller import Smaller
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid

Pairs = list[tuple[Cell, Cell]]


@dataclass(frozen=True)
class Network:
    """Whose shares are compared.

    Attributes
    ----------
    name
        "paper, long runs" or "smaller copy".
    rate_mbps, buffer_mb
        Of a lightpath.
    bundling_degrees, flows
        All that the network has, in rising order: a trend is from the first to the last, as TREND has it.
    """

    name: str
    rate_mbps: float
    buffer_mb: float
    bundling_degrees: Sequence[int]
    flows: Sequence[int]


OF_PAPER = Network("paper, long runs", 10_000, 12.5, BUNDLING_DEGREES, FLOWS)
COPY = Network("smaller copy", smaller.RATE_MBPS, smaller.BUFFER_BYTES / 1e6, smaller.BUNDLING_DEGREES, smaller.FLOWS)


@exhibit
class Trends(Smaller):
    """The paper's three trends: with anycast switching, with larger bundles, with more flows."""

    id = "lbas/trends"
    title = "The paper's trends by sender: stored long runs, and the smaller copy of the network"
    where = "section 3, and beyond the paper"
    runs = today.RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """Those of ``lbas/today``; long runs are read, and not made here."""
        return {today.NAME: today.study(chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Each trend over all pairs that there are; long runs are stored for the default settings alone."""
        rows: list[Row] = []
        kept: list[dict[str, Any]] = []
        notes = [NOTE]
        if self.changed(chosen):
            notes.append("Stored long runs are left out: they are not of these settings.")
        else:
            for of_reading in READINGS:
                name = reading(of_reading)
                runs = [(cell, content) for cell, content in kept_runs(of_reading) if cell in CELLS]
                measured = Measured(by_cell(runs))
                rows += rows_of(OF_PAPER, name, measured)
                notes += _told(OF_PAPER, name, measured)
                kept += provenance_of(name, runs)
        found = today.measured(done[today.NAME])
        for sender in smaller.SENDERS:
            cells = {cell: seeds for (name, cell), seeds in found.items() if name == sender}
            rows += rows_of(COPY, sender, Measured(cells))
        return Evaluation(rows, [], [], [*notes, *not_committed(kept)], kept)


NOTE = (
    "Means over all pairs of cells that there are, as many as the row `pairs` says: with anycast switching minus "
    "without; the largest bundle minus the smallest; the most flows minus the fewest. The latter two are over the same "
    "pairs with anycast switching and without. Utilisation in points of the rate, the queue in points of the buffer, "
    "drops as a ratio less one. Stored long runs have intervals over batches where there are fewer than three seeds, "
    "widened for their correlation."
)


def rows_of(network: Network, profile: str, measured: Measured) -> list[Row]:
    """The rows of each trend of which both ends are measured."""
    rows = []
    for trend, pairs in trends(network, measured).items():
        key: Key = {"network": network.name, "profile": profile, "trend": trend}
        rows.append(row({**key}, "pairs", None, stats.exact(len(pairs)), ""))
        runs = len(measured.seeds(_flat(pairs)))
        batches = measured.batched(_flat(pairs))
        for metric, values in changes(network, measured, pairs).items():
            rows.append(row({**key}, metric, None, replace(stats.mean(values, batches=batches), n=runs), ""))
    return rows


def trends(network: Network, measured: Measured) -> dict[str, Pairs]:
    """Pairs of cells that differ in one thing: the later end of the trend, and the earlier; none is empty."""
    cells = measured.cells
    small, large = network.bundling_degrees[0], network.bundling_degrees[-1]
    few, many = network.flows[0], network.flows[-1]
    ends = {
        f"larger bundles (b_D = {large} against {small})": [
            (Cell(large, flows, anycast=True), Cell(small, flows, anycast=True)) for flows in network.flows
        ],
        f"more flows ({many} against {few})": [
            (Cell(degree, many, anycast=True), Cell(degree, few, anycast=True)) for degree in network.bundling_degrees
        ],
    }
    found: dict[str, Pairs] = {
        "anycast switching": [
            (cell, today.without(cell)) for cell in cells if cell.anycast and today.without(cell) in cells
        ]
    }
    for name, pairs in ends.items():
        both = [(pair, (today.without(pair[0]), today.without(pair[1]))) for pair in pairs]
        whole = [modes for modes in both if set(_flat(modes)) <= set(cells)]
        found[f"{name}, with anycast"] = [one for one, _ in whole]
        found[f"{name}, without"] = [other for _, other in whole]
    return {name: pairs for name, pairs in found.items() if pairs and measured.has(_flat(pairs))}


def _flat(pairs: Iterable[tuple[Cell, Cell]]) -> list[Cell]:
    return [cell for pair in pairs for cell in pair]


def _told(network: Network, profile: str, measured: Measured) -> list[str]:
    """Name the pairs of each trend."""
    lines = [
        f"{trend}: {', '.join(f'{later.name} against {earlier.name}' for later, earlier in pairs)}"
        for trend, pairs in trends(network, measured).items()
    ]
    return [f"{network.name}, {profile}. {'; '.join(lines)}."] if lines else []


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
