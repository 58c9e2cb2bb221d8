"""Table 6: optical against electrical switch-back, by goodput in the first 1.5 s after the repair."""

from optcp.papers.kit import Cells, Estimates, Exhibit, Findings, Found, Part, judge, rows, tables
from optcp_papers.gmpls.paper import WHY_CHANGED
from optcp_papers.gmpls.section7 import OPTICAL_NOTE, SETUP, as_often_as_printed, goodput, over_electrical

SAME_PCT = 0.5
WHY = (
    "Bandwidth and queue are unstated and partly interchangeable. They decide whether the two merged streams overflow "
    "a queue."
)


def find(found: Found) -> Findings:
    """Return two rows per d for the paper's emulation, and two for the exact rule, which has no published values."""
    good = goodput(found).good
    f = over_electrical(good)
    exact = {f"exact_{name}": value for name, value in metrics(over_electrical(good, "optical exact")).items()}
    compared = rows({**metrics(f), **exact}, tables("gmpls")["table6"], WHY_CHANGED if found.changed else WHY)
    return Findings(compared, {"electrical-slightly-ahead": electrical_is_ahead(f)}, notes=[OPTICAL_NOTE])


def metrics(f: Cells) -> dict[str, Estimates]:
    """Return the mean gain of optical over electrical, and how often it is positive."""
    return {"opt_vs_el_pct": (100 * (f - 1)).mean(), "opt_better_pct": (f > 1).share().times(100)}


def electrical_is_ahead(f: Cells) -> list[Part]:
    """Judge: equal at d = 1 and 2 ms, electrical slightly ahead at 10, 20 and 50 ms, as often as published."""
    gain = 100 * (f - 1)
    nothing = 0 * gain
    return [
        *(judge.equivalence_part(f"f({d} ms) - 1", gain.at(d_ms=d), SAME_PCT, "%") for d in (1, 2)),
        *(judge.paired_part(f"f({d} ms) - 1", gain.at(d_ms=d), nothing.at(d_ms=d), "below", "%") for d in (10, 20, 50)),
        *as_often_as_printed(f, (1, 2, 10, 20, 50)),
    ]


TABLE6 = Exhibit("gmpls/table6", "Optical against electrical switch-back", "section 7.2, Table 6", SETUP, find)
