"""Table 5: cost of a longer backup path, by switch delay."""

import itertools

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Cells, Differences, Exhibit, Findings, Found, Part, judge, rows, tables
from optcp.stats.sequential import LEVEL
from optcp_papers.gmpls.goodput import Goodput, trend
from optcp_papers.gmpls.paper import PAPER_RUNS, WHY_CHANGED, ns2
from optcp_papers.gmpls.section6 import D_MS, DELTA_MS, SETUP, goodput, relative

WHY = (
    "Bandwidth and queue are unstated and partly interchangeable. Independent ns-2 runs of this network differ from "
    "the published values in the same cells. A queue of about 40 packets comes closer at d = 20 and 50 ms."
)
LONGER_MS = tuple(d for d in D_MS if d >= 10)
"""Spans whose cost grows with the switch delay, according to the paper."""
WINDOWS_S = ((5.0, 6.5), (5.0, 7.5), (5.0, 10.0))


def find(found: Found) -> Findings:
    """Return one row per (d, delta), and the distance of the whole table from ns-2 and from the published values."""
    f = relative(goodput(found))
    gain = 100 * (f - 1)
    return Findings(
        rows=rows({"rel_goodput_pct": gain.mean()}, tables("gmpls")["table5"], WHY_CHANGED if found.changed else WHY),
        claims={
            "penalty-grows-with-delta": penalty_grows(gain),
            "window-keeps-ranking": ranking_stays(goodput(found)),
        },
        notes=distances(f),
    )


def distances(f: Cells) -> list[str]:
    """Return the distances from ns-2's table and from the published one: root mean square and maximum difference."""
    mean = 100 * (f.values.mean(axis=0)[1:] - 1)
    others = {
        "independent ns-2 runs of the unchanged network": np.array(ns2()["table5"]["rel_goodput_pct"]),
        "the published values": np.array(tables("gmpls")["table5"]["rel_goodput_pct"][1:]),
    }
    return [f"Against {name}: {_distance(mean - values)}." for name, values in others.items()]


def _distance(gap: NDArray[np.float64]) -> str:
    i, j = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
    return (
        f"{np.sqrt(np.mean(gap**2)):.2f} points root mean square over the {gap.size} combinations with d > 1 ms, "
        f"at most {gap[i, j]:+.2f} points (d = {D_MS[i + 1]} ms, delta = {DELTA_MS[j]} ms)"
    )


def penalty_grows(gain: Cells) -> list[Part]:
    """Judge: the relative penalty of a longer backup grows with delta, at every d from 10 ms."""
    parts = (trend(f"f - 1 at d = {d} ms, delta", gain.at(d_ms=d), "down", "points") for d in LONGER_MS)
    return list(itertools.chain(*parts))


def ranking_stays(goodput: Goodput) -> list[Part]:
    """Judge: another integration window does not change the ranking of the 30 combinations.

    Each pair of combinations is compared in each window. A pair changes places if two windows order it in opposite
    ways, both significantly. "No change" needs as many runs as the paper.
    """
    totals = {end - start: goodput.cells.between(start, end).values for start, end in WINDOWS_S}
    rates = {span_s: total.reshape(goodput.seeds, -1) / span_s for span_s, total in totals.items()}
    pairs = list(itertools.combinations(range(len(D_MS) * len(DELTA_MS)), 2))
    tests = [[stats.paired(rate[:, first], rate[:, second]) for first, second in pairs] for rate in rates.values()]
    signs = np.array([[np.sign(test.interval.estimate) for test in window] for window in tests])
    p = np.array([[test.p for test in window] for window in tests])

    def changes(level: float) -> int:
        return _opposite(signs * np.array(stats.holm(p.ravel().tolist(), level)).reshape(p.shape))

    changed, changed_each = changes(LEVEL), _opposite(signs * (p < LEVEL))
    first, *others = ((span_s, rate.mean(axis=0)) for span_s, rate in rates.items())
    taus = ", ".join(f"{stats.kendall(first[1], mean):.3f} with {span_s:g} s" for span_s, mean in others)
    text = (
        f"{changed} of {len(pairs)} pairs of combinations change places between windows of "
        f"{', '.join(f'{span_s:g}' for span_s in rates)} s with Holm's correction of all comparisons "
        f"({changed_each} with each comparison at 5 %); Kendall's tau of the mean order against 1.5 s: {taus}"
    )
    known = changed > 0 or goodput.seeds >= PAPER_RUNS
    return [Part(text, judge.verdict_at_look(lambda level: changes(level) == 0) if known else "undecided")]


def _opposite(signs: NDArray[np.float64]) -> int:
    """Count the columns with both a positive and a negative sign."""
    return int(np.sum((signs > 0).any(axis=0) & (signs < 0).any(axis=0)))


def conclusions(found: Found) -> Differences:
    """Return the conclusion of section 6.2: a longer backup costs goodput, and more if the switchover is slower."""
    loss, fast, slow = 100 * (1 - relative(goodput(found))), DELTA_MS[0], DELTA_MS[-1]
    shown = {
        f"loss at d = {d} ms, delta = {delta} ms (%)": loss.at(d_ms=d, delta_ms=delta)
        for d in LONGER_MS
        for delta in (fast, slow)
    }
    more = loss.at(delta_ms=slow) - loss.at(delta_ms=fast)
    shown |= {f"loss at d = {d} ms, delta = {slow} ms minus {fast} ms (points)": more.at(d_ms=d) for d in LONGER_MS}
    return {name: cells.values for name, cells in shown.items()}


TABLE5 = Exhibit(
    "gmpls/table5",
    "Comparison of changes in RTT by protection switch delay",
    "section 6.2, Table 5",
    SETUP,
    find,
    conclusions,
)
