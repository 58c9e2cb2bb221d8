"""Motivating result of the paper's reference 1: lightpaths that a delay target needs under inelastic traffic.

40 ingress-egress pairs send equal packets over one bundle. Without bundling, pair i has lightpath i modulo their
number. Delay is the mean time from arrival to the first bit sent, in transmission times of a packet (1.2 us at 10
Gb/s). On this scale the rate does not matter.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from optcp.data.axes import Axis
from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Row,
    Run,
    Settings,
    Setup,
    StudyResult,
    built_in,
    judge,
    row,
    rows,
    runs_of,
)
from optcp.stats import exact
from optcp_papers.lbas.paper import PAPER
from optcp_papers.lbas.rows import both_modes, curves
from optcp_papers.lbas.waiting import md1, mdk

SCENARIO = Path(__file__).with_name("scenarios") / "inelastic.toml"
PAIRS, RATE_MBPS = 40, 100
PACKET_S = 1500 * 8 / (RATE_MBPS * 1e6)
SMALLEST_PACKETS = 0.01
"""Closed forms below are not compared: 10 s have too few packets that wait."""
SOURCE: Settings = {
    "group": "pairs",
    "path": ["S", "L", "R", "D"],
    "rate": "$pair_rate",
    "size": "$packet",
}
OFFERED = 8
"""Offered traffic of the sweep over lightpaths, in rates of a lightpath."""
LIGHTPATHS = (9, 10, 11, 12, 13, 14, 16, 18, 20, 24, 28, 32, 36, 40)
QUICK_LIGHTPATHS = (9, 10, 14, 20, 40)
GIVEN = 10
"""Number of lightpaths of the sweep over loads."""
LOADS_PCT = (20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98)
QUICK_LOADS_PCT = (30, 60, 80, 90)
TARGETS = (0.25, 1.0, 10.0, 100.0)
"""Delay targets in packet times."""
FLOOR_PACKETS = 1e-4
"""Smaller waits count as this where loads are interpolated in the logarithm of the wait."""
POISSON = "Poisson"
TRAFFIC: dict[str, Settings] = {
    POISSON: {"process": "poisson"},
    "H = 0.7": {"process": "fractional-noise", "hurst": 0.7, "slot": "$slot", "dispersion": "$dispersion"},
    "H = 0.9": {"process": "fractional-noise", "hurst": 0.9, "slot": "$slot", "dispersion": "$dispersion"},
}
SELF_SIMILAR = tuple(name for name in TRAFFIC if name != POISSON)
LENGTH = {"stop": "11 s", "parameters.batch": "10 s"}
QUICK_LENGTH = {"stop": "3 s", "parameters.batch": "2 s"}
FEWER_PCT, MORE_PCT, MARGIN_POINTS = 65.0, 50.0, 5.0
"""Published gains, "up to", and how far from them the largest simulated gain may be."""
ASSUMED = (
    built_in("delay_target", "0.25, 1, 10 and 100 packet times"),
    built_in("pairs", "40 equal ones; without bundling, pair i on lightpath i modulo their number"),
    built_in("self_similar", "fractional Gaussian noise, 20 ms slots, variance 5 times the mean, H = 0.7 and 0.9"),
)
NOTE = (
    "Equal packets; the mean wait of all packets in packet times, 10 s after the first second. `lightpaths` is the "
    f"smallest simulated number from which on the target is met, for {OFFERED} lightpaths' worth of traffic; "
    f"`load_pct` the largest load of {GIVEN} lightpaths that meets it, interpolated by seed in the logarithm of the "
    "wait. `fewer_pct` and `more_pct` compare anycast switching with none, by seed. `closed_form_packets` is M/D/1 "
    "without bundling and M/D/k with it, where all lightpaths carry equal loads."
)


def grids(_chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the sweep over lightpaths at a given traffic, and over loads at a given number of lightpaths."""
    quick = options.size.is_quick
    length = QUICK_LENGTH if quick else LENGTH

    def grid(name: str, values: tuple[int, ...], settings: dict[int, Settings]) -> Grid:
        places = itertools.product(TRAFFIC, ("yes", "no"), values)
        cells = [
            {
                "traffic": [{**SOURCE, **TRAFFIC[traffic]}],
                "parameters.selection": "anycast" if anycast == "yes" else "destination",
                **settings[value],
            }
            for traffic, anycast, value in places
        ]
        title = f"lbas, inelastic traffic, {name}"
        made = Grid.of_cells(SCENARIO, cells, length, title=title, digest=options.digest, fork=options.fork)
        axes = {"traffic": TRAFFIC, "anycast": ("yes", "no"), name: values}
        return replace(made, named=tuple(Axis(axis, tuple(map(str, of))) for axis, of in axes.items()))

    numbers = QUICK_LIGHTPATHS if quick else LIGHTPATHS
    loads = QUICK_LOADS_PCT if quick else LOADS_PCT
    return {
        "lightpaths": grid("lightpaths", numbers, {n: network(n, OFFERED / n) for n in numbers}),
        "loads": grid("load_pct", loads, {load: network(GIVEN, load / 100) for load in loads}),
    }


def network(lightpaths: int, load: float) -> Settings:
    """Return the settings of a number of lightpaths with this mean load."""
    pair_bps = round(1e6 * RATE_MBPS * lightpaths * load / PAIRS)
    return {"parameters.lightpaths": lightpaths, "parameters.pair_rate": f"{pair_bps} bps"}


def wait_packets(done: StudyResult) -> Cells:
    """Return the mean wait of each run in packet times."""
    return done.each(wait_of)


