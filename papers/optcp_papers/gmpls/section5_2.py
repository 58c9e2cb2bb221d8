"""Variants of section 5.2: another load, other numbers of flows, other RTTs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.papers.assume import built_in, ns2_world, overrides
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Cells, Grid, Key, Options, Part, Row, Series, Settings, StudyResult, judge, row
from optcp.stats import Interval, resampling
from optcp_papers.gmpls.fig7 import SETTLE_STEP_S, settle_s, settling
from optcp_papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS, SOURCES, WINDOW_S
from optcp_papers.gmpls.section5 import CLASSES, END_S, SCENARIO

DELTA_MS = (0, 5, 10, 20, 30, 50, 100, 250, 500)
UP_TO_250 = DELTA_MS[: DELTA_MS.index(250) + 1]
FLOWS = (5, 10, 20, 50, 100)
READINGS = (100, 10)
"""Flows per class: as stated, and as the spread of Table 3 suggests."""
STATED_ACCESS, LOWER_ACCESS = 0.9, 0.6
SCALES = (0.5, 1, 2)
SETTLE_DELTA_MS = 50
QUICK_SEEDS = 8

OFFERED_PCT = {STATED_ACCESS: 180.0, LOWER_ACCESS: 120.0}
"""Published load of L5->L6 after a sudden switchover, in %."""
OFFERED_WITHIN_S = 0.05
OFFERED_POINTS = 5.0
INTO_L5 = ("L1->L5", "L4->L5")
"""Ports that feed L5->L6."""
SAME_PCT = 5.0

GOODPUT = {"name": "goodput", "kind": "goodput", "groups": CLASSES}
OFFERED = {"name": "offered", "kind": "load", "links": [["L1", "L5"], ["L4", "L5"]], "interval": "50 ms"}
NOTES = [
    "The paper prints no values for these networks, only statements.",
    f"Settling time is measured with delta = {SETTLE_DELTA_MS} ms by the rule of gmpls/fig7: the first of ten "
    f"intervals of 100 ms in a row within 10 % of the mean of (9 s, 10 s], or else the end of the run.",
]

ASSUMED = (
    *(parameter for parameter in ns2_world(STATED_ACCESS, link_delay_ms=1.0) if parameter.name != "access_share"),
    built_in("settling_delta_ms", f"{SETTLE_DELTA_MS}"),
)


@dataclass(frozen=True)
class World:
    """One variant of the network.

    Attributes
    ----------
    access
        Rate of the access links as a share of the backbone rate.
    flows
        Number of flows per class.
    scale
        Factor of the access delays, which are 10 to 100 ms.
    """

    access: float
    flows: int
    scale: float = 1

    @property
    def settings(self) -> Settings:
        """Return the parameters of the scenario."""
        sources = min(self.flows, SOURCES)
        return {
            "parameters.access_share": self.access,
            "parameters.sources": sources,
            "parameters.flows_per_source": self.flows // sources,
            "parameters.access_delay": f"uniform({10 * self.scale:g} ms, {100 * self.scale:g} ms)",
        }

    @property
    def key(self) -> Key:
        """Key of the variant's rows."""
        return {
            "flows": reading(self.flows),
            "access_pct": round(100 * self.access),
            "access_delay_scale": self.scale,
        }


def reading(flows: int) -> str:
    """Return the name of a number of flows per class."""
    return f"{flows}+{flows}"


COMPARED = tuple(
    dict.fromkeys(
        [World(access, flows) for flows in READINGS for access in (STATED_ACCESS, LOWER_ACCESS)]
        + [World(STATED_ACCESS, flows) for flows in FLOWS]
    )
)
"""Variants in which switch delays are compared."""
SETTLING = tuple(
    dict.fromkeys(
        [World(STATED_ACCESS, flows) for flows in FLOWS]
        + [World(STATED_ACCESS, flows, scale) for flows in READINGS for scale in SCALES]
    )
)
"""Variants whose flows are observed until they settle."""


