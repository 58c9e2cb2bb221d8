"""Table 6: optical against electrical switch-back by goodput in the first 1.5 s after the repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls.section6 import D_MS, WHY_CHANGED
from optcp.papers.gmpls.section7 import EXACT, OPTICAL, OPTICAL_NOTE, Section7, better_share_parts
from optcp.papers.printed import tables
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section7 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.study import Done

SAME_PCT = 0.5
_WHY = (
    "Bandwidth and queue are unstated, partly interchangeable, and decide whether the two merged streams overflow a "
    "queue."
)


@exhibit
class Table6(Section7):
    """Mean of Good(optical, d) / Good(electrical, d) - 1 in (10 s, 11.5 s], and how often it is above zero."""

    id = "gmpls/table6"
    title = "Optical against electrical switch-back"
    where = "section 7.2, Table 6"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Two rows a d for the paper's emulation, and two for the exact rule."""
        context = self.context(chosen, done)
        rows = _rows(context)
        return Evaluation(rows, context.judge(self.id, JUDGES), [], [OPTICAL_NOTE])


def _rows(context: Context) -> list[Row]:
    measured, printed = context.measured, tables("gmpls")["table6"]
    why = WHY_CHANGED if context.changed else _WHY
    rows = []
    for i, d in enumerate(D_MS):
        for strategy, prefix in ((OPTICAL, ""), (EXACT, "exact_")):
            f = measured.ratio(strategy)[:, i]
            intervals = {
                "opt_vs_el_pct": stats.mean(100 * (f - 1)),
                "opt_better_pct": stats.wilson(int((f > 1).sum()), measured.seeds).times(100),
            }
            # The printed values are of the emulation; the exact rule has nothing to be compared with.
            rows += [
                row({"d_ms": d}, f"{prefix}{metric}", None if prefix else printed[metric][i], interval, why)
                for metric, interval in intervals.items()
            ]
    return rows


def electrical_is_ahead(context: Context) -> list[Part]:
    """Judge: equal at d = 1 and 2 ms, electrical slightly ahead at 10, 20 and 50 ms, as often as printed."""
    gain = 100 * (context.measured.ratio() - 1)
    parts = [judge.equivalence_part(f"f({d} ms) - 1", gain[:, D_MS.index(d)], SAME_PCT, "%") for d in (1, 2)]
    for d in (10, 20, 50):
        mine = gain[:, D_MS.index(d)]
        parts.append(judge.paired_part(f"f({d} ms) - 1", mine, np.zeros_like(mine), "below", "%"))
    return parts + better_share_parts(context, (1, 2, 10, 20, 50))


JUDGES = {"electrical-slightly-ahead": electrical_is_ahead}
