"""Goodput over the assembly timer where bursts are lost: the transfers and statements behind figures 15 and 16."""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Cells, Chosen, Grid, Options, Part, judge
from optcp.stats import resampling
from optcp_papers.obs.paper import BACKGROUND, BESIDE, RECOVERIES, RECOVERY, TIMER, TIMERS_S, grid, ms, settings

LOW_S = (1e-5, 3e-5, 1e-4)
MIDDLE_S = (3e-4, 1e-3, 3e-3, 1e-2)
HIGHEST_S = TIMERS_S[-1]
AXES = (RECOVERY, BESIDE, TIMER)
"""The four curves of a figure."""
OBSERVE = {"observe": [{"name": "completions", "kind": "completions"}]}


def transfers(ack_timer: str, chosen: Chosen, options: Options) -> Grid:
    """Files of a kind of delayed-ACK timer, with the paper's loss probability."""
    cell = functools.partial(settings, ack_timer=ack_timer)
    return grid(f"obs, losses, delayed ACK {ack_timer}", [AXES], cell, OBSERVE, chosen, options)


def percent(first: Cells, second: Cells) -> Cells:
    """How much higher the first is than the second, one a file, in per cent of the second's mean."""
    return 100 * (first - second) / float(second.values.mean())


def reno_and_sack(goodput: Cells) -> list[Part]:
    """Judge: alike at low timers and the highest, SACK better in between."""
    parts = []
    for background in BACKGROUND:
        for timer in (*LOW_S, HIGHEST_S, *MIDDLE_S):
            here = goodput.at(background=background, timer_s=timer)
            reno, sack = (here.at(recovery=recovery) for recovery in RECOVERIES)
            where = f"{ms(timer)}, background {background}"
            if timer in MIDDLE_S:
                parts.append(judge.paired_part(f"{where}: SACK minus Reno", sack, reno, "above", "Mb/s"))
            else:
                parts.append(judge.equivalence_part(f"{where}: SACK over Reno", percent(sack, reno), 5.0, "%"))
    return parts


def with_background(goodput: Cells) -> list[Part]:
    """Judge: background makes no difference at low timers, costs at middle ones, and helps at the highest."""
    parts = []
    for recovery in RECOVERIES:
        for timer in (*LOW_S, *MIDDLE_S, HIGHEST_S):
            here = goodput.at(recovery=recovery, timer_s=timer)
            alone, beside = (here.at(background=background) for background in BACKGROUND)
            where = f"{ms(timer)}, {recovery}"
            if timer in LOW_S:
                parts.append(judge.equivalence_part(f"{where}: with over without", percent(beside, alone), 2.0, "%"))
            else:
                side: judge.Side = "below" if timer in MIDDLE_S else "above"
                parts.append(judge.paired_part(f"{where}: with minus without", beside, alone, side, "Mb/s"))
    return parts


def best_timer(goodput: Cells) -> list[Part]:
    """Judge: of each curve the maximum is between 0.3 and 10 ms, and the highest timer is below the lowest."""
    parts = []
    for recovery in RECOVERIES:
        for background in BACKGROUND:
            curve = goodput.at(recovery=recovery, background=background)
            mean = dict(zip(TIMERS_S, curve.values.mean(axis=0), strict=True))
            best = max(MIDDLE_S, key=mean.__getitem__)
            where = f"{recovery}, background {background}"
            pairs: list[tuple[float, float, judge.Side]]
            pairs = [(best, timer, "above") for timer in TIMERS_S if timer not in MIDDLE_S]
            for one, other, side in [*pairs, (HIGHEST_S, TIMERS_S[0], "below")]:
                text = f"{where}: {ms(one)} minus {ms(other)}"
                parts.append(judge.paired_part(text, curve.at(timer_s=one), curve.at(timer_s=other), side, "Mb/s"))
    return parts


STATEMENTS: dict[str, Callable[[Cells], list[Part]]] = {
    "sack-better-between": reno_and_sack,
    "background-by-timer": with_background,
    "best-timer": best_timer,
}
"""What the paper says of both figures."""


def slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Slope of the log-log fit of the mean of ``y`` over the mean of ``x``, and its bootstrap over the files.

    Parameters
    ----------
    x, y
        Shape (files, timers).
    """

    def fit(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        half = mean.shape[1] // 2
        # Few files may have no loss at all with a timer: such a resample is as steep as can be.
        with np.errstate(divide="ignore"):
            log_x, log_y = np.log(mean[:, :half]), np.log(mean[:, half:])
        log_x = log_x - log_x.mean(axis=1, keepdims=True)
        found: NDArray[np.float64] = (log_x * log_y).sum(axis=1) / (log_x**2).sum(axis=1)
        return found

    return resampling.bootstrap(np.column_stack([x, y]), fit, judge.TREND_RESAMPLES)
