"""Goodput over the assembly timer where bursts are lost: the transfers and statements behind figures 15 and 16."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.obs.paper import BACKGROUND, TIMERS_S, Cell, study, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid

    Goodput = Mapping[Cell, NDArray[np.float64]]

RECOVERIES = ("reno", "sack")
LOW_S = (1e-5, 3e-5, 1e-4)
MIDDLE_S = (3e-4, 1e-3, 3e-3, 1e-2)
HIGHEST_S = TIMERS_S[-1]
OBSERVE = (("observe", '[{ name = "completions", kind = "completions" }]'),)


def cells(ack_timer: str) -> list[Cell]:
    """The four curves of a figure, timer by timer."""
    return [
        Cell(timer, background, ack_timer, recovery)
        for recovery in RECOVERIES
        for background in BACKGROUND
        for timer in TIMERS_S
    ]


def transfers(ack_timer: str, chosen: Mapping[str, Value], options: Options) -> Grid:
    """Files of a kind of delayed-ACK timer, with the paper's loss probability."""
    return study(f"obs, losses, delayed ACK {ack_timer}", cells(ack_timer), OBSERVE, chosen, options)


def measured(ack_timer: str, done: Done) -> dict[Cell, NDArray[np.float64]]:
    """Goodput in Mb/s by cell, one a file."""
    return {cell: values[:, 0] for cell, values in table(done, cells(ack_timer)).items()}


def ms(timer_s: float) -> str:
    """A timer as text."""
    return f"{1e3 * timer_s:g} ms"


def name(cell: Cell) -> str:
    """A cell as text."""
    return f"{ms(cell.timer_s)}, {cell.recovery}, {'with' if cell.background == 'yes' else 'without'} background"


def percent(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much higher the first is than the second, one a file, in per cent of the second's mean."""
    difference: NDArray[np.float64] = 100 * (first - second) / second.mean()
    return difference


def reno_and_sack(goodput: Goodput, ack_timer: str) -> list[Part]:
    """Judge: alike at low timers and the highest, SACK better in between."""
    parts = []
    for background in BACKGROUND:
        for timer in (*LOW_S, HIGHEST_S, *MIDDLE_S):
            reno, sack = (goodput[Cell(timer, background, ack_timer, recovery)] for recovery in RECOVERIES)
            where = f"{ms(timer)}, background {background}"
            if timer in MIDDLE_S:
                parts.append(judge.paired_part(f"{where}: SACK minus Reno", sack, reno, "above", "Mb/s"))
            else:
                parts.append(judge.equivalence_part(f"{where}: SACK over Reno", percent(sack, reno), 5.0, "%"))
    return parts


def with_background(goodput: Goodput, ack_timer: str) -> list[Part]:
    """Judge: background makes no difference at low timers, costs at middle ones, and helps at the highest."""
    parts = []
    for recovery in RECOVERIES:
        for timer in (*LOW_S, *MIDDLE_S, HIGHEST_S):
            alone, beside = (goodput[Cell(timer, background, ack_timer, recovery)] for background in BACKGROUND)
            where = f"{ms(timer)}, {recovery}"
            if timer in LOW_S:
                parts.append(judge.equivalence_part(f"{where}: with over without", percent(beside, alone), 2.0, "%"))
            else:
                side: judge.Side = "below" if timer in MIDDLE_S else "above"
                parts.append(judge.paired_part(f"{where}: with minus without", beside, alone, side, "Mb/s"))
    return parts


def best_timer(goodput: Goodput, ack_timer: str) -> list[Part]:
    """Judge: of each curve the maximum is between 0.3 and 10 ms, and the highest timer is below the lowest."""
    parts = []
    for recovery in RECOVERIES:
        for background in BACKGROUND:
            curve = {timer: goodput[Cell(timer, background, ack_timer, recovery)] for timer in TIMERS_S}
            best = max(MIDDLE_S, key=lambda timer: float(curve[timer].mean()))
            where = f"{recovery}, background {background}"
            for timer in TIMERS_S:
                if timer not in MIDDLE_S:
                    text = f"{where}: {ms(best)} minus {ms(timer)}"
                    parts.append(judge.paired_part(text, curve[best], curve[timer], "above", "Mb/s"))
            text = f"{where}: {ms(HIGHEST_S)} minus {ms(TIMERS_S[0])}"
            parts.append(judge.paired_part(text, curve[HIGHEST_S], curve[TIMERS_S[0]], "below", "Mb/s"))
    return parts


STATEMENTS: dict[str, Callable[[Goodput, str], list[Part]]] = {
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

    estimate, samples = stats.bootstrap(np.column_stack([x, y]), fit, judge.TREND_RESAMPLES)
    return estimate, samples


def trend(name: str, values: Sequence[NDArray[np.float64]], timers: Sequence[float]) -> list[Part]:
    """Judge: goodput grows with the timer."""
    return judge.trend_parts(name, [ms(timer) for timer in timers], values, "up", "Mb/s")
