"""Figure 13: which length of the backup is best, by switch delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, LOST_NOTE, Section6, steps
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section6 import Context, Measured
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.study import Done

LONGER = D_MS.index(10)


@exhibit
class Fig13(Section6):
    """Per cent of the runs in which a d has the most goodput, and the mean rank of the best d."""

    id = "gmpls/fig13"
    title = "Share of runs in which a change in RTT is best, by protection switch delay"
    where = "section 6.2, Fig. 13"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """One row a (d, delta), and one a delta for the rank."""
        context = self.context(chosen, done)
        measured = context.measured
        best, rank = measured.best_share.sum(axis=0), best_rank(measured)
        rows: list[Row] = [
            row(
                {"d_ms": d, "delta_ms": delta},
                "best_pct",
                None,
                stats.wilson(best[i, j], measured.seeds).times(100),
                "",
            )
            for j, delta in enumerate(DELTA_MS)
            for i, d in enumerate(D_MS)
        ]
        rows += [
            row({"delta_ms": delta}, "best_rank", None, stats.mean(rank[:, j]), "") for j, delta in enumerate(DELTA_MS)
        ]
        return Evaluation(rows, context.judge(self.id, JUDGES), [], [LOST_NOTE])


def best_rank(measured: Measured) -> NDArray[np.float64]:
    """Rank of the best d, 1 for 1 ms to 6 for 100 ms, the mean of those that tie; float64[seeds, deltas]."""
    ranks = np.arange(1, len(D_MS) + 1)
    result: NDArray[np.float64] = np.einsum("sdj,d->sj", measured.best_share, ranks)
    return result


def shorter_dominates(context: Context) -> list[Part]:
    """Judge: the slower the switch, the lower the best d's rank, and the rarer is d >= 10 ms best."""
    measured = context.measured
    rank = best_rank(measured)
    # A tie with a shorter one counts for d >= 10 ms where most of those that tie are that long.
    longer = measured.best_share[:, LONGER:].sum(axis=1) > 0.5
    test = stats.mcnemar(longer[:, -1], longer[:, 0])
    title = f"share with d >= 10 ms best, delta = 100 ms minus 5 ms (McNemar p = {test.p:.2g})"
    return [
        *judge.trend_parts("rank of the best d, delta", steps(DELTA_MS), list(rank.T), "down", ""),
        judge.side_part(title, test.times(100), "below", "points"),
    ]


JUDGES = {"slower-favours-short": shorter_dominates}