def wait_of(run: Run) -> float:
    """Return the mean wait of all packets, by Little's law for equal packets."""
    table = run["lightpaths"]
    there = np.char.startswith(np.array(table.texts("port")), "lightpath") & np.char.endswith(
        np.array(table.texts("port")), ":L->R"
    )
    queued, sent = (float(table[name][there].astype(np.float64).sum()) for name in ("mean_bytes", "bytes"))
    time_s = table.interval_s or 0.0
    return queued * time_s / sent / PACKET_S - 1


def find(found: Found) -> Findings:
    """Return waits, the lightpaths and loads that meet each target, and verdicts on the published gains."""
    by_number, by_load = (found.done[name].once(wait_packets) for name in ("lightpaths", "loads"))
    needed = over_targets(by_number, fewest)
    carried = over_targets(by_load, largest)
    waits = both_modes({"wait_packets": by_number}) + both_modes({"wait_packets": by_load})
    met = both_modes({"lightpaths": needed}) + both_modes({"load_pct": carried})
    fewer = 100 * (1 - needed.at(anycast="yes") / needed.at(anycast="no"))
    more = 100 * (carried.at(anycast="yes") / carried.at(anycast="no") - 1)
    gains = rows({"fewer_pct": fewer.mean()}) + rows({"more_pct": more.mean()})
    series = [
        curve
        for cells, axis, label in ((waits, "lightpaths", "lightpaths"), (waits, "load_pct", "load"))
        for curve in curves(
            [row for row in cells if axis in row.key], "wait_packets", axis, (label, "mean wait"), ("", "packet times")
        )
    ]
    claims = {
        "fewer-lightpaths": largest_gain("fewer lightpaths", fewer, FEWER_PCT),
        "more-traffic": largest_gain("more traffic", more, MORE_PCT),
        "bundle-needs-no-more": no_more(needed),
    }
    return Findings([*waits, *met, *gains, *closed_forms(by_number)], claims, series, [NOTE])


def over_targets(waits: Cells, reach: Callable[[Sequence[float], NDArray[np.float64], float], float]) -> Cells:
    """Return what meets each target, by seed, traffic and mode; NaN where nothing simulated does."""
    steps = waits.axes[-1].numbers or ()
    values = np.array(
        [[reach(steps, curve, target) for target in TARGETS] for curve in waits.values.reshape(-1, len(steps))]
    )
    axes = (*waits.axes[:-1], Axis("target_packets", tuple(f"{target:g}" for target in TARGETS)))
    return Cells(values.reshape(*waits.values.shape[:-1], len(TARGETS)), axes, waits.seeds)


def fewest(numbers: Sequence[float], waits: NDArray[np.float64], target: float) -> float:
    """Return the smallest number of lightpaths from which on the wait is at most the target."""
    above = np.flatnonzero(waits > target)
    first = int(above[-1]) + 1 if above.size else 0
    return float(numbers[first]) if first < len(numbers) else math.nan


def largest(loads: Sequence[float], waits: NDArray[np.float64], target: float) -> float:
    """Return the load at which the wait first reaches the target; the largest simulated load if it never does."""
    above = np.flatnonzero(waits > target)
    if not above.size:
        return float(loads[-1])
    place = int(above[0])
    if place == 0:
        return math.nan
    low, high = np.log(np.maximum(waits[place - 1 : place + 1], FLOOR_PACKETS))
    share = (math.log(target) - low) / (high - low)
    return float(loads[place - 1] + share * (loads[place] - loads[place - 1]))


def largest_gain(name: str, gains: Cells, printed_pct: float) -> list[Part]:
    """Judge EQUIV: the largest mean gain under self-similar traffic is the published one."""
    candidates = [
        (traffic, target)
        for traffic in SELF_SIMILAR
        for target in gains.axis("target_packets").values
        if np.isfinite(gains.at(traffic=traffic, target_packets=target).values).all()
    ]
    best = max(candidates, key=lambda at: gains.at(traffic=at[0], target_packets=at[1]).values.mean())
    cells = gains.at(traffic=best[0], target_packets=best[1])
    where = f"{best[0]}, {best[1]} packet times"
    change = cells.values - printed_pct
    return [judge.equivalence_part(f"{name} ({where}), less {printed_pct:g} %", change, MARGIN_POINTS, "points")]


def no_more(needed: Cells) -> list[Part]:
    """Judge PAIRED below zero: lightpaths with anycast switching minus without, at each target that both meet."""
    parts = []
    for traffic in needed.axis("traffic").values:
        for target in needed.axis("target_packets").values:
            here = needed.at(traffic=traffic, target_packets=target)
            change = here.at(anycast="yes") - here.at(anycast="no")
            if np.isfinite(change.values).all():
                name = f"{traffic}, {target} packet times"
                parts.append(judge.difference_part(name, change, "below", "lightpaths"))
    return parts


def closed_forms(waits: Cells) -> list[Row]:
    """Return the closed forms for Poisson traffic next to the simulated values, and their ratio."""
    result = []
    for number in (n for n in waits.axis("lightpaths").values if PAIRS % int(n) == 0):
        load = OFFERED / int(number)
        for anycast, expected in (("yes", mdk(int(number), load)), ("no", md1(load))):
            here: Key = {"traffic": POISSON, "anycast": anycast, "lightpaths": int(number)}
            simulated = waits.at(traffic=POISSON, anycast=anycast, lightpaths=number)
            result.append(row(here, "closed_form_packets", None, exact(expected), ""))
            if expected > SMALLEST_PACKETS:
                result += rows({"of_closed_form_pct": (100 * simulated / expected).mean()}, key=here)
    return result


INELASTIC = Exhibit(
    "lbas/inelastic",
    "Inelastic self-similar traffic: delay over lightpaths and load, with and without bundling",
    "section 1, reference 1",
    Setup(PAPER, None, grids, runs_of(10, 2), ASSUMED),
    find,
)
