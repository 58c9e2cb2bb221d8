"""Figure 13: best length of the backup, by switch delay."""

import numpy as np

from optcp import stats
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, judge, rows
from optcp_papers.gmpls.goodput import trend
from optcp_papers.gmpls.paper import LOST_NOTE
from optcp_papers.gmpls.section6 import D_MS, SETUP, goodput


def find(found: Found) -> Findings:
    """Return the share of runs in which each d has the most goodput, per (d, delta), and the best d's mean rank."""
    best = goodput(found).good.wins("d_ms")
    shares = rows({"best_pct": best.share().times(100)})
    return Findings(
        rows=[
            *sorted(shares, key=lambda share: float(share.key["delta_ms"])),
            *rows({"best_rank": best_rank(best).mean()}),
        ],
        claims={"slower-favours-short": shorter_dominates(best)},
        notes=[LOST_NOTE],
    )


def best_rank(best: Cells) -> Cells:
    """Return the rank of the best d, from 1 (1 ms) to 6 (100 ms); ties get the mean rank."""
    ranks = np.arange(1, len(D_MS) + 1)
    return Cells(np.einsum("sdj,d->sj", best.values, ranks), (best.axis("delta_ms"),), best.seeds)


def shorter_dominates(best: Cells) -> list[Part]:
    """Judge: with a slower switchover the best d is shorter, and d >= 10 ms is best less often."""
    # A tie with a shorter d counts for d >= 10 ms if more than half of the tied d are that long.
    longer = best.between(2, 100, "d_ms") > 0.5
    test = stats.mcnemar(longer.at(delta_ms=100), longer.at(delta_ms=5))
    title = f"share with d >= 10 ms best, delta = 100 ms minus 5 ms (McNemar p = {test.p:.2g})"
    return [
        *trend("rank of the best d, delta", best_rank(best), "down", ""),
        judge.side_part(title, test.times(100), "below", "points"),
    ]


FIG13 = Exhibit(
    "gmpls/fig13",
    "Share of runs in which a change in RTT is best, by protection switch delay",
    "section 6.2, Fig. 13",
    SETUP,
    find,
)
