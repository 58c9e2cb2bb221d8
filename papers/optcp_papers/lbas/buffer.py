"""Extension of the paper: buffer that a bundle saves at equal utilisation, in the smaller copy of the network."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Cells, Chosen, Exhibit, Findings, Found, Grid, Key, Options, Row, Settings, rows
from optcp_papers.lbas import smaller
from optcp_papers.lbas.rows import both_modes, curves

DEGREES = (1, 2, 5, 10)
PRODUCTS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Buffer per lightpath in bandwidth-delay products; 0.01 is 8 packets."""
QUICK_DEGREES, QUICK_PRODUCTS = (1, 2), (0.03, 0.1)
REFERENCES = (0.1, 0.3)
"""Buffers without anycast switching whose utilisation a bundle must reach."""
NOTE = (
    "`inet-2011`, 10 flows per lightpath. `equal_buffer_products` is the buffer, in C RTT, with which anycast "
    "switching reaches the utilisation without it at `buffer_products`; `saved_pct` is the relative saving. Both are "
    "interpolated by seed in the logarithm of the buffer. If the minimum simulated buffer does better, it is the "
    "result: the saving is then a lower bound. "
    "Runs in which no simulated buffer does as well are excluded; a further note counts them."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of every degree, mode and buffer."""

    def settings(bundling_degree: int, anycast: str, buffer_products: float) -> Settings:
        buffer = f"{round(buffer_products * smaller.PRODUCT_BYTES)} B"
        return {**smaller.network(bundling_degree, smaller.FLOWS[0], anycast), "parameters.buffer": buffer}

    quick = options.size.is_quick
    axes = {
        "bundling_degree": QUICK_DEGREES if quick else DEGREES,
        "anycast": ("yes", "no"),
        "buffer_products": QUICK_PRODUCTS if quick else PRODUCTS,
    }
    return {"buffers": smaller.grid("lbas, buffers", axes, settings, chosen, options)}


def find(found: Found) -> Findings:
    """Return rows by degree and buffer, and the buffer for the same utilisation."""

    def key(place: Key) -> Key:
        return {**place, "buffer_products": float(place["buffer_products"])}

    shares = found.only.once(smaller.measured)
    # Omit the queue in % of the buffer, because the buffer itself varies.
    of_places = both_modes({name: shares[name] for name in ("utilisation_pct", "dropped_pct")}, key)
    labels, units = ("buffer of a lightpath", "utilisation"), ("C RTT", "%")
    series = curves(of_places, "utilisation_pct", "buffer_products", labels, units)
    saved, notes = saving(shares["utilisation_pct"])
    return Findings([*of_places, *saved], series=series, notes=[NOTE, *notes])


def saving(utilisation: Cells) -> tuple[list[Row], list[str]]:
    """Return the buffer for the utilisation of an equal number of lightpaths without anycast switching.

    Parameters
    ----------
    utilisation
        Utilisation over ``bundling_degree``, ``anycast`` and ``buffer_products``.

    Returns
    -------
    rows : list
        Rows over the seeds that reach the utilisation; none if no seed does.
    notes : list
        Notes with the number of seeds that do not reach it.
    """
    result, notes = [], []
    products, seeds = utilisation.axis("buffer_products").numbers or (), utilisation.seeds
    for degree in [int(degree) for degree in utilisation.axis("bundling_degree").values if degree != "1"]:
        bundle = utilisation.at(bundling_degree=degree)
        for reference in (item for item in REFERENCES if item in products):
            wanted = bundle.at(anycast="no", buffer_products=reference).values
            each = zip(bundle.at(anycast="yes").values, wanted, strict=True)
            needed = Cells(np.array([equal(products, curve, value) for curve, value in each]), (), seeds)
            left_out = int(np.isnan(needed.values).sum())
            if left_out:
                notes.append(
                    f"b_D = {degree}, {reference:g} C RTT: in {left_out} of {len(seeds)} runs anycast "
                    f"switching does not reach that utilisation with any buffer up to {products[-1]:g} C RTT. They are "
                    "excluded, so the required buffer is larger than stated, and the saving smaller."
                )
            if left_out < len(seeds):
                metrics = {"equal_buffer_products": needed, "saved_pct": 100 * (1 - needed / reference)}
                here: Key = {"bundling_degree": degree, "buffer_products": reference}
                result += rows({name: cells.mean() for name, cells in metrics.items()}, key=here)
    return result, notes


def equal(products: Sequence[float], curve: NDArray[np.float64], wanted: float) -> float:
    """Return the minimum buffer with which a curve reaches a utilisation; NaN if it does not.

    The buffer is interpolated in its logarithm. The minimum simulated buffer also represents smaller ones.
    """
    if curve[0] >= wanted:
        return float(products[0])
    for place in range(1, len(products)):
        low, high = float(curve[place - 1]), float(curve[place])
        if high >= wanted:
            share = (wanted - low) / (high - low)
            return float(products[place - 1] ** (1 - share) * products[place] ** share)
    return math.nan


BUFFER = Exhibit(
    "lbas/buffer",
    "Utilisation over the buffer, and the buffer that a bundle saves, smaller copy of the network",
    "beyond the paper",
    smaller.setup(grids, runs=6),
    find,
)
