"""Figure 14: goodput in the first 1.5 s, by length of the backup and switch delay."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Holds, Part, judge, rows
from optcp.stats import resampling
from optcp_papers.gmpls.goodput import trend
from optcp_papers.gmpls.section6 import D_MS, DELTA_MS, SETUP, goodput

SAME_POINTS = 1.0
AS_MUCH = (0.67, 1.5)


def find(found: Found) -> Findings:
    """Return the mean goodput of (5 s, 6.5 s] in % of the access bandwidth, one row per (d, delta)."""
    pct = goodput(found).access_pct()
    claims = {"falls-with-both": falls_both_ways(pct), "length-costs-as-delay": longer_is_like_slower(pct)}
    return Findings(rows({"goodput_access_pct": pct.mean()}), claims)


def falls_both_ways(pct: Cells) -> list[Part]:
    """Judge: goodput falls with d at every delta and with delta at every d; d = 1 and 2 ms may be equal."""
    parts = []
    for d in D_MS:
        parts += trend(f"d = {d} ms, delta", pct.at(d_ms=d), "down", "points")
    for delta in DELTA_MS:
        here = pct.at(delta_ms=delta)
        last_against_first, step_to_2_ms, *others = trend(f"delta = {delta} ms, d", here, "down", "points")
        if same := alike(here.at(d_ms=2) - here.at(d_ms=1)):
            step_to_2_ms = Part(f"{step_to_2_ms.text}, the same within {SAME_POINTS:g} point", same)
        parts += [last_against_first, step_to_2_ms, *others]
    return parts


def alike(difference: Cells) -> Holds:
    """Return whether d = 1 and 2 ms are equal by EQUIV."""
    test = stats.equivalent(difference, SAME_POINTS)
    return judge.verdict_at_look(lambda level: test.holds(level) is True)


def longer_is_like_slower(pct: Cells) -> list[Part]:
    """Judge: a longer backup costs about as much as a delay of the switchover of the same order of magnitude."""
    ends = ((100, 5), (10, 100), (1, 100))
    losses = np.column_stack([pct.at(d_ms=1, delta_ms=5) - pct.at(d_ms=d, delta_ms=delta) for d, delta in ends])
    n = len(losses)

    def ratio(other: int) -> tuple[float, NDArray[np.float64]]:
        return resampling.bootstrap(losses, lambda mean: mean[:, 0] / mean[:, other])

    one, samples_one = ratio(2)
    against_one = resampling.percentile(samples_one, one, n)
    estimate, samples = ratio(1)
    part = judge.within_part("loss against (1, 5), (100, 5) over (10, 100)", samples, estimate, n, AS_MUCH, 2, "")
    more = f"losses {', '.join(f'{loss:.1f}' for loss in losses.mean(axis=0))} points at (100, 5), (10, 100), (1, 100)"
    return [replace(part, text=f"{part.text}; {more}; (100, 5) over (1, 100): {judge.span(against_one, '')}")]


FIG14 = Exhibit(
    "gmpls/fig14", "Goodput by change in RTT and protection switch delay", "section 6.2, Fig. 14", SETUP, find
)
