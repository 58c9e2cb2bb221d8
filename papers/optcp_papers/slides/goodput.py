"""Goodput over time by class and in total, and the gain of 50 ms over an immediate switchover in the first second."""

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optcp.papers import curve, histogram, judge
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Key, Part, Row, Series, coarser, over_time, rows, tables
from optcp.stats import resampling
from optcp.stats.quantiles import sample_quantile
from optcp_papers.slides.first import (
    CLASSES,
    DELTA_MS,
    END_S,
    FAILURE_S,
    REPAIR_S,
    SEEDS_NOTE,
    SETUP,
    STEP_S,
    World,
    world,
)

BIN_PCT = 10
SAME_FROM_S = 14
LABELS = ("time", "s", "goodput", "Mb/s")
WHY = (
    "The published value is of one run. Over start times the gain varies far more than this difference. Further rows "
    "state the variation and the rank of the published value."
)


def find(found: Found) -> Findings:
    """Return curves by class, and the distribution of the first second's gain over start times."""
    measured = world(found)
    gain_pct = first_second_gain_pct(measured)
    (gains,) = histogram.curves({"delta_ms": 50}, gain_pct.values, BIN_PCT, "gain of 50 ms over 0 ms")[:1]
    return Findings(
        rows=gain_rows(gain_pct) + second_rows(measured),
        claims={"losses-by-class": goodput_by_class(measured), "first-second-gain": first_second(measured)},
        series=[*over_time_by_class(measured), replace(gains, name="gain")],
        notes=[SEEDS_NOTE],
    )


def by_class(bytes_: Cells) -> Cells:
    """Return the values of each class and their total, over ``class``."""
    return bytes_.with_total("group").renamed(group="class")


def first_second_gain_pct(measured: World) -> Cells:
    """Return total goodput of (10 s, 11 s] with 50 ms over that with 0 ms, minus one, in %."""
    total = measured.goodput.between(FAILURE_S, FAILURE_S + 1).total("group")
    return 100 * (total.at(delta_ms=50) / total.at(delta_ms=0) - 1)


def gain_rows(gain_pct: Cells) -> list[Row]:
    """Return the distribution of the first second's gain, and the rank of the published value."""
    printed = tables("slides")["first_second_50ms_vs_0ms_pct"]
    below = (gain_pct < printed) + 0.5 * (gain_pct == printed)
    metrics = {
        "one_run_gain_pct": gain_pct.mean(),
        "gain_median_pct": gain_pct.median(),
        "gain_p05_pct": gain_pct.quantile(0.05),
        "gain_p95_pct": gain_pct.quantile(0.95),
        "gain_sd_pct": gain_pct.deviation(),
        "print_percentile_pct": below.share().times(100),
    }
    return rows(metrics, {"one_run_gain_pct": printed}, WHY, {"window": "10-11 s", "delta_ms": 50, "class": "total"})


def second_rows(measured: World) -> list[Row]:
    """Return the goodput of the first seconds by class."""
    result = []
    for second in (10, 11, 12):
        kb = by_class(measured.goodput.between(second, second + 1) / 1e3)
        result += rows({"goodput_kb": kb.mean()}, key={"window": f"{second}-{second + 1} s"})
    return result


def over_time_by_class(measured: World) -> list[Series]:
    """Return the mean over seeds with its interval, and the first seed, in intervals of 100 ms."""
    mbps = by_class(coarser(measured.goodput, STEP_S)) * (8e-6 / STEP_S)
    series = []
    for delta, name in itertools.product(DELTA_MS, mbps.axis("class").values):
        key: Key = {"delta_ms": delta, "class": name}
        series += over_time(mbps.at(**key), key, LABELS, 4, shown_s=(0, END_S), example=True)
    return series


def goodput_by_class(measured: World) -> list[Part]:
    """Judge: goodput that each class loses in the first second, by delay."""
    before = measured.goodput.between(FAILURE_S - 1, FAILURE_S)
    pct = 100 * measured.goodput.between(FAILURE_S, FAILURE_S + 1) / before
    switched, fixed = (pct.at(group=name) for name in CLASSES)
    steps = coarser(measured.goodput, STEP_S)
    fifty, thousand = (
        curve.curves(steps.at(group="switched", delta_ms=delta).values, FAILURE_S, END_S) for delta in (50, 1000)
    )

    def later(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        one, other = np.split(mean, 2, axis=1)
        return curve.back_s(other) - curve.back_s(one)

    estimate, samples = resampling.bootstrap(np.hstack([fifty, thousand]), later)
    ends = [float(curve.back_s(item.mean(axis=0, keepdims=True))[0]) for item in (fifty, thousand)]
    return [
        judge.equivalence_part(
            "switched in (10 s, 11 s], 50 ms minus 0 ms",
            switched.at(delta_ms=50) - switched.at(delta_ms=0),
            15,
            "% of before",
        ),
        judge.paired_part(
            "switched in (10 s, 11 s], 1000 ms minus 50 ms",
            switched.at(delta_ms=1000),
            switched.at(delta_ms=50),
            "below",
            "% of before",
        ),
        # A difference of one interval of the curve counts as later.
        judge.bootstrap_part(
            f"switched back at 90 % after {ends[1]:.1f} s with 1000 ms, {ends[0]:.1f} s with 50 ms (the repair is at "
            f"{REPAIR_S - FAILURE_S:g} s), difference",
            samples,
            estimate,
            len(pct.seeds),
            STEP_S / 2,
            "s",
        ),
        *judge.trend_parts(
            "fixed in (10 s, 11 s]",
            [f"{delta} ms" for delta in DELTA_MS],
            [fixed.at(delta_ms=delta) for delta in DELTA_MS],
            "up",
            "% of before",
        ),
    ]


def first_second(measured: World) -> list[Part]:
    """Judge: gain of the first second, and the cases only differ in the first few seconds."""
    goodput = measured.goodput.total("group")
    kb = goodput.between(FAILURE_S, FAILURE_S + 1) / 1e3
    printed = tables("slides")["first_second_50ms_vs_0ms_pct"]
    gain_pct = first_second_gain_pct(measured).values
    low, high = (sample_quantile(gain_pct, q) for q in (0.05, 0.95))
    parts = [
        judge.paired_part(
            "total of (10 s, 11 s], 50 ms minus 0 ms", kb.at(delta_ms=50), kb.at(delta_ms=0), "above", "kB"
        ),
        judge.exact_part(
            f"published {printed:+.2f} % between the runs' 5th and 95th percentile, {low:+.1f} and {high:+.1f} %",
            bool(low <= printed <= high),
        ),
    ]
    for second in range(SAME_FROM_S, round(END_S)):
        bytes_ = goodput.between(second, second + 1)
        for one, other in itertools.combinations(DELTA_MS, 2):
            base = bytes_.at(delta_ms=one)
            difference = 100 * (bytes_.at(delta_ms=other) - base) / base.values.mean()
            name = f"({second} s, {second + 1} s], {other} ms minus {one} ms"
            parts.append(judge.equivalence_part(name, difference, 2, "%"))
    return parts


GOODPUT = Exhibit(
    "slides/goodput",
    "Goodput by protection switch delay, and the first second after the failure",
    "slides, TCP goodput",
    SETUP,
    find,
)
