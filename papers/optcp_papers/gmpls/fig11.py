"""Figure 11: distribution of f(d) over the random cases, delta = 5 ms."""

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, distribution, judge, tables
from optcp_papers.gmpls.goodput import trend
from optcp_papers.gmpls.paper import LOST_NOTE, PAPER_RUNS
from optcp_papers.gmpls.section6 import D_MS, SETUP, goodput, relative

DELTA_MS = 5
BIN_PCT = 1


def find(found: Found) -> Findings:
    """Return histograms of f(d) in bins of 1 % and their normal fits; the rows are the parameters of the fits."""
    shared = goodput(found)
    f, best = relative(shared).at(delta_ms=DELTA_MS), shared.good.wins("d_ms").at(delta_ms=DELTA_MS)
    rows, series = distribution((100 * f).part(d_ms=D_MS[1:]), BIN_PCT, "f(d)")
    return Findings(rows, {"losing-share-climbs": longer_loses_more_often(f, best)}, series, [LOST_NOTE])


def longer_loses_more_often(f: Cells, best: Cells) -> list[Part]:
    """Judge: the shares of Table 4, and that the peak of f moves left with d."""

    def against(name: str, cells: Cells, column: str, d: int) -> Part:
        printed, successes = tables("gmpls")["table4"][column][D_MS.index(d)], float(cells.at(d_ms=d).values.sum())
        return judge.printed_share_part(f"{name}, {d} ms", successes, len(cells.seeds), printed, PAPER_RUNS)

    return [
        *(against("worse than 1 ms", f < 1, "worse_than_1ms_pct", d) for d in D_MS[1:]),
        *(against("best", best, "best_pct", d) for d in D_MS),
        *trend("mean f, d", (100 * f).part(d_ms=D_MS[1:]), "down", "%"),
    ]


FIG11 = Exhibit(
    "gmpls/fig11",
    "Distribution of goodput relative to no change in RTT, delta = 5 ms",
    "section 6.2, Fig. 11",
    SETUP,
    find,
)
