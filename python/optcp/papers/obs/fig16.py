"""Figure 16: goodput over the assembly timer, without delayed ACKs; and the correlation benefit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.obs.goodput import STATEMENTS, measured, slope, transfers, trend
from optcp.papers.obs.lossless import NAME as LOSSLESS
from optcp.papers.obs.lossless import SIZES_RUNS, lossless, sizes
from optcp.papers.obs.paper import (
    PAPER,
    PAPER_RUNS,
    QUICK_RUNS,
    TIMERS_S,
    WORLD,
    Cell,
    goodput_mbps,
    mean_segments,
    study,
)
from optcp.papers.obs.predicted import MODEL_NOTE, held_against
from optcp.papers.obs.rows import curves, frozen, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid, RunData

PLAIN = "none"
LOSS_EVENTS = "loss events"
SAME_ROUND_TRIP = "same round trip"
BENEFIT_S = tuple(timer for timer in TIMERS_S if timer <= 3e-3)
BENEFIT_CELLS = tuple(Cell(timer, "no", PLAIN, "sack") for timer in BENEFIT_S)
LISTED = (
    (
        "observe",
        '[{ name = "completions", kind = "completions" }, { name = "reordering", kind = "reordering" }, '
        '{ name = "segments-per-burst", kind = "segments-per-burst" }]',
    ),
)


@exhibit
class Fig16(Exhibit):
    """Files over bursts that are lost, every segment acknowledged at once."""

    id = "obs/fig16"
    title = "Goodput over the assembly timer, without delayed ACKs"
    paper = PAPER
    where = "section IV.C, Fig. 16, and section III.D"
    paper_runs = PAPER_RUNS
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The figure's transfers; those of SACK alone once more with what losses led to, at two lengths of the path."""
        found = {
            PLAIN: transfers(PLAIN, chosen, options),
            LOSSLESS: lossless(chosen, options),
            LOSS_EVENTS: study("obs, loss events", BENEFIT_CELLS, LISTED, chosen, options),
        }
        for timer, cell in zip(BENEFIT_S, BENEFIT_CELLS, strict=True):
            # What the timer adds to a round trip is taken off the path.
            shorter = {**chosen, "path_delay_ms": float(chosen["path_delay_ms"]) - 1e3 * timer}
            title = f"obs, same round trip, {1e3 * timer:g} ms"
            found[_same(timer)] = study(title, [cell], LISTED, shorter, options)
        return found

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 100 files; fewer where only the sizes of bursts are asked for."""
        return size.of(SIZES_RUNS if study == LOSSLESS else PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Goodput by cell, the model's error, and the claims."""
        found = measured(PLAIN, done[PLAIN])
        rows = rows_of("goodput_mbps", {frozen(cell.recovery_key()): values for cell, values in found.items()})
        same = [done[_same(timer)].once(_goodput) for timer in BENEFIT_S]
        judges: dict[str, dict[str, list[Part]]] = {
            one: {"without delayed ACK": say(found, PLAIN)} for one, say in STATEMENTS.items()
        }
        judges["correlation-benefit"] = {"SACK, without background": benefit(done[LOSS_EVENTS].once(_losses), same)}
        note = (
            "For the correlation benefit at one round trip the path is shorter by the timer each way, since a burst "
            "that only its size completes would keep the last ACKs of a window."
        )
        series = curves(rows, "goodput", "Mb/s")
        errors, models = held_against((PLAIN,), found, sizes(done[LOSSLESS]), chosen)
        return Evaluation(rows + errors, judge.judge_each(self.id, judges), series + models, [note, MODEL_NOTE])


def _same(timer_s: float) -> str:
    return f"{SAME_ROUND_TRIP}, {1e3 * timer_s:g} ms"


def _goodput(done: Done) -> NDArray[np.float64]:
    return np.array([goodput_mbps(run) for _, runs in done for run in runs])


def _losses(done: Done) -> NDArray[np.float64]:
    """Mean segments a burst and loss events by file and timer, shape (files, 2 timers)."""
    return np.array([[*map(mean_segments, runs), *map(loss_events, runs)] for _, runs in done], dtype=np.float64)


def loss_events(run: RunData) -> int:
    """Recoveries and timeouts of the file."""
    rows = run.series["reordering"]
    wanted = [list(rows["events"]).index(event) for event in ("recovery", "timeout")]
    return int(np.isin(rows["event"], wanted).sum())


def benefit(table: NDArray[np.float64], same: list[NDArray[np.float64]]) -> list[Part]:
    """Judge: loss events fall as segments a burst grow, slope -1; goodput grows where the round trip stays."""
    half = table.shape[1] // 2
    estimate, samples = slope(table[:, :half], table[:, half:])
    fit = judge.within_part("log-log slope", samples, estimate, table.shape[0], (-1.15, -0.85), 2, "")
    return [fit, *trend("goodput at one round trip", same, BENEFIT_S)]
