"""Figure 10: goodput over time around the failure, by the length of the backup, delta = 5 ms."""

from dataclasses import replace

from optcp import stats
from optcp.papers import curve, judge
from optcp.papers.kit import (
    Axis,
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Options,
    Part,
    StudyResult,
    rows,
    runs_of,
)
from optcp_papers.gmpls import section6
from optcp_papers.gmpls.goodput import Goodput, trend
from optcp_papers.gmpls.late import OBSERVE, count_timeouts
from optcp_papers.gmpls.paper import FAILURE_S, LOST_NOTE, PAPER_RUNS, WINDOW_S
from optcp_papers.gmpls.section6 import D_MS, goodput

DELTA_MS = 5
PACKETS = "delta = 5 ms, packet by packet"
PACKETS_SEEDS = {PACKETS: (PAPER_RUNS, 8)}
TIMEOUTS = Axis("timeouts", ("all", "late"))


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the shared grid, and its combinations with delta = 5 ms until 6.5 s with packet traces."""
    settings = {"stop": f"{WINDOW_S[1]} s", "observe": OBSERVE}
    traced = section6.grid(chosen, options, "gmpls fig10, packet by packet", D_MS, [DELTA_MS], settings)
    return {**section6.grids(chosen, options), PACKETS: traced}


def find(found: Found) -> Findings:
    """Return mean curves and, for each d, depth and settling time of the dip and the number of spurious timeouts."""
    shared = goodput(found).part(delta_ms=(DELTA_MS,))
    timeouts = found.done[PACKETS].each(lambda run: count_timeouts(run, *WINDOW_S), TIMEOUTS)
    counts = {"timeouts": timeouts.at(timeouts="all"), "late_timeouts": timeouts.at(timeouts="late")}
    return Findings(
        rows=rows(shared.falls()) + rows({metric: cells.mean() for metric, cells in counts.items()}),
        claims={
            "spurious-timeouts": longer_makes_late(counts["late_timeouts"].at(delta_ms=DELTA_MS)),
            "longer-drops-deeper": deeper_and_slower(shared),
        },
        series=[item for d in D_MS for item in shared.over_time(d_ms=d, delta_ms=DELTA_MS)],
        notes=[LOST_NOTE, before_failure(found.done[section6.GRID], found.number("backbone_bps"))],
    )


def before_failure(done: StudyResult, backbone_bps: float) -> str:
    """Describe the load of the backbone before the failure. The paper has the access as the only bottleneck."""
    # Before the failure all combinations are equal. The failure itself drops packets at 5 s, which are excluded.
    world = {"d_ms": 1, "delta_ms": 5}
    load_bps = done["load"].between(3.0, FAILURE_S).at(port="L1->L2", **world) * 8 / (FAILURE_S - 3.0)
    drops = int(done["drops"].count(after=3.0, before=FAILURE_S).at(**world).values.sum())
    return (
        f"Before the failure, in (3 s, 5 s], the backbone drops {drops} packets in all runs together, and "
        f"L1->L2 carries {judge.span(stats.mean(100 * load_bps / backbone_bps), '% of its rate')}. Only gmpls/fig7 "
        "(section 5) judges whether the access is the only bottleneck."
    )


def longer_makes_late(late: Cells) -> list[Part]:
    """Judge: a longer backup causes more spurious timeouts; 2 ms causes none more than 1 ms."""
    return [
        *trend("spurious timeouts, d", late, "up", "per run"),
        judge.equivalence_part("2 ms minus 1 ms", late.at(d_ms=2) - late.at(d_ms=1), 1, "per run"),
    ]


def deeper_and_slower(goodput: Goodput) -> list[Part]:
    """Judge: with a longer backup goodput drops deeper and recovers more slowly."""
    curves = [goodput.curves(d_ms=d, delta_ms=DELTA_MS) for d in D_MS]
    steps = [f"{d} ms" for d in D_MS]
    return [
        *judge.bootstrap_trend_parts("dip, d", steps, curves, curve.dip_pct, "up", "points"),
        *judge.bootstrap_trend_parts("settling time, d", steps, curves, curve.back_s, "up", "s"),
    ]


FIG10 = Exhibit(
    "gmpls/fig10",
    "Goodput over time by change in RTT, delta = 5 ms",
    "section 6.2, Fig. 10",
    replace(
        section6.SETUP,
        grids=grids,
        seeds=runs_of(PAPER_RUNS, section6.QUICK_SEEDS, PACKETS_SEEDS),
    ),
    find,
)
