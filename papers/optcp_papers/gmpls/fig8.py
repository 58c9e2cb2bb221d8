"""Figure 8: distribution of f(delta) over the random cases."""

from optcp.papers.kit import Exhibit, Findings, Found, Part, distribution, judge
from optcp_papers.gmpls.section5 import DELTA_MS, READINGS_NOTE, SETUP, World, worlds

BIN_PCT = 5


def find(found: Found) -> Findings:
    """Return histograms of f(delta) in bins of 5 % and their normal fits; the rows are the parameters of the fits."""
    rows, series = [], []
    for reading, world in worlds(found).items():
        f_pct = (100 * world.ratio).part(delta_ms=DELTA_MS[1:])
        of_reading, drawn = distribution(f_pct, BIN_PCT, "f(delta)", {"flows": reading})
        rows += of_reading
        series += drawn
    claims = {"delay-gains": {reading: delay_gains(world) for reading, world in worlds(found).items()}}
    return Findings(rows, claims, series, [READINGS_NOTE])


def delay_gains(world: World) -> list[Part]:
    """Judge: on average every delayed switchover yields more total goodput than an immediate one."""
    gain = 100 * (world.ratio - 1)
    return [
        judge.paired_part(f"f({delta} ms) - 1", gain.at(delta_ms=delta), gain.at(delta_ms=0), "above", "%")
        for delta in DELTA_MS[1:]
    ]


FIG8 = Exhibit(
    "gmpls/fig8", "Distribution of goodput relative to an immediate switch", "section 5.2, Fig. 8", SETUP, find
)
