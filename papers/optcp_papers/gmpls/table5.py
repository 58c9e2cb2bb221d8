"""Table 5: what a longer backup path costs, by switch delay."""

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
    "Bandwidth and queue are unstated, and partly interchangeable: independent ns-2 runs of this world differ from the "
    "printed values in the same cells, and a queue of about 40 packets comes closer at d = 20 and 50 ms."
)
LONGER_MS = tuple(d for d in D_MS if d >= 10)
"""Spans of which the paper says that a slower switch makes them cost more."""
WINDOWS_S = ((5.0, 6.5), (5.0, 7.5), (5.0, 10.0))


def find(found: Found) -> Findings:
    """One row a (d, delta), and how far all of them together lie from ns-2 and from the printed values."""
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
    """How far the table lies from ns-2's and from the printed one: root mean square and largest difference."""
    mean = 100 * (f.values.mean(axis=0)[1:] - 1)
    others = {
        "what independent ns-2 runs of the unchanged world gave": np.array(ns2()["table5"]["rel_goodput_pct"]),
        "the printed values": np.array(tables("gmpls")["table5"]["rel_goodput_pct"][1:]),
    }
    return [f"Against {name}: {_distance(mean - values)}." for name, values in others.items()]


def _distance(gap: NDArray[np.float64]) -> str:
    i, j = np.unravel_index(int(np.abs(gap).argmax()), gap.shape)
    return (
        f"{np.sqrt(np.mean(gap**2)):.2f} points root mean square over the {gap.size} cells with d > 1 ms, at most "
        f"{gap[i, j]:+.2f} points (d = {D_MS[i + 1]} ms, delta = {DELTA_MS[j]} ms)"
    )


def penalty_grows(gain: Cells) -> list[Part]:
    """Judge: the relative penalty of a longer backup grows with delta, at every d from 10 ms on."""
    parts = (trend(f"f - 1 at d = {d} ms, delta", gain.at(d_ms=d), "down", "points") for d in LONGER_MS)
    return list(itertools.chain(*parts))


def ranking_stays(goodput: Goodput) -> list[Part]:
    """Judge: another integration window does not change the ranking of the 30 cases.

    Each pair of cases is compared in each window; a pair changes places where two windows order it in opposite ways,
    both significantly. No change is only known with as many runs as the paper had.
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
        f"{changed} of {len(pairs)} pairs of cells change places between windows of "
        f"{', '.join(f'{span_s:g}' for span_s in rates)} s, every comparison corrected by Holm "
        f"({changed_each} with each comparison at 5 % by itself); Kendall's tau of the mean order against 1.5 s: {taus}"
    )
    known = changed > 0 or goodput.seeds >= PAPER_RUNS
    return [Part(text, judge.verdict_at_look(lambda level: changes(level) == 0) if known else "undecided")]


def _opposite(signs: NDArray[np.float64]) -> int:
    """How many columns hold both a plus and a minus."""
    return int(np.sum((signs > 0).any(axis=0) & (signs < 0).any(axis=0)))


def conclusions(found: Found) -> Differences:
    """What section 6.2 concludes: a longer backup path costs goodput, and the more the slower the switch."""
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
