"""Figure 12: goodput over time for every combination of d and delta."""

from dataclasses import replace

import numpy as np

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, curve, judge, rows
from optcp.stats import resampling
from optcp_papers.gmpls.goodput import Goodput, trend
from optcp_papers.gmpls.paper import FAILURE_S, LOST_NOTE
from optcp_papers.gmpls.section6 import D_MS, DELTA_MS, SETUP, goodput

SHORT_MS = (1, 2, 10)
LONG_MS = 100
FAST_MS, SLOW_MS = DELTA_MS[0], DELTA_MS[-1]
SAME_POINTS = 5.0
SETTLES_S = (2.0, 4.0)
SPREAD_S = 1.0
STABILISES_S = (5.0, 8.0)


def find(found: Found) -> Findings:
    """Return a curve and two rows per (d, delta), grouped by delta as in the figure."""
    shared = goodput(found)
    return Findings(
        rows=sorted(rows(shared.falls()), key=lambda row: float(row.key["delta_ms"])),
        claims={
            "slower-deepens-short": deeper_until_equal(shared),
            "long-backup-same-drop": slower_not_deeper(shared),
        },
        series=[item for delta in DELTA_MS for d in D_MS for item in shared.over_time(d_ms=d, delta_ms=delta)],
        notes=[LOST_NOTE],
    )


def curves_by_delta(goodput: Goodput, d_ms: int) -> dict[str, curve.Curves]:
    """Return the curves of one d, by the name of delta in the evidence."""
    return {f"{delta} ms": goodput.curves(d_ms=d_ms, delta_ms=delta) for delta in DELTA_MS}


def first_interval(pct: Cells, delta_ms: int) -> list[Part]:
    """Judge EQUIV of the first 100 ms after the failure, every d against 1 ms."""
    first, name = pct.at(delta_ms=delta_ms), f"delta = {delta_ms} ms, (5.0 s, 5.1 s], d = {{}} ms minus 1 ms"
    return [
        judge.equivalence_part(name.format(d), first.at(d_ms=d) - first.at(d_ms=1), SAME_POINTS, "points")
        for d in D_MS[1:]
    ]


def deeper_until_equal(goodput: Goodput) -> list[Part]:
    """Judge: a slower switchover deepens the drop of a short backup; with 100 ms the first fall is equal for all d."""
    parts = []
    for d in SHORT_MS:
        curves = curves_by_delta(goodput, d)
        parts += judge.bootstrap_trend_parts(
            f"dip at d = {d} ms, delta", list(curves), list(curves.values()), curve.dip_pct, "up", "points"
        )
    first = goodput.access_pct((FAILURE_S, FAILURE_S + curve.STEP_S))
    alike = [delta for delta in DELTA_MS if judge.combine(first_interval(first, delta))[0] is True]
    smallest = f"the smallest delta with equal falls is {alike[0]} ms" if alike else "falls are equal at no delta"
    *equal, last = first_interval(first, SLOW_MS)
    return [*parts, *equal, replace(last, text=f"{last.text} ({smallest})")]


def slower_not_deeper(goodput: Goodput) -> list[Part]:
    """Judge: at d = 100 ms a slower switchover does not deepen or lengthen the drop, but costs goodput meanwhile."""
    n, curves = goodput.seeds, curves_by_delta(goodput, LONG_MS)
    dips = {name: resampling.bootstrap(item, curve.dip_pct) for name, item in curves.items()}
    settled = {name: resampling.bootstrap(item, curve.back_s) for name, item in curves.items()}
    (slow, slow_samples), (fast, fast_samples) = dips[f"{SLOW_MS} ms"], dips[f"{FAST_MS} ms"]
    margin = (-SAME_POINTS, SAME_POINTS)
    spread = np.ptp([estimate for estimate, _ in settled.values()])
    spreads = np.ptp([samples for _, samples in settled.values()], axis=0)
    pct = goodput.access_pct(STABILISES_S).at(d_ms=LONG_MS)
    return [
        judge.within_part(
            "dip, delta = 100 ms minus 5 ms", slow_samples - fast_samples, slow - fast, n, margin, 1, "points"
        ),
        *(
            judge.within_part(f"delta = {name}: settling time", samples, estimate, n, SETTLES_S, 2, "s")
            for name, (estimate, samples) in settled.items()
        ),
        judge.within_part(
            "maximum minus minimum settling time", spreads, float(spread), n, (-np.inf, SPREAD_S), 2, "s"
        ),
        *trend("goodput of (5 s, 8 s], delta", pct, "down", "points"),
    ]


FIG12 = Exhibit(
    "gmpls/fig12",
    "Goodput over time by change in RTT and protection switch delay",
    "section 6.2, Fig. 12",
    SETUP,
    find,
)
