"""Figure 18: goodput over time around the failure, by scheme and scenario."""

from dataclasses import replace

import numpy as np

from optcp.papers.kit import Cells, Chosen, Exhibit, Findings, Found, Grid, Options, Part, curve, judge, overrides, rows
from optcp.stats import resampling
from optcp_papers.gmpls import section6, section8
from optcp_papers.gmpls.goodput import Goodput
from optcp_papers.gmpls.paper import LOST_NOTE, PAPER_RUNS, WINDOW_S
from optcp_papers.gmpls.section8 import (
    DELTA_MS,
    END_S,
    GRID,
    LOCAL,
    LOOPBACK,
    MECHANISMS,
    PATH,
    SCENARIOS,
    VARIANT,
    Delays,
    goodput,
    merge_drops,
)

SECTION_6 = "section 6, backups that add as much"
SECTION_6_UNTIL_S = 6.0
SAME_POINTS = 25.0
LAST = SCENARIOS[-1]
OFTEN_SHARE, RARE_SHARE = 0.5, 0.05
BEFORE_NOTE = "Only gmpls/fig7 (section 5) judges whether the access is the only bottleneck before the failure."


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the shared grid, and section 6's network with backups as long as the local ones."""
    delay = {"parameters.switch_delay": f"{DELTA_MS[0]} ms"}
    longer = {scenario: {**section6.backup(alike_ms(scenario)), **delay} for scenario in SCENARIOS}
    settings = {**overrides(section6.ASSUMED, chosen), "stop": f"{SECTION_6_UNTIL_S:g} s"}
    alike = options.grid(section6.SCENARIO, settings, {"scenario": longer}, "gmpls fig18, section 6")
    return {**section8.grids(chosen, options), SECTION_6: alike}


def alike_ms(scenario: str) -> int:
    """Return section 6's d of the local backup: d_l is its excess over the 1 ms that it replaces, d its whole delay."""
    return Delays.of(scenario).d_l + 1


def find(found: Found) -> Findings:
    """Return a curve and three rows per (scenario, scheme), with one panel per scheme."""
    shared = goodput(found)
    overflowed = found.done[GRID].once(merge_drops).at(delta_ms=DELTA_MS[0]) > 0
    section_6 = Goodput.of(found, SECTION_6, WINDOW_S, SECTION_6_UNTIL_S)
    metrics = {**shared.falls(), "overflow_l0_l5_pct": overflowed.share().times(100)}
    shown = replace(shared, end_s=END_S)
    return Findings(
        rows=sorted(rows(metrics), key=lambda row: MECHANISMS.index(str(row.key["mechanism"]))),
        claims={
            "variant-overflows-in-d": variant_recovers_faster_unless_d(shared, overflowed.at(mechanism=VARIANT)),
            "scenarios-alike-for-local": local_is_alike_others_worsen(shared, section_6),
        },
        series=[
            item
            for mechanism in MECHANISMS
            for scenario in SCENARIOS
            for item in shown.over_time(scenario=scenario, mechanism=mechanism)
        ],
        notes=[LOST_NOTE, BEFORE_NOTE],
    )


def variant_recovers_faster_unless_d(goodput: Goodput, overflowed: Cells) -> list[Part]:
    """Judge: in D the variant settles no sooner than plain loop-back because packets overflow; in A to C sooner."""
    n, parts = goodput.seeds, []
    for scenario in SCENARIOS:
        (late, late_samples), (early, early_samples) = (
            resampling.bootstrap(goodput.curves(scenario=scenario, mechanism=mechanism), curve.back_s)
            for mechanism in (VARIANT, LOOPBACK)
        )
        test = resampling.bootstrap_difference(late_samples, early_samples, late - early, n)
        name = f"{scenario}, settling time, variant minus loop-back"
        part = judge.side_part(name, test, "below" if scenario != LAST else "above", "s")
        if scenario == LAST:
            # "No faster" is refuted by a significantly faster variant. Without a significant difference it holds only
            # with as many runs as the paper.
            part = replace(part, default=True if n >= PAPER_RUNS else "undecided")
        parts.append(part)
    for scenario in SCENARIOS:
        often = int(overflowed.at(scenario=scenario).values.sum())
        name = f"{scenario}, drops at L0->L5 in (5 s, 5.3 s]"
        if scenario == LAST:
            parts.append(judge.share_part(f"{name}, above 50 %", often, n, OFTEN_SHARE))
        else:
            part = judge.share_part(f"{name}, below 5 %", often, n, RARE_SHARE)
            parts.append(replace(part, holds="undecided" if part.holds == "undecided" else not part.holds))
    return parts


def local_is_alike_others_worsen(goodput: Goodput, section_6: Goodput) -> list[Part]:
    """Judge: local dips are equal in all scenarios; dips of path and loop-back deepen and lengthen from A to D."""
    n, bounds = goodput.seeds, (-np.inf, SAME_POINTS)
    dips = {
        scenario: resampling.bootstrap(goodput.curves(scenario=scenario, mechanism=LOCAL), curve.dip_pct)
        for scenario in SCENARIOS
    }
    spread = float(np.ptp([estimate for estimate, _ in dips.values()]))
    spreads = np.ptp([samples for _, samples in dips.values()], axis=0)
    parts = [judge.within_part("local, maximum minus minimum dip", spreads, spread, n, bounds, 2, "points")]
    for scenario, (dip, samples) in dips.items():
        alike, alike_samples = resampling.bootstrap(section_6.curves(scenario=scenario), curve.dip_pct)
        name = f"local, {scenario}, dip minus section 6's dip at d = {alike_ms(scenario)} ms"
        gap_samples = samples - alike_samples
        parts.append(judge.within_part(name, gap_samples, dip - alike, n, (-SAME_POINTS, SAME_POINTS), 2, "points"))
    for mechanism in (PATH, LOOPBACK):
        curves = [goodput.curves(scenario=scenario, mechanism=mechanism) for scenario in SCENARIOS]
        parts += judge.bootstrap_trend_parts(f"{mechanism}, dip", SCENARIOS, curves, curve.dip_pct, "up", "points")
        parts += judge.bootstrap_trend_parts(f"{mechanism}, settling time", SCENARIOS, curves, curve.back_s, "up", "s")
    return parts


FIG18 = Exhibit(
    "gmpls/fig18",
    "Goodput over time by protection scheme",
    "section 8.2, Fig. 18",
    replace(section8.SETUP, grids=grids),
    find,
)
