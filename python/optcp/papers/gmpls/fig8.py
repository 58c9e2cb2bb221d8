"""Figure 8: how f(delta) is distributed over the random cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import histogram, judge
from optcp.papers.exhibit import Exhibit, Findings
from optcp.papers.gmpls.section5 import DELTA_MS, READINGS_NOTE, SETUP, worlds
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from optcp.papers.exhibit import Found
    from optcp.papers.gmpls.section5 import World
    from optcp.papers.judge import Part
    from optcp.papers.model import Key

BIN_PCT = 5


def find(found: Found) -> Findings:
    """Histograms of f(delta) with a resolution of 5 % and their normal fits; the fits' parameters as rows."""
    rows, series = [], []
    for reading, world in worlds(found).items():
        for delta in DELTA_MS[1:]:
            values = (100 * world.ratio.at(delta_ms=delta)).values
            key: Key = {"flows": reading, "delta_ms": delta}
            rows.append(row(key, "f_mean_pct", None, stats.mean(values), ""))
            rows.append(row(key, "f_sd_pct", None, stats.deviation(values), ""))
            series += histogram.curves(key, values, BIN_PCT, "f(delta)")
    claims = {"delay-gains": {reading: delay_gains(world) for reading, world in worlds(found).items()}}
    return Findings(rows, claims, series, [READINGS_NOTE])


def delay_gains(world: World) -> list[Part]:
    """Judge: on average every delayed switch yields more total goodput than an immediate one."""
    gain = 100 * (world.ratio - 1)
    return [
        judge.paired_part(f"f({delta} ms) - 1", gain.at(delta_ms=delta), gain.at(delta_ms=0), "above", "%")
        for delta in DELTA_MS[1:]
    ]


FIG8 = Exhibit(
    "gmpls/fig8", "Distribution of goodput relative to an immediate switch", "section 5.2, Fig. 8", SETUP, find
)
