"""Figure 15: which strategy after the repair is the best one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.paper import PAPER_RUNS
from optcp.papers.gmpls.section6 import D_MS
from optcp.papers.gmpls.section7 import ELECTRICAL, LOST_NOTE, NONE, OPTICAL, OPTICAL_NOTE, STRATEGIES, Section7
from optcp.papers.verdict import row
from optcp.papers.windows import shares_of_wins

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section7 import Context, Measured
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.study import Done

COMPARED = (NONE, ELECTRICAL, OPTICAL)
ONE_OF_THREE = 1 / 3


@exhibit
class Fig15(Section7):
    """Share of the runs in which a strategy has the most goodput in (10 s, 11.5 s]."""

    id = "gmpls/fig15"
    title = "Best strategy after the repair by change in RTT"
    where = "section 7.2, Fig. 15"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """One row a (d, strategy)."""
        context = self.context(chosen, done)
        best, n = best_share(context.measured), context.measured.seeds
        rows: list[Row] = [
            row(
                {"d_ms": d, "strategy": STRATEGIES[strategy]},
                "best_pct",
                None,
                stats.wilson(float(best[:, i, strategy].sum()), n).times(100),
                "",
            )
            for i, d in enumerate(D_MS)
            for strategy in COMPARED
        ]
        return Evaluation(rows, context.judge(self.id, JUDGES), [], [LOST_NOTE, OPTICAL_NOTE])


def best_share(measured: Measured) -> NDArray[np.float64]:
    """How much of a seed a strategy wins by the most goodput, float64[seeds, d, strategies]; ties share equally."""
    return shares_of_wins(measured.good()[..., COMPARED], axis=-1)


def staying_is_best(context: Context) -> list[Part]:
    """Judge: staying on the backup is clearly best when d is large; with a small d all are alike."""
    best, n = best_share(context.measured)[..., NONE], context.measured.seeds
    large, small = ([D_MS.index(d) for d in of] for of in ((50, 100), (1, 2)))
    parts = [
        judge.share_part(f"none is best, d = {D_MS[i]} ms, above 50 %", float(best[:, i].sum()), n, 0.5) for i in large
    ]
    for i in small:
        part = judge.share_part(
            f"none is best, d = {D_MS[i]} ms, 33 % is within", float(best[:, i].sum()), n, ONE_OF_THREE
        )
        # No difference from a third is agreement only with as many runs as the paper had.
        parts.append(replace(part, holds=False, default=True if n >= PAPER_RUNS else "undecided"))
    more_often = stats.mcnemar(best[:, D_MS.index(100)] == 1, best[:, D_MS.index(1)] == 1)
    parts.append(judge.side_part("none alone is best, 100 ms minus 1 ms", more_often.times(100), "above", "points"))
    return parts


JUDGES = {"staying-is-best": staying_is_best}
