"""Graphs 6-2 to 6-4: CUBIC with a queue that grows before its day."""

import itertools

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Differences, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Options, Part, judge, tables
from optcp.stats import resampling
from optcp_papers.rdcn.measured import circuit_util_pct, latencies_us
from optcp_papers.rdcn.voq import EMPTY_US, PACKET_US, above, below, distance, trend
from optcp_papers.rdcn.voq import grids as static_grids
from optcp_papers.rdcn.world import ASSUMED, BIG, PAPER, grid, seeds, week

LEADS_US = tuple(range(0, 3001, 300))
RISING_US = [str(item) for item in LEADS_US if item <= 2400]
RESIZED, STATIC = "resize", "voq"
WHY = (
    "The kernel's timers and whole segments decide: an independent program yields 78.8 % at 1200 us with both, 83.8 "
    "with timers scaled with the network, and 82.4 with CUBIC in real numbers."
)
RATIOS = {
    "util_ratio_static16_to_resize1800": ("circuit_util_pct", 16),
    "util_ratio_static32_to_resize1800": ("circuit_util_pct", 32),
    "util_ratio_static64_to_resize1800": ("circuit_util_pct", 64),
    "lat_ratio_static32_to_resize1800": ("p99_all_us", 32),
    "lat_ratio_static64_to_resize1800": ("p99_all_us", 64),
}
"""Metric and static queue size of the ratios that the authors calculate from rounded values."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return a grid over leads, and the grid of static queues."""
    axes = {"resize_us": {str(item): week(chosen, resize_us=item).settings for item in LEADS_US}}
    return {RESIZED: grid("resize", axes, chosen, options), **static_grids(chosen, options)}


def find(found: Found) -> Findings:
    """Return utilisation and transit times, by lead."""
    resized, static = found.done[RESIZED], found.done[STATIC]
    util, times = resized.once(circuit_util_pct), resized.once(latencies_us)
    before = {"circuit_util_pct": static.once(circuit_util_pct), **static.once(latencies_us)}
    printed = {
        name: values
        for name, values in tables("rdcn")["resize_sweep_cubic"].items()
        if name in ("circuit_util_pct", *times)
    }
    now = {"circuit_util_pct": util, **times}
    of_voq16 = before["circuit_util_pct"].at(voq=16)
    return Findings(
        rows({name: cells.mean() for name, cells in now.items()}, printed, WHY),
        {
            "rdcn-resize-raises-util": raises(util),
            "rdcn-resize-at-zero-is-static": [
                judge.equivalence_part("lead of 0 minus static", (util.at(resize_us=0) - of_voq16).values, 2, "points")
            ],
            "rdcn-resize-spares-the-median": [
                judge.equivalence_part(
                    "median at 3000 us minus static",
                    (times["p50_all_us"].at(resize_us=3000) - before["p50_all_us"].at(voq=16)).values,
                    25,
                    "us",
                )
            ],
            "rdcn-resize-tail-saturates": saturates(times),
            "rdcn-resize-against-static": against(now, before),
        },
        notes=[f"Utilisation: {distance(util, printed['circuit_util_pct'])}."],
    )


def conclusions(found: Found) -> Differences:
    """Return the effect of a longer lead, and that leads of 0 and beyond 2400 us have none."""
    resized, static = found.done[RESIZED].once(circuit_util_pct), found.done[STATIC].once(circuit_util_pct)
    shown = {f"{lead} us less {lead - 600} us (points)": (lead, lead - 600) for lead in (600, 1200, 1800, 2400)}
    gains = {
        name: resized.at(resize_us=later) - resized.at(resize_us=earlier) for name, (later, earlier) in shown.items()
    }
    gains["2400 us less 3000 us (points)"] = resized.at(resize_us=2400) - resized.at(resize_us=3000)
    gains["1800 us less 32 packets (points)"] = resized.at(resize_us=1800) - static.at(voq=32)
    return {name: gain.values for name, gain in gains.items()}


def raises(util: Cells) -> list[Part]:
    """Judge: utilisation rises up to 2400 us, and falls slightly beyond."""
    longer = util.at(resize_us=3000) - util.at(resize_us=2400)
    return [
        *trend("utilisation", util.part(resize_us=RISING_US), "up", "points"),
        below("3000 us minus 2400 us", longer, "points"),
        above("3000 us minus 2400 us, above -5", longer + 5, "points"),
    ]


def saturates(times: dict[str, Cells]) -> list[Part]:
    """Judge: tail latency rises except for ties of 3 us, and never exceeds the delay of the large queue."""
    tails = times["p99_all_us"]
    parts = [
        above(
            f"{later} us minus {earlier} us, above -3",
            tails.at(resize_us=later) - tails.at(resize_us=earlier) + 3,
            "us",
        )
        for earlier, later in itertools.pairwise(LEADS_US)
    ]
    bound = PACKET_US * BIG + EMPTY_US + 1
    most = float(np.nanmax(times["p99_packet_us"].values))
    return [*parts, judge.exact_part(f"packet class at most {most:.0f} us, bound {bound:.1f}", most <= bound)]


def against(now: dict[str, Cells], before: dict[str, Cells]) -> list[Part]:
    """Judge: five ratios within 5 % of the published ones; false if the interval lies beyond 10 %."""
    printed = tables("rdcn")["calcs"]
    parts = []
    for name, (metric, size) in RATIOS.items():
        over = now[metric].at(resize_us=1800).values, before[metric].at(voq=size).values
        parts.append(ratio_part(f"{metric}, 1800 us over {size} packets", *over, printed[name]))
    return parts


def ratio_part(name: str, first: np.ndarray, second: np.ndarray, printed: float) -> Part:
    """Judge a ratio of means against a published one."""
    estimate, drawn = ratio(first, second, printed)
    text = f"{name}, relative to {printed:g} published"
    inside = judge.within_part(text, drawn, estimate, len(first), (0.95, 1.05), 1, "")
    interval = resampling.percentile(drawn, estimate, len(first))
    if inside.holds is not True and interval.high >= 0.9 and interval.low <= 1.1:
        return judge.Part(inside.text, "undecided")
    return inside


def ratio(first: np.ndarray, second: np.ndarray, by: float = 1.0) -> tuple[float, NDArray[np.float64]]:
    """Return the ratio of the means of two arrays, over ``by``, and its bootstrap over the shared seeds."""
    return resampling.bootstrap(np.column_stack([first, second]), lambda curve: curve[..., 0] / curve[..., 1] / by)


RESIZE = Exhibit(
    "rdcn/resize",
    "CUBIC and a queue that becomes large ahead of its day",
    "graphs 6-2 to 6-4",
    Setup(PAPER, 1, grids, seeds, ASSUMED),
    find,
    conclusions,
)
