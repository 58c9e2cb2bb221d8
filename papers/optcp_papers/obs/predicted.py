"""The model of goodput for the cells of figures 15 and 16: its inputs, its curves, and how far off it is."""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from optcp import stats
from optcp.papers.kit import Cells, Chosen, Estimates, Key, Row, Series, row, rows, tables
from optcp_papers.obs.lossless import shares
from optcp_papers.obs.paper import BACKGROUND, RECOVERIES, SEGMENT_BYTES, TIMERS_S, WINDOW, rtt0_s
from optcp_papers.obs.prediction import Path, Sender, goodput_mbps, single_flow_sizes

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


def round_trip_s(timer_s: float, background: str, chosen: Chosen) -> float:
    """The mean round trip: the path, an assembler each way, and both ways over both access links.

    Alone a train of segments or ACKs opens a burst and waits for the whole timer T. Other packets come lambda times a
    second, so that the share T / (T + 1 / lambda) of the time a burst is open. A train that finds one open waits for
    what is left, which wanders from round to round, because the gaps before bursts are random at both ends: below 0 the
    train comes too late and opens the next burst, which makes it T; above T it opens the burst itself, and it stays T.
    Such a walk has the density 2 w / T^2 and the mean 2 T / 3.
    """
    wait = timer_s
    if background == "yes":
        between = 1 / float(tables("obs")["background_packets_per_s"])
        wait *= 1 - timer_s / (timer_s + between) / 3
    access = float(chosen["access_mbps"]) * 1e6
    return rtt0_s(chosen) + 2 * wait + 2 * 8 * (SEGMENT_BYTES + ACK_BYTES) / access


def predicted_mbps(
    sizes: Mapping[int, float], chosen: Chosen, *, timer_s: float, background: str, ack_timer: str, recovery: str
) -> float:
    """Goodput of a cell by the model."""
    printed = tables("obs")
    sender = Sender(
        WINDOW,
        1 if ack_timer == "none" else 2,
        recovery == "sack",
        float(printed["min_rto_s"]) + TICK_S / 2,
        ACK_WAIT_S[ack_timer],
    )
    trip = round_trip_s(timer_s, background, chosen)
    path = Path(trip, float(printed["burst_loss_probability"]), sizes)
    segments = math.ceil(1e6 * printed["file_mbytes"] / printed["mss_bytes"])
    return goodput_mbps(sender, path, segments, int(printed["mss_bytes"]))


def held_against(ack_timer: str, goodput: Cells, bursts: Cells, chosen: Chosen) -> tuple[list[Row], list[Series]]:
    """The model's error at every timer and over all of a curve's, and its curves, of a kind of delayed-ACK timer.

    Parameters
    ----------
    goodput
        In Mb/s, over ``recovery``, ``background`` and ``timer_s``.
    bursts
        By size, see :class:`optcp_papers.obs.lossless.Lossless`. Equation 3 is for a flow alone.
    """
    found: list[Row] = []
    series: list[Series] = []
    per_second = float(chosen["access_mbps"]) * 1e6 / (8 * SEGMENT_BYTES)
    for recovery, background in itertools.product(RECOVERIES, BACKGROUND):
        for source in (EQUATION_3, MEASURED) if background == "no" else (MEASURED,):
            where = {"recovery": recovery, "background": background, "ack_timer": ack_timer}
            model = []
            for timer in TIMERS_S:
                measured = bursts.at(timer_s=timer, background=background, ack_timer=ack_timer)
                sizes = shares(measured) if source == MEASURED else single_flow_sizes(WINDOW, per_second * timer)
                model.append(predicted_mbps(sizes, chosen, timer_s=timer, **where))
            mean = goodput.at(recovery=recovery, background=background).mean()
            errors = _errors_pct(model, mean)
            key: Key = {**where, "sizes": source}
            found += rows({"model_error_pct": errors}, key=lambda at: {**at, **key})
            rms = math.sqrt(float(np.mean(errors.estimate**2)))
            found.append(row(key, "model_rms_error_pct", None, stats.mean([rms]), ""))
            y = [round(one, 4) for one in model]
            series.append(Series("model", key, "assembly timer", "s", "goodput", "Mb/s", list(TIMERS_S), y))
    return found, series


def _errors_pct(model: Sequence[float], mean: Estimates) -> Estimates:
    return Estimates.of(mean.axes, lambda at: _error_pct(model[at[0]], mean.interval(at)), mean.seeds)


def _error_pct(model: float, mean: stats.Interval) -> stats.Interval:
    """How far above the measured mean the model is, with the interval of that mean."""
    low = 100 * (model / mean.high - 1) if math.isfinite(mean.high) else -math.inf
    high = 100 * (model / mean.low - 1) if math.isfinite(mean.low) and mean.low > 0 else math.inf
    return stats.Interval(100 * (model / mean.estimate - 1), low, high, mean.n)
