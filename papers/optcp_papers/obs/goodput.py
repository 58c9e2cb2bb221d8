"""Goodput over the assembly timer with burst losses: transfers and claims of figures 15 and 16."""

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
"""Axes of the four curves of a figure."""
OBSERVE = {"observe": [{"name": "completions", "kind": "completions"}]}


def transfers(ack_timer: str, chosen: Chosen, options: Options) -> Grid:
    """Return the grid of files with a kind of delayed-ACK timer and the paper's loss probability."""
    cell = functools.partial(settings, ack_timer=ack_timer)
    return grid(f"obs, losses, delayed ACK {ack_timer}", [AXES], cell, OBSERVE, chosen, options)


def percent(first: Cells, second: Cells) -> Cells:
    """Return the difference of two values per file, in % of the second's mean."""
    return 100 * (first - second) / float(second.values.mean())


def reno_and_sack(goodput: Cells) -> list[Part]:
    """Judge: Reno equals SACK at low timers and at the maximum; SACK is better in between."""
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
    """Judge: background makes no difference at low timers, costs at middle ones, and helps at the maximum."""
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
    """Judge: each curve has its maximum between 0.3 and 10 ms, and its last timer is below its first."""
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
"""Judges of the paper's claims about both figures."""


def slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the slope of the log-log fit of the mean of ``y`` over the mean of ``x``, and its bootstrap over files.

    Parameters
    ----------
    x, y
        Shape (files, timers).
    """

    def fit(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        half = mean.shape[1] // 2
        # Few files may have no loss at all with a timer: the slope of such a resample is infinite.
        with np.errstate(divide="ignore"):
            log_x, log_y = np.log(mean[:, :half]), np.log(mean[:, half:])
        log_x = log_x - log_x.mean(axis=1, keepdims=True)
        result: NDArray[np.float64] = (log_x * log_y).sum(axis=1) / (log_x**2).sum(axis=1)
        return result

    return resampling.bootstrap(np.column_stack([x, y]), fit, judge.TREND_RESAMPLES)
