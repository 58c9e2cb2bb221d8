"""The model of goodput for the cells of figures 15 and 16: its inputs, its curves, and how far off it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.model import Series
from optcp.papers.obs.goodput import cells
from optcp.papers.obs.paper import SEGMENT_BYTES, TIMERS_S, WINDOW, Cell, rtt0_s
from optcp.papers.obs.prediction import Path, Sender, goodput_mbps, single_flow_sizes
from optcp.papers.printed import tables
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.model import Key, Row

    Sizes = Mapping[Cell, Mapping[int, float]]

TICK_S = 0.5
"""On which timers of the profile expire; a timer is late by half of it on average."""
ACK_WAIT_S = {"none": 0.0, "exact": 0.2, "tick": 0.1}
"""How long a segment that comes alone waits for its ACK: not at all, the whole delay, or half a tick of it."""
ACK_BYTES = 40
EQUATION_3, MEASURED = "equation 3", "measured without losses"
"""Where the sizes of bursts come from."""
MODEL_NOTE = (
    "`model_error_pct` is how far the analytical model is above the measured mean, with the interval of that mean; "
    "`sizes` says where its sizes of bursts come from. The model has no constant that was fitted to runs."
)


def round_trip_s(cell: Cell, chosen: Mapping[str, Value]) -> float:
    """The mean round trip: the path, an assembler each way, and both ways over both access links.

    Alone a train of segments or ACKs opens a burst and waits for the whole timer T. Other packets come lambda times a
    second, so that the share T / (T + 1 / lambda) of the time a burst is open. A train that finds one open waits for
    what is left, which wanders from round to round, because the gaps before bursts are random at both ends: below 0 the
    train comes too late and opens the next burst, which makes it T; above T it opens the burst itself, and it stays T.
    Such a walk has the density 2 w / T^2 and the mean 2 T / 3.
    """
    wait = cell.timer_s
    if cell.background == "yes":
        between = 1 / float(tables("obs")["background_packets_per_s"])
        wait *= 1 - cell.timer_s / (cell.timer_s + between) / 3
    access = float(chosen["access_mbps"]) * 1e6
    return rtt0_s(chosen) + 2 * wait + 2 * 8 * (SEGMENT_BYTES + ACK_BYTES) / access


def predicted_mbps(cell: Cell, sizes: Mapping[int, float], chosen: Mapping[str, Value]) -> float:
    """Goodput of a cell by the model."""
    printed = tables("obs")
    sender = Sender(
        WINDOW,
        1 if cell.ack_timer == "none" else 2,
        cell.recovery == "sack",
        float(printed["min_rto_s"]) + TICK_S / 2,
        ACK_WAIT_S[cell.ack_timer],
    )
    trip = round_trip_s(cell, chosen)
    path = Path(trip, float(printed["burst_loss_probability"]), sizes)
    segments = math.ceil(1e6 * printed["file_mbytes"] / printed["mss_bytes"])
    return goodput_mbps(sender, path, segments, int(printed["mss_bytes"]))


def _sizes(cell: Cell, source: str, measured: Sizes, chosen: Mapping[str, Value]) -> Mapping[int, float]:
    if source == MEASURED:
        return measured[Cell(cell.timer_s, cell.background, cell.ack_timer)]
    per_second = float(chosen["access_mbps"]) * 1e6 / (8 * SEGMENT_BYTES)
    return single_flow_sizes(WINDOW, per_second * cell.timer_s)


def held_against(
    kinds: Sequence[str],
    goodput: Mapping[Cell, NDArray[np.float64]],
    measured: Sizes,
    chosen: Mapping[str, Value],
) -> tuple[list[Row], list[Series]]:
    """The model's error at every timer and over all of a curve's, and its curves.

    Parameters
    ----------
    kinds
        Kinds of delayed-ACK timer.
    goodput
        In Mb/s by cell, one a file.
    measured
        Sizes of bursts by cell, as :func:`optcp.papers.obs.lossless.sizes` has them. Equation 3 is for a flow alone.
    """
    rows: list[Row] = []
    series: list[Series] = []
    for kind in kinds:
        by_curve: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in cells(kind):
            for source in (EQUATION_3, MEASURED) if cell.background == "no" else (MEASURED,):
                by_curve.setdefault((cell.recovery, cell.background, source), []).append(cell)
        for (recovery, background, source), of_curve in by_curve.items():
            key: Key = {"recovery": recovery, "background": background, "ack_timer": kind, "sizes": source}
            model = [predicted_mbps(cell, _sizes(cell, source, measured, chosen), chosen) for cell in of_curve]
            errors = [_error_pct(one, goodput[cell]) for one, cell in zip(model, of_curve, strict=True)]
            rows += [
                row({"timer_s": cell.timer_s, **key}, "model_error_pct", None, error, "")
                for cell, error in zip(of_curve, errors, strict=True)
            ]
            rms = math.sqrt(float(np.mean([error.estimate**2 for error in errors])))
            rows.append(row(key, "model_rms_error_pct", None, stats.mean([rms]), ""))
            y = [round(one, 4) for one in model]
            series.append(Series("model", key, "assembly timer", "s", "goodput", "Mb/s", list(TIMERS_S), y))
    return rows, series


def _error_pct(model: float, measured: NDArray[np.float64]) -> stats.Interval:
    """How far above the measured mean the model is, with the interval of that mean."""
    mean = stats.mean(measured)
    low = 100 * (model / mean.high - 1) if math.isfinite(mean.high) else -math.inf
    high = 100 * (model / mean.low - 1) if math.isfinite(mean.low) and mean.low > 0 else math.inf
    return stats.Interval(100 * (model / mean.estimate - 1), low, high, mean.n)