def grid_of(kind: str, world: World) -> str:
    """Return the name of a variant's grid."""
    return f"{kind}, access {100 * world.access:g} %, {reading(world.flows)}, delays x {world.scale:g}"


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per variant with compared delays, and one per variant observed until it settles."""
    result = {}
    for kind, worlds, delays, stop_s, observe in (
        ("delays", COMPARED, DELTA_MS, WINDOW_S[1], [{**GOODPUT, "interval": "500 ms"}, OFFERED]),
        ("settling", SETTLING, (SETTLE_DELTA_MS,), END_S, [{**GOODPUT, "interval": "50 ms"}]),
    ):
        axes = {"delta_ms": {delta: {"parameters.switch_delay": f"{delta} ms"} for delta in delays}}
        for world in worlds:
            more = {**world.settings, "stop": f"{stop_s:g} s", "observe": observe}
            name = grid_of(kind, world)
            result[name] = options.grid(
                SCENARIO, {**overrides(ASSUMED, chosen), **more}, axes, f"gmpls section 5.2, {name}"
            )
    return result


@dataclass(frozen=True)
class Delays:
    """Results of a variant in which delays are compared.

    Attributes
    ----------
    good
        Bytes of both classes in (5 s, 6.5 s], over ``delta_ms``.
    offered_pct
        Load offered to L5->L6 in the first 50 ms after a switchover without delay, in % of its rate.
    """

    good: Cells
    offered_pct: Cells

    @classmethod
    def of(cls, done: StudyResult, backbone_bps: float) -> Delays:
        """Evaluate the runs of a variant."""
        offered = done["offered"].between(FAILURE_S, FAILURE_S + OFFERED_WITHIN_S).at(delta_ms=0)
        bytes_ = offered.at(port=INTO_L5[0]) + offered.at(port=INTO_L5[1])
        good = done["goodput"].between(*WINDOW_S).total("group")
        return cls(good, 100 * 8 * bytes_ / (OFFERED_WITHIN_S * backbone_bps))

    @property
    def gain_pct(self) -> Cells:
        """Goodput gain f(delta) - 1, in %."""
        return 100 * (self.good / self.good.at(delta_ms=0) - 1)


@dataclass(frozen=True)
class Measured:
    """Results that the judgements need.

    Attributes
    ----------
    delays
        Results of the variants with compared delays.
    goodput
        Bytes per interval of the variants observed until they settle, over ``group`` and ``time``.
    """

    delays: Mapping[World, Delays]
    goodput: Mapping[World, Cells]

    def settling(self, world: World, class_: str) -> NDArray[np.float64]:
        """Return the curves of a class after the switchover, for :func:`settled_s`."""
        return settling(self.goodput[world].at(group=class_), FAILURE_S + SETTLE_DELTA_MS / 1000)


def settled_s(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return settling times (rule of gmpls/fig7); a curve that never settles counts to the end of the run."""
    result: NDArray[np.float64] = np.minimum(settle_s(curves), (curves.shape[1] - 1) * SETTLE_STEP_S)
    return result


