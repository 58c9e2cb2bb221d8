"""Figure 16: distribution of the ratio of optical to electrical goodput over the random cases."""

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, distribution, judge
from optcp_papers.gmpls.paper import LOST_NOTE
from optcp_papers.gmpls.section7 import OPTICAL_NOTE, SETUP, as_often_as_printed, goodput, over_electrical

BIN_PCT = 1


def find(found: Found) -> Findings:
    """Return histograms of f(d) in bins of 1 % and their normal fits; the rows are the parameters of the fits."""
    f = over_electrical(goodput(found).good)
    rows, series = distribution(100 * f, BIN_PCT, "f(d)")
    return Findings(rows, {"optical-ahead-at-100ms": optical_is_better_at_100(f)}, series, [LOST_NOTE, OPTICAL_NOTE])


def optical_is_better_at_100(f: Cells) -> list[Part]:
    """Judge: at d = 100 ms optical is better, as often as published."""
    gain = 100 * (f.at(d_ms=100) - 1)
    return [judge.paired_part("f(100 ms) - 1", gain, 0 * gain, "above", "%"), *as_often_as_printed(f, (100,))]


FIG16 = Exhibit(
    "gmpls/fig16",
    "Distribution of optical against electrical goodput after the repair",
    "section 7.2, Fig. 16",
    SETUP,
    find,
)
