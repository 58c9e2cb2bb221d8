"""Beyond the paper: how much buffer a bundle saves at equal utilisation, in the smaller copy of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import smaller
from optcp.papers.lbas.paper import Cell
from optcp.papers.lbas.rows import both_modes, columns, curves
from optcp.papers.lbas.smaller import Smaller
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Row
    from optcp.study import Done, Grid

RUNS = 6
NAME = "buffers"
DEGREES = (1, 2, 5, 10)
PRODUCTS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""The buffer of a lightpath, in bandwidth-delay products; a hundredth are 8 packets."""
QUICK_DEGREES, QUICK_PRODUCTS = (1, 2), (0.03, 0.1)
FLOWS = smaller.FLOWS[0]
REFERENCES = (0.1, 0.3)
"""Buffers without anycast switching whose utilisation a bundle is to reach."""


def _grid(degrees: Sequence[int], products: Sequence[float]) -> list[tuple[Cell, float]]:
    return [
        (Cell(degree, FLOWS, anycast), product)
        for degree in degrees
        for anycast in (True, False)
        for product in products
    ]


GRID = _grid(DEGREES, PRODUCTS)
QUICK_GRID = _grid(QUICK_DEGREES, QUICK_PRODUCTS)


@exhibit
class Buffer(Smaller):
    """Utilisation over the buffer of a lightpath, by bundling degree, and the buffer that a bundle saves."""

    id = "lbas/buffer"
    title = "Utilisation over the buffer, and the buffer that a bundle saves, smaller copy of the network"
    runs = RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One branch a degree, mode and buffer."""
        cells = [
            {**dict(cell.overrides()), "parameters.buffer": f"{round(product * smaller.PRODUCT_BYTES)} B"}
            for cell, product in (QUICK_GRID if smaller.is_quick(options) else GRID)
        ]
        return {NAME: smaller.study("lbas, buffers", cells, chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by degree and buffer, and what buffer gives the same utilisation."""
        del chosen
        found = done[NAME].once(_measured)
        rows: list[Row] = []
        for cell, product in found:
            if cell.anycast:
                modes = {
                    mode: columns(found[Cell(cell.bundling_degree, FLOWS, anycast), product])
                    for mode, anycast in (("yes", True), ("no", False))
                }
                rows += both_modes({"bundling_degree": cell.bundling_degree, "buffer_products": product}, modes)
        labels, units = ("buffer of a lightpath", "utilisation"), ("C RTT", "%")
        series = curves(rows, "utilisation_pct", "buffer_products", labels, units)
        saved, notes = _saved(found)
        return Evaluation([*rows, *saved], [], series, [NOTE, *notes])


NOTE = (
    "`inet-2011`, 10 flows a lightpath. `equal_buffer_products` is the buffer, in C RTT, with which anycast switching "
    "has the utilisation that there is without it and `buffer_products`; `saved_pct` is what that is less. Both are "
    "interpolated seed by seed in the logarithm of the buffer. Where the smallest buffer that was tried does better, "
    "that one stands: the saving is at least as large. "
    "Where no buffer that was tried does as well, the run is left out, and a further note says so."
)


def _measured(done: Done) -> dict[tuple[Cell, float], list[dict[str, float]]]:
    grid = GRID if len(done.grid.branches) == len(GRID) else QUICK_GRID
    found: dict[tuple[Cell, float], list[dict[str, float]]] = {place: [] for place in grid}
    for _, runs in done:
        for place, run in zip(grid, runs, strict=True):
            shares = smaller.measure(run)
            # The queue as a share of the buffer would say little where the buffer is what varies.
            del shares["queue_pct"]
            found[place].append(shares)
    return found


def _saved(found: Mapping[tuple[Cell, float], Sequence[Mapping[str, float]]]) -> tuple[list[Row], list[str]]:
    """The buffer that a bundle needs for the utilisation of as many lightpaths without anycast switching.

    Returns
    -------
    rows : list
        Of the seeds that reach it; none where no seed does.
    notes : list
        Where seeds do not reach it, how many.
    """
    products = list(dict.fromkeys(product for _, product in found))
    rows: list[Row] = []
    notes = []
    for degree in [degree for degree in DEGREES if degree > 1]:
        if (Cell(degree, FLOWS, anycast=True), products[0]) not in found:
            continue
        with_, without = (
            np.array(
                [
                    [one["utilisation_pct"] for one in found[Cell(degree, FLOWS, anycast), product]]
                    for product in products
                ]
            )
            for anycast in (True, False)
        )
        for reference in (one for one in REFERENCES if one in products):
            wanted = without[products.index(reference)]
            each = [equal(products, curve, value) for curve, value in zip(with_.T, wanted, strict=True)]
            needed = np.array([one for one in each if one is not None])
            key = {"bundling_degree": degree, "buffer_products": reference}
            if needed.size < len(each):
                notes.append(
                    f"b_D = {degree}, {reference:g} C RTT: in {len(each) - needed.size} of {len(each)} runs anycast "
                    f"switching does not reach that utilisation with any buffer up to {products[-1]:g} C RTT. They are "
                    "left out, so the buffer that is needed is larger than said, and the saving smaller."
                )
            if needed.size:
                rows += [
                    row({**key}, "equal_buffer_products", None, stats.mean(needed), ""),
                    row({**key}, "saved_pct", None, stats.mean(100 * (1 - needed / reference)), ""),
                ]
    return rows, notes


def equal(products: Sequence[float], curve: NDArray[np.float64], wanted: float) -> float | None:
    """The smallest buffer with which a curve over the buffer reaches a utilisation; None if it does not.

    Interpolated in the logarithm of the buffer; the smallest buffer of all stands for smaller ones.
    """
    if curve[0] >= wanted:
        return float(products[0])
    for place in range(1, len(products)):
        low, high = float(curve[place - 1]), float(curve[place])
        if high >= wanted:
            share = (wanted - low) / (high - low)
            return float(products[place - 1] ** (1 - share) * products[place] ** share)
    return None
