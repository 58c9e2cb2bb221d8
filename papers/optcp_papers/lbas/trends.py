"""Trends of the paper that each sender shows: in the stored long runs, and in the smaller copy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.data.labelled import cells_of
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Key, Row, row
from optcp_papers.lbas import smaller, today
from optcp_papers.lbas.long_runs import not_committed, stored
from optcp_papers.lbas.outcome import Batches, Measured, Together
from optcp_papers.lbas.paper import BUNDLING_DEGREES, CELLS, FLOWS, READINGS, Cell

NOTE = (
    "Means over all pairs of cells that there are, as many as the row `pairs` says: with anycast switching minus "
    "without; the largest bundle minus the smallest; the most flows minus the fewest. The latter two are over the same "
    "pairs with anycast switching and without. Utilisation in points of the rate, the queue in points of the buffer, "
    "drops as a ratio less one. Stored long runs have intervals over batches where there are fewer than six seeds, "
    "widened for their correlation."
)


@dataclass(frozen=True)
class Network:
    """Network whose metrics are compared.

    Attributes
    ----------
    name
        "paper, long runs" or "smaller copy".
    rate_mbps, buffer_mb
        Rate and buffer of a lightpath.
    bundling_degrees, flows
        All values of the network, in rising order. A trend compares the last with the first, as TREND does.
    """

    name: str
    rate_mbps: float
    buffer_mb: float
    bundling_degrees: Sequence[int]
    flows: Sequence[int]


OF_PAPER = Network("paper, long runs", 10_000, 12.5, BUNDLING_DEGREES, FLOWS)
COPY = Network("smaller copy", smaller.RATE_MBPS, smaller.BUFFER_BYTES / 1e6, smaller.BUNDLING_DEGREES, smaller.FLOWS)


def find(found: Found) -> Findings:
    """Return each trend over all simulated pairs; long runs are stored for the default settings only."""
    rows: list[Row] = []
    kept: list[dict[str, Any]] = []
    notes = [NOTE]
    if found.changed:
        notes.append("Stored long runs are omitted, because they have other settings.")
    else:
        for chosen in READINGS:
            runs = stored(chosen, CELLS)
            rows += rows_of(OF_PAPER, runs.reading, runs.measured)
            notes += _pair_names(OF_PAPER, runs.reading, runs.measured)
            kept += runs.origin
    counted = found.only.once(smaller.counted)
    for sender in smaller.SENDERS:
        rows += rows_of(COPY, sender, _measured({name: cells.at(profile=sender) for name, cells in counted.items()}))
    return Findings(rows, notes=[*notes, *not_committed(kept)], kept=kept)


def _measured(counted: Mapping[str, Cells]) -> Measured:
    """Return the port counters of the copy with a sender; each run is one batch."""
    of_any = next(iter(counted.values()))
    cells: dict[Cell, dict[int, Batches]] = {}
    for at, where in cells_of(of_any.axes):
        cell = Cell(int(where["bundling_degree"]), int(where["flows_per_lightpath"]), where["anycast"] == "yes")
        cells[cell] = {
            seed: {name: values.values[place, *at][None] for name, values in counted.items()}
            for place, seed in enumerate(of_any.seeds)
        }
    return Measured(cells)


def rows_of(network: Network, profile: str, measured: Measured) -> list[Row]:
    """Return the rows of each trend whose both ends have been simulated."""
    rows = []
    for trend, pairs in trends(network, measured).items():
        intervals = {"pairs": stats.exact(len(pairs.pairs))}
        intervals |= {metric: pairs.mean(values) for metric, values in changes(network, pairs).items()}
        key: Key = {"network": network.name, "profile": profile, "trend": trend}
        rows += [row({**key}, metric, None, interval, "") for metric, interval in intervals.items()]
    return rows


def trends(network: Network, measured: Measured) -> dict[str, Together]:
    """Return pairs of combinations that differ in one property: the later and the earlier end of the trend."""
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
    cells = measured.cells
    found = {"anycast switching": [(cell, cell.without) for cell in cells if cell.anycast and cell.without in cells]}
    for name, pairs in ends.items():
        both = [(pair, (pair[0].without, pair[1].without)) for pair in pairs]
        # Use the same pairs with and without anycast switching.
        whole = [(one, other) for one, other in both if {*one, *other} <= set(cells)]
        found[f"{name}, with anycast"] = [item for item, _ in whole]
        found[f"{name}, without"] = [other for _, other in whole]
    together = {
        name: measured.together([cell for pair in pairs for cell in pair]) for name, pairs in found.items() if pairs
    }
    return {name: pairs for name, pairs in together.items() if pairs}


def _pair_names(network: Network, profile: str, measured: Measured) -> list[str]:
    """Name the pairs of each trend."""
    lines = [
        f"{trend}: {', '.join(f'{later.name} against {earlier.name}' for later, earlier in both.pairs)}"
        for trend, both in trends(network, measured).items()
    ]
    return [f"{network.name}, {profile}. {'; '.join(lines)}."] if lines else []


def changes(network: Network, pairs: Together) -> dict[str, NDArray[np.float64]]:
    """Return mean changes over the pairs, one value per seed or batch; no ratio of drops if a side has none."""

    def means(metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        later, earlier = pairs.sides(metric)
        return np.mean(later, axis=0), np.mean(earlier, axis=0)

    taken, queue, drops = (means(metric) for metric in ("throughput_gbps", "queue_mb", "drop_mbps"))
    found = {
        "utilisation_points": 100 * 1000 * (taken[0] - taken[1]) / network.rate_mbps,
        "queue_points": 100 * (queue[0] - queue[1]) / network.buffer_mb,
    }
    if (drops[1] > 0).all():
        found["drop_change_pct"] = 100 * (drops[0] / drops[1] - 1)
    return found


TRENDS = Exhibit(
    "lbas/trends",
    "The paper's trends by sender: stored long runs, and the smaller copy of the network",
    "section 3, and beyond the paper",
    today.SETUP,
    find,
)