def best_delay_ms(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the delay with the highest mean goodput, from means (k, deltas); shape (k,)."""
    result: NDArray[np.float64] = np.array(DELTA_MS, dtype=np.float64)[mean.argmax(axis=1)]
    return result


def spread_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return maximum minus minimum f over delays up to 250 ms, in points, from mean gains (k, deltas); shape (k,)."""
    result: NDArray[np.float64] = np.ptp(mean[:, : len(UP_TO_250)], axis=1)
    return result


def find(found: Found) -> Findings:
    """Return gain by delay, best delay and spread of each variant, the offered load, and settling times."""
    backbone_bps = found.number("backbone_bps")
    measured = Measured(
        {world: Delays.of(found.done[grid_of("delays", world)], backbone_bps) for world in COMPARED},
        {
            world: found.done[grid_of("settling", world)]["goodput"].cells().at(delta_ms=SETTLE_DELTA_MS)
            for world in SETTLING
        },
    )
    claims = {id_: {reading(flows): judged(measured, flows) for flows in READINGS} for id_, judged in CLAIMS.items()}
    return Findings(compared(measured), claims, gain_curves(measured), NOTES)


def compared(measured: Measured) -> list[Row]:
    """Return the rows of each variant."""
    result = []
    for world, delays in measured.delays.items():
        result += rows({"rel_goodput_pct": delays.gain_pct.mean()}, key=world.key)
        best, spread = resampled(delays.good, best_delay_ms), resampled(delays.gain_pct, spread_pct)
        result.append(row(world.key, "best_delay_ms", None, best, ""))
        result.append(row(world.key, "spread_to_250ms_pct", None, spread, ""))
        result += rows({"offered_load_pct": delays.offered_pct.mean()}, key=world.key)
    for world in measured.goodput:
        for name in CLASSES:
            settled = resampled(measured.settling(world, name), settled_s)
            key = {**world.key, "class": name, "delta_ms": SETTLE_DELTA_MS}
            result.append(row(key, "settle_s", None, settled, ""))
    return result


def resampled(
    values: Cells | NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Interval:
    """Return a statistic of the mean over seeds, with its bootstrap interval."""
    curves = np.asarray(values)
    estimate, samples = resampling.bootstrap(curves, statistic)
    return resampling.percentile(samples, estimate, len(curves))


def gain_curves(measured: Measured) -> list[Series]:
    """Return the mean gain over the delay, one curve per variant."""
    series = []
    for world, delays in measured.delays.items():
        gain = delays.gain_pct.mean()
        found = [interval for _, interval in gain]
        series.append(
            Series(
                "mean over seeds",
                world.key,
                *("delta", "ms", "goodput against delta = 0", "%"),
                x=[float(delta) for delta in DELTA_MS],
                y=[round(item.estimate, 3) for item in found],
                ci95=[(round(item.low, 3), round(item.high, 3)) for item in found] if gain.seeds > 1 else [],
            )
        )
    return series


def lower_load_lower_delay(measured: Measured, flows: int) -> list[Part]:
    """Judge: with access at 60 % the best delay is closer to zero."""
    stated, lower = (World(access, flows) for access in (STATED_ACCESS, LOWER_ACCESS))
    high, low = measured.delays[stated], measured.delays[lower]
    (best, samples), (best_low, samples_low) = (
        resampling.bootstrap(item.good.values, best_delay_ms) for item in (high, low)
    )
    moved = resampling.bootstrap_difference(samples_low, samples, best_low - best, len(high.good.seeds))
    parts = [
        judge.side_part(
            f"best delay, {best_low:g} ms at 60 %, {best:g} ms at 90 %, 60 % minus 90 %", moved, "below", "ms"
        ),
        judge.paired_part(
            "f(50 ms) - 1, 60 % minus 90 %",
            low.gain_pct.at(delta_ms=50),
            high.gain_pct.at(delta_ms=50),
            "below",
            "points",
        ),
    ]
    for world in (stated, lower):
        offered, printed = measured.delays[world].offered_pct, OFFERED_PCT[world.access]
        parts.append(
            judge.equivalence_part(
                f"access {100 * world.access:g} %: load offered to L5->L6 in the first 50 ms, "
                f"{offered.values.mean():.1f} %, minus {printed:g} %",
                offered - printed,
                OFFERED_POINTS,
                "points",
            )
        )
    return parts


def more_flows_settle_faster(measured: Measured, flows: int) -> list[Part]:
    """Judge: more flows or shorter RTTs settle faster; with more flows the best delay approaches zero."""
    worlds = [World(STATED_ACCESS, number) for number in FLOWS]
    names = [reading(number) for number in FLOWS]
    parts = []
    for name in CLASSES:
        curves = [measured.settling(world, name) for world in worlds]
        parts += judge.bootstrap_trend_parts(f"settling time, {name} flows", names, curves, settled_s, "down", "s")
    good = [measured.delays[world].good.values for world in worlds]
    gains = [measured.delays[world].gain_pct.values for world in worlds]
    parts += judge.bootstrap_trend_parts("best delay", names, good, best_delay_ms, "down", "ms")
    parts += judge.bootstrap_trend_parts("max f - min f up to 250 ms", names, gains, spread_pct, "down", "points")
    most = measured.delays[worlds[-1]].gain_pct
    parts += [
        judge.equivalence_part(f"{names[-1]}, f({delta} ms) - 1", most.at(delta_ms=delta), SAME_PCT, "%")
        for delta in UP_TO_250[1:]
    ]
    scaled = [World(STATED_ACCESS, flows, scale) for scale in SCALES]
    for name in CLASSES:
        curves = [measured.settling(world, name) for world in scaled]
        title = f"settling time, {name} flows, access delays x"
        parts += judge.bootstrap_trend_parts(title, [f"{scale:g}" for scale in SCALES], curves, settled_s, "up", "s")
    return parts


CLAIMS: dict[str, Callable[[Measured, int], list[Part]]] = {
    "lower-load-shorter-delay": lower_load_lower_delay,
    "more-flows-settle-faster": more_flows_settle_faster,
}
"""Judge of each claim, with the flows per class where the claim does not state a number."""

SECTION5_2 = Exhibit(
    "gmpls/section5.2",
    "Protection switch delay with other loads, numbers of flows and round trips",
    "section 5.2, after Table 3",
    Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED),
    find,
)
