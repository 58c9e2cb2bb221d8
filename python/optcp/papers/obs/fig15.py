"""Figure 15: goodput over the assembly timer, with delayed ACKs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.obs.goodput import STATEMENTS, cells, measured, name, transfers
from optcp.papers.obs.lossless import NAME as LOSSLESS
from optcp.papers.obs.lossless import SIZES_RUNS, lossless, sizes
from optcp.papers.obs.paper import PAPER, PAPER_RUNS, QUICK_RUNS, WORLD, Cell
from optcp.papers.obs.predicted import MODEL_NOTE, held_against
from optcp.papers.obs.rows import curves, frozen, rows_of
from optcp.papers.printed import statements_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid

KINDS = ("exact", "tick")
NOT_DELAYED = "none"


@exhibit
class Fig15(Exhibit):
    """Files over bursts that are lost, with both kinds of delayed-ACK timer."""

    id = "obs/fig15"
    title = "Goodput over the assembly timer, with delayed ACKs"
    paper = PAPER
    where = "section IV.C, Fig. 15"
    paper_runs = PAPER_RUNS
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a kind of timer, that of figure 16 to compare with, and the lossless one for the model's sizes."""
        found = {kind: transfers(kind, chosen, options) for kind in (*KINDS, NOT_DELAYED)}
        return {**found, LOSSLESS: lossless(chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 100 files; fewer where only the sizes of bursts are asked for."""
        return size.of(SIZES_RUNS if study == LOSSLESS else PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Goodput by cell, the model's error, and the claims: of this figure, and those of figure 16 made of both."""
        found = {kind: measured(kind, done[kind]) for kind in (*KINDS, NOT_DELAYED)}
        rows = rows_of(
            "goodput_mbps",
            {frozen(cell.recovery_key()): values for kind in KINDS for cell, values in found[kind].items()},
        )
        lower = {kind: delayed_is_lower(found[kind], found[NOT_DELAYED]) for kind in KINDS}
        claims = judge.judge_each(self.id, {"delayed-ack-lowers": lower})
        claims += [
            judge.claim(statement, {kind: STATEMENTS[statement.id](found[kind], kind) for kind in KINDS})
            for statement in statements_of("obs/fig16")
            if statement.id in STATEMENTS
        ]
        series = curves(rows, "goodput", "Mb/s")
        both = found[KINDS[0]] | found[KINDS[1]]
        errors, models = held_against(KINDS, both, sizes(done[LOSSLESS]), chosen)
        return Evaluation(rows + errors, claims, series + models, [MODEL_NOTE])


def delayed_is_lower(
    delayed: Mapping[Cell, NDArray[np.float64]], plain: Mapping[Cell, NDArray[np.float64]]
) -> list[Part]:
    """Judge: every point of this figure is below that of figure 16."""
    pairs = zip(cells(next(iter(delayed)).ack_timer), cells(NOT_DELAYED), strict=True)
    return [
        judge.paired_part(f"{name(one)}: with minus without", delayed[one], plain[other], "below", "Mb/s")
        for one, other in pairs
    ]
