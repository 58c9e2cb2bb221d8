"""Figure 16: goodput over the assembly timer, without delayed ACKs; and the correlation benefit."""

import functools
from collections.abc import Sequence

import numpy as np

from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Options,
    Part,
    Setup,
    StudyResult,
    judge,
    rows,
)
from optcp_papers.obs import lossless
from optcp_papers.obs.fig15 import NOT_DELAYED, seeds
from optcp_papers.obs.goodput import STATEMENTS, slope, transfers
from optcp_papers.obs.paper import (
    PAPER,
    PAPER_RUNS,
    TIMERS_S,
    WORLD,
    curves,
    goodput_mbps,
    grid,
    ms,
    numbers,
    recovery_key,
    segments_per_burst,
    settings,
)
from optcp_papers.obs.predicted import MODEL_NOTE, held_against

LOSS_EVENTS = "loss events"
BENEFIT_S = tuple(timer for timer in TIMERS_S if timer <= 3e-3)
SAME_ROUND_TRIP = {timer: f"same round trip, {ms(timer)}" for timer in BENEFIT_S}
"""Name of the grid of each timer."""
LISTED = {"observe": [{"name": kind, "kind": kind} for kind in ("completions", "reordering", "segments-per-burst")]}
REPAIRS = ("recovery", "timeout")
NOTE = (
    "For the correlation benefit at a constant RTT the path is shorter by the timer each way. A size limit instead of "
    "the timer would hold the last ACKs of a window."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the figure's transfers, and transfers of SACK alone with loss events, at two lengths of the path."""
    sack = functools.partial(settings, background="no", recovery="sack")
    result = {
        NOT_DELAYED: transfers(NOT_DELAYED, chosen, options),
        lossless.NAME: lossless.lossless(chosen, options),
        LOSS_EVENTS: grid("obs, loss events", [(numbers("timer_s", BENEFIT_S),)], sack, LISTED, chosen, options),
    }
    for timer, name in SAME_ROUND_TRIP.items():
        # Subtract the delay of the timer from the path.
        shorter = {**chosen, "path_delay_ms": float(chosen["path_delay_ms"]) - 1e3 * timer}
        cell = functools.partial(sack, timer_s=timer)
        result[name] = grid(f"obs, {name}", [()], cell, LISTED, shorter, options)
    return result


def find(found: Found) -> Findings:
    """Return goodput, the model's error, and the claims."""
    goodput = found.done[NOT_DELAYED].once(goodput_mbps)
    measured = rows({"goodput_mbps": goodput.mean()}, key=recovery_key(NOT_DELAYED))
    bursts = found.done[lossless.NAME].once(lossless.measure).bursts
    errors, models = held_against(NOT_DELAYED, goodput, bursts, found.chosen)
    events = found.done[LOSS_EVENTS]
    same = [found.done[name].once(goodput_mbps) for name in SAME_ROUND_TRIP.values()]
    benefits = benefit(events.once(segments_per_burst), events.once(loss_events), same)
    return Findings(
        measured + errors,
        {id_: {"without delayed ACK": judged(goodput)} for id_, judged in STATEMENTS.items()}
        | {"correlation-benefit": {"SACK, without background": benefits}},
        curves(measured, "goodput", "Mb/s") + models,
        [NOTE, MODEL_NOTE],
    )


def loss_events(done: StudyResult) -> Cells:
    """Return the number of recoveries and RTOs of the file."""
    return done["reordering"].count(event=REPAIRS)


def benefit(segments: Cells, events: Cells, same: Sequence[Cells]) -> list[Part]:
    """Judge: loss events fall with segments per burst (slope -1); goodput grows at a constant RTT.

    Parameters
    ----------
    segments, events
        Mean segments per burst and loss events, over ``timer_s``.
    same
        Goodput at a constant RTT, by timer.
    """
    estimate, samples = slope(segments.values, events.values)
    fit = judge.within_part("log-log slope", samples, estimate, len(segments.seeds), (-1.15, -0.85), 2, "")
    values = [np.asarray(item) for item in same]
    return [fit, *judge.trend_parts("goodput at constant RTT", [*map(ms, BENEFIT_S)], values, "up", "Mb/s")]


FIG16 = Exhibit(
    "obs/fig16",
    "Goodput over the assembly timer, without delayed ACKs",
    "section IV.C, Fig. 16, and section III.D",
    Setup(PAPER, PAPER_RUNS, grids, seeds, WORLD),
    find,
)
