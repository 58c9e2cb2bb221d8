"""Figure 14: segments of a flow per burst, over the assembly timer."""

import numpy as np

from optcp import stats
from optcp.data.cells import Cells
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Part, Series, Setup, judge, rows, runs_of
from optcp_papers.obs import lossless
from optcp_papers.obs.goodput import percent
from optcp_papers.obs.paper import PAPER, PAPER_RUNS, QUICK_RUNS, TIMERS_S, WORLD, curves, delayed_key, equation_3, ms

JUDGED_S = tuple(timer for timer in TIMERS_S if 3e-4 <= timer <= 1e-2)
"""Timers at which the paper's conclusions are judged."""
OVER = 1.5
"""Minimum ratio to the mean for a strong overestimate."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the lossless transfers, shared with figure 17."""
    return {lossless.NAME: lossless.lossless(chosen, options)}


def find(found: Found) -> Findings:
    """Return the means, both interpretations of equation 3, and the claims."""
    access = found.number("access_mbps")
    segments = found.only.once(lossless.measure).segments
    measured = rows({"segments_per_burst": segments.mean()}, key=delayed_key)
    claims = {
        "formulas-overestimate": {kind: overestimates(segments, access, kind) for kind in ("exact", "tick")},
        "eq3-gives-mean": {
            "as printed": follows_equation(segments, access, opener=False),
            "with the segment that opens a burst": follows_equation(segments, access, opener=True),
        },
    }
    series = curves(measured, "segments per burst", "")
    return Findings(measured, claims, [*series, *(_equation(access, opener=opener) for opener in (False, True))])


def _equation(access_mbps: float, *, opener: bool) -> Series:
    name = "equation 3, with the segment that opens a burst" if opener else "equation 3"
    y = [round(equation_3(timer, access_mbps, opener=opener), 4) for timer in TIMERS_S]
    return Series(name, {}, "assembly timer", "s", "segments per burst", "", list(TIMERS_S), y)


def overestimates(segments: Cells, access_mbps: float, kind: str) -> list[Part]:
    """Judge: equation 3 is far above the mean with background; delayed ACKs only matter without it."""
    parts = []
    for timer in JUDGED_S:
        here = segments.at(timer_s=timer, background="yes")
        beside, delayed_beside = here.at(ack_timer="none"), here.at(ack_timer=kind)
        # The ratio is above 1.5 if the mean is below the equation over 1.5.
        expected = np.full(len(here.seeds), equation_3(timer, access_mbps) / OVER)
        text = f"{ms(timer)}: mean with background minus equation 3 over {OVER:g}"
        parts.append(judge.paired_part(text, beside, expected, "below", "segments"))
        change = percent(delayed_beside, beside)
        parts.append(judge.equivalence_part(f"{ms(timer)}: delayed ACK, with background", change, 15.0, "%"))
    return [*parts, changes_alone(segments, kind)]


def changes_alone(segments: Cells, kind: str) -> Part:
    """Judge: without background delayed ACKs change the mean at some timer, each tested with Holm's correction."""
    alone = segments.at(background="no")
    cells = [tuple(alone.at(timer_s=timer, ack_timer=ack).values for ack in (kind, "none")) for timer in JUDGED_S]
    p_values = [stats.paired(delayed, plain).p for delayed, plain in cells]
    differ = sum(stats.holm(p_values))
    largest = max(100 * abs(delayed.mean() / plain.mean() - 1) for delayed, plain in cells)
    text = (
        f"alone, delayed ACK changes the mean at {differ} of {len(JUDGED_S)} timers (PAIRED, Holm), by up to "
        f"{largest:.1f} %"
    )
    return Part(text, judge.verdict_at_look(lambda level: any(stats.holm(p_values, level))))


def follows_equation(segments: Cells, access_mbps: float, *, opener: bool) -> list[Part]:
    """Judge: a single flow's mean is within 5 % of equation 3 at every timer."""
    parts = []
    for timer in TIMERS_S:
        mean = float(segments.at(timer_s=timer, background="no", ack_timer="none").values.mean())
        expected = equation_3(timer, access_mbps, opener=opener)
        text = f"{ms(timer)}: {mean:.2f} against {expected:.2f}"
        parts.append(judge.exact_part(text, abs(mean / expected - 1) <= 0.05))
    return parts


FIG14 = Exhibit(
    "obs/fig14",
    "Segments of a flow a burst over the assembly timer",
    "section IV.B, Fig. 14 and equation 3",
    Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_RUNS), WORLD),
    find,
)
