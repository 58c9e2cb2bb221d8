"""Goodput model for the combinations of figures 15 and 16: inputs, curves, and errors."""

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
"""Clock tick of the profile's timers. A timer is late by half a tick on average."""
ACK_WAIT_S = {"none": 0.0, "exact": 0.2, "tick": 0.1}
"""Wait for the ACK of a single segment: none, the whole delay, or half a tick of it."""
ACK_BYTES = 40
EQUATION_3, MEASURED = "equation 3", "measured without losses"
"""Sources of the burst sizes."""
MODEL_NOTE = (
    "`model_error_pct` is the excess of the analytical model over the simulated mean, with the interval of that mean. "
    "`sizes` is the source of its burst sizes. No constant of the model was fitted to runs."
)


def round_trip_s(timer_s: float, background: str, chosen: Chosen) -> float:
    """Return the mean RTT: the path, an assembler per direction, and both access links in both directions.

    Without background, a train of segments or ACKs opens a burst and waits for the whole timer T. With background,
    other packets arrive lambda times per second, so a burst is open for the share T / (T + 1 / lambda) of the time. A
    train that finds an open burst waits for the remaining time. This time performs a random walk over rounds, because
    the gaps before bursts are random at both ends. Below 0 the train is too late and opens the next burst, so the wait
    becomes T. Above T it opens the burst itself, and the wait stays T. Such a walk has the density 2 w / T^2 and the
    mean 2 T / 3.
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
    """Return the goodput of a combination by the model, in Mb/s."""
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
    """Return error rows (per timer and over each curve) and curves of the model for a kind of delayed-ACK timer.

    Parameters
    ----------
    goodput
        Goodput in Mb/s, over ``recovery``, ``background`` and ``timer_s``.
    bursts
        Bursts by size (:class:`optcp_papers.obs.lossless.Lossless`). Equation 3 is only for a flow alone.
    """
    result: list[Row] = []
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
            result += rows({"model_error_pct": errors}, key=lambda at: {**at, **key})
            rms = math.sqrt(float(np.mean(errors.estimate**2)))
            result.append(row(key, "model_rms_error_pct", None, stats.mean([rms]), ""))
            y = [round(item, 4) for item in model]
            series.append(Series("model", key, "assembly timer", "s", "goodput", "Mb/s", list(TIMERS_S), y))
    return result, series


def _errors_pct(model: Sequence[float], mean: Estimates) -> Estimates:
    return Estimates.of(mean.axes, lambda at: _error_pct(model[at[0]], mean.interval(at)), mean.seeds)


def _error_pct(model: float, mean: stats.Interval) -> stats.Interval:
    """Return the excess of the model over the simulated mean in %, with the interval of that mean."""
    low = 100 * (model / mean.high - 1) if math.isfinite(mean.high) else -math.inf
    high = 100 * (model / mean.low - 1) if math.isfinite(mean.low) and mean.low > 0 else math.inf
    return stats.Interval(100 * (model / mean.estimate - 1), low, high, mean.n)
