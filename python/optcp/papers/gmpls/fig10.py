"""Figure 10: goodput over time around the failure by the length of the backup, delta = 5 ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import curve, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import section6
from optcp.papers.gmpls.late import OBSERVE, count_timeouts
from optcp.papers.gmpls.paper import WINDOW_S
from optcp.papers.gmpls.section6 import D_MS, DELTA_MS, LOST_NOTE, Section6, steps
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.gmpls.section6 import Context
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid

FIRST = DELTA_MS.index(5)
PACKETS = "delta = 5 ms, packet by packet"
QUICK_PACKETS_SEEDS = 8


@exhibit
class Fig10(Section6):
    """Goodput in 100 ms intervals, how deep it falls, when it is back, and the timeouts of segments only late."""

    id = "gmpls/fig10"
    title = "Goodput over time by change in RTT, delta = 5 ms"
    where = "section 6.2, Fig. 10"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The shared study, and its branches of delta = 5 ms again until 6.5 s with every packet."""
        settings = [("stop", f"{WINDOW_S[1]} s"), ("observe", OBSERVE)]
        cells = [(d, DELTA_MS[FIRST]) for d in D_MS]
        traced = section6.study(chosen, options, "gmpls fig10, packet by packet", cells, settings)
        return {**super().studies(chosen, options), PACKETS: traced}

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150; fewer for a quick look, of the packets fewer still."""
        shared = super().seeds(study, size)
        return min(shared, size.of(shared, QUICK_PACKETS_SEEDS)) if study == PACKETS else shared

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Mean curves, and for each d how deep, how long and how many late segments."""
        context = self.context(chosen, done)
        timeouts = done[PACKETS].once(measure_timeouts)
        rows = [one for d in range(len(D_MS)) for one in context.curve_rows(d, FIRST)]
        rows += [
            row({"d_ms": d, "delta_ms": DELTA_MS[FIRST]}, metric, None, stats.mean(timeouts[:, i, position]), "")
            for i, d in enumerate(D_MS)
            for position, metric in enumerate(("timeouts", "late_timeouts"))
        ]
        judged = judge.judge_all(
            self.id,
            {"spurious-timeouts": longer_makes_late, "longer-drops-deeper": deeper_and_slower},
            {context.profile: Told(context, timeouts[..., 1])},
        )
        series = [context.goodput_series(d, FIRST) for d in range(len(D_MS))]
        return Evaluation(rows, judged, series, [LOST_NOTE, before_failure(context)])


@dataclass(frozen=True)
class Told:
    """What the judgements need: the shared study, and the timeouts of late segments, float64[seeds, d]."""

    context: Context
    late: NDArray[np.float64]


def measure_timeouts(done: Done) -> NDArray[np.float64]:
    """Timeouts in (5 s, 6.5 s], and those of segments that were never dropped, float64[seeds, d, 2]."""
    return np.array([[count_timeouts(run, *WINDOW_S) for run in runs] for _, runs in done], dtype=np.float64)


def before_failure(context: Context) -> str:
    """Say what the backbone carries before the failure: the paper has the access as the only bottleneck everywhere."""
    load = stats.mean(100 * context.measured.failing_link_load_bps / context.backbone_bps)
    drops = int(context.measured.backbone_drops.sum())
    return (
        f"Before the failure, in (3 s, 5 s], the backbone drops {drops} packets in all runs together, and "
        f"L1->L2 carries {judge.span(load, '% of its rate')}. Whether the access is the only bottleneck is judged in "
        "section 5 alone (gmpls/fig7)."
    )


def longer_makes_late(told: Told) -> list[Part]:
    """Judge: the longer the backup, the more timers expire for segments that are only late; none more at 2 ms."""
    late = told.late
    return [
        *judge.trend_parts("timeouts of late segments, d", steps(D_MS), list(late.T), "up", "per run"),
        judge.equivalence_part("2 ms minus 1 ms", late[:, 1] - late[:, 0], 1, "per run"),
    ]


def deeper_and_slower(told: Told) -> list[Part]:
    """Judge: the longer the backup, the deeper the drop and the slower the recovery."""
    curves = [told.context.curves(d, FIRST) for d in range(len(D_MS))]
    return [
        *judge.bootstrap_trend_parts("dip, d", steps(D_MS), curves, curve.dip_pct, "up", "points"),
        *judge.bootstrap_trend_parts("settled after, d", steps(D_MS), curves, curve.back_s, "up", "s"),
    ]
