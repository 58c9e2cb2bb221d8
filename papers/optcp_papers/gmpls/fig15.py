"""Figure 15: best strategy after the repair."""

from dataclasses import replace

from optcp import stats
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Holds, Part, judge, rows
from optcp_papers.gmpls.paper import LOST_NOTE, PAPER_RUNS
from optcp_papers.gmpls.section7 import COMPARED, OPTICAL_NOTE, SETUP, goodput

ONE_OF_THREE = 1 / 3


def find(found: Found) -> Findings:
    """Return the share of runs in which a strategy has the most goodput in (10 s, 11.5 s], per (d, strategy)."""
    best = best_of(goodput(found).good)
    claims = {"staying-is-best": staying_is_best(best.at(strategy="none"))}
    return Findings(rows({"best_pct": best.share().times(100)}), claims, notes=[LOST_NOTE, OPTICAL_NOTE])


def best_of(good: Cells) -> Cells:
    """Return the share of each seed for which a strategy of the paper has the most goodput (ties are split)."""
    return good.part(strategy=COMPARED).wins("strategy")


def staying_is_best(best: Cells) -> list[Part]:
    """Judge: staying on the backup is clearly best if d is large; with a small d all are equal."""
    n = len(best.seeds)

    def against(d: int, name: str, share: float) -> Part:
        return judge.share_part(f"none is best, d = {d} ms, {name}", float(best.at(d_ms=d).values.sum()), n, share)

    # A test that does not reject 1/3 is agreement only with as many runs as the paper.
    alike: Holds = True if n >= PAPER_RUNS else "undecided"
    alone = stats.mcnemar(best.at(d_ms=100) == 1, best.at(d_ms=1) == 1)
    return [
        *(against(d, "above 50 %", 0.5) for d in (50, 100)),
        *(replace(against(d, "33 % is within", ONE_OF_THREE), holds=False, default=alike) for d in (1, 2)),
        judge.side_part("none alone is best, 100 ms minus 1 ms", alone.times(100), "above", "points"),
    ]


FIG15 = Exhibit("gmpls/fig15", "Best strategy after the repair by change in RTT", "section 7.2, Fig. 15", SETUP, find)
