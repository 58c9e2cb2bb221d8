"""Figure 14: how many segments of a flow a burst carries, over the assembly timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.judge import Part
from optcp.papers.model import Series
from optcp.papers.obs.lossless import CELLS, NAME, lossless, measured
from optcp.papers.obs.paper import PAPER, PAPER_RUNS, QUICK_RUNS, TIMERS_S, WORLD, Cell, equation_3
from optcp.papers.obs.rows import curves, frozen, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.study import Done, Grid

JUDGED_S = tuple(timer for timer in TIMERS_S if 3e-4 <= timer <= 1e-2)
"""The timers at which the paper's conclusions are judged."""
OVER = 1.5
"""How many times the mean an equation that overestimates strongly is at least."""


@exhibit
class Fig14(Exhibit):
    """Files over a lossless network, alone and beside other traffic, with and without delayed ACKs."""

    id = "obs/fig14"
    title = "Segments of a flow a burst over the assembly timer"
    paper = PAPER
    where = "section IV.B, Fig. 14 and equation 3"
    paper_runs = PAPER_RUNS
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The lossless transfers, shared with figure 17."""
        return {NAME: lossless(chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """As many files as the figures of goodput have."""
        del study
        return size.of(PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Means by cell, both interpretations of equation 3, and the claims."""
        access = float(chosen["access_mbps"])
        found = {cell: values[:, 1] for cell, values in measured(done[NAME]).items() if cell in CELLS}
        rows = rows_of("segments_per_burst", {frozen(cell.delayed_key()): values for cell, values in found.items()})
        judges = {
            "formulas-overestimate": {kind: overestimates(found, access, kind) for kind in ("exact", "tick")},
            "eq3-gives-mean": {
                "as printed": follows_equation(found, access, opener=False),
                "with the segment that opens a burst": follows_equation(found, access, opener=True),
            },
        }
        series = curves(rows, "segments a burst", "")
        series += [_equation(access, opener=opener) for opener in (False, True)]
        return Evaluation(rows, judge.judge_each(self.id, judges), series)


def _equation(access_mbps: float, *, opener: bool) -> Series:
    name = "equation 3, with the segment that opens a burst" if opener else "equation 3"
    y = [round(equation_3(timer, access_mbps, opener=opener), 4) for timer in TIMERS_S]
    return Series(name, {}, "assembly timer", "s", "segments a burst", "", list(TIMERS_S), y)


def overestimates(found: Mapping[Cell, NDArray[np.float64]], access_mbps: float, kind: str) -> list[Part]:
    """Judge: equation 3 is far above the mean with background; delayed ACKs count only without."""
    parts = []
    for timer in JUDGED_S:
        name = f"{1e3 * timer:g} ms"
        beside, delayed_beside = found[Cell(timer, "yes")], found[Cell(timer, "yes", kind)]
        # The ratio is above 1.5 where the mean is below the equation over 1.5.
        expected = np.full(beside.size, equation_3(timer, access_mbps) / OVER)
        text = f"{name}: mean with background minus equation 3 over {OVER:g}"
        parts.append(judge.paired_part(text, beside, expected, "below", "segments"))
        change = 100 * (delayed_beside - beside) / beside.mean()
        parts.append(judge.equivalence_part(f"{name}: delayed ACK, with background", change, 15.0, "%"))
    return [*parts, changes_alone(found, kind)]


def changes_alone(found: Mapping[Cell, NDArray[np.float64]], kind: str) -> Part:
    """Judge: without background delayed ACKs change the mean at some timer, each tested with Holm's correction."""
    cells = [(found[Cell(timer, "no", kind)], found[Cell(timer, "no")]) for timer in JUDGED_S]
    p_values = [stats.paired(delayed, plain).p for delayed, plain in cells]
    differ = sum(stats.holm(p_values))
    largest = max(100 * abs(delayed.mean() / plain.mean() - 1) for delayed, plain in cells)
    text = (
        f"alone, delayed ACK changes the mean at {differ} of {len(JUDGED_S)} timers (PAIRED, Holm), by up to "
        f"{largest:.1f} %"
    )
    return Part(text, judge.settled(lambda level: any(stats.holm(p_values, level))))


def follows_equation(found: Mapping[Cell, NDArray[np.float64]], access_mbps: float, *, opener: bool) -> list[Part]:
    """Judge: a single flow's mean is within 5 % of equation 3 at every timer."""
    parts = []
    for timer in TIMERS_S:
        mean = float(found[Cell(timer, "no")].mean())
        expected = equation_3(timer, access_mbps, opener=opener)
        text = f"{1e3 * timer:g} ms: {mean:.2f} against {expected:.2f}"
        parts.append(judge.exact_part(text, abs(mean / expected - 1) <= 0.05))
    return parts
