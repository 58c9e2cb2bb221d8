"""Section 5.2's other worlds: another load, other numbers of flows, other round trips."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.assume import built_in, ns2_world, overrides
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.gmpls.fig7 import SETTLE_STEP_S, settle_s
from optcp.papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS, SOURCES, WINDOW_S
from optcp.papers.gmpls.section5 import CLASSES, END_S
from optcp.papers.model import Series
from optcp.papers.verdict import row
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row
    from optcp.study import Done, RunData

DELTA_MS = (0, 5, 10, 20, 30, 50, 100, 250, 500)
UP_TO_250 = slice(0, DELTA_MS.index(250) + 1)
FLOWS = (5, 10, 20, 50, 100)
READINGS = (100, 10)
"""Flows a class: stated, and what the spread of Table 3 points to."""
STATED_ACCESS, LOWER_ACCESS = 0.9, 0.6
SCALES = (0.5, 1, 2)
SETTLE_DELTA_MS = 50
QUICK_SEEDS = 8

OFFERED_PCT = {STATED_ACCESS: 180.0, LOWER_ACCESS: 120.0}
"""The load of L5->L6 that the paper gives for a sudden switch."""
OFFERED_WITHIN_S = 0.05
OFFERED_POINTS = 5.0
INTO_L5 = ("L1->L5", "L4->L5")
"""What these two ports send is offered to L5->L6."""
SAME_PCT = 5.0

_SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section5.toml"
_GOODPUT = '{{ name = "goodput", kind = "goodput", groups = ["switched", "fixed"], interval = "{}" }}'
_OFFERED = '{ name = "offered", kind = "load", links = [["L1", "L5"], ["L4", "L5"]], interval = "50 ms" }'


@dataclass(frozen=True)
class World:
    """One world of the section.

    Attributes
    ----------
    access
        Rate of the access links as a share of the backbone's.
    flows
        Flows a class.
    scale
        By how much the access delays are longer than 10 to 100 ms.
    """

    access: float
    flows: int
    scale: float = 1

    @property
    def settings(self) -> list[tuple[str, str]]:
        """The scenario's parameters."""
        sources = min(self.flows, SOURCES)
        return [
            ("parameters.access_share", f"{self.access}"),
            ("parameters.sources", f"{sources}"),
            ("parameters.flows_per_source", f"{self.flows // sources}"),
            ("parameters.access_delay", f"uniform({10 * self.scale:g} ms, {100 * self.scale:g} ms)"),
        ]

    @property
    def key(self) -> Key:
        """Key of its rows."""
        return {
            "flows": reading(self.flows),
            "access_pct": round(100 * self.access),
            "access_delay_scale": self.scale,
        }


def reading(flows: int) -> str:
    """Name of a number of flows a class."""
    return f"{flows}+{flows}"


COMPARED = tuple(
    dict.fromkeys(
        [World(access, flows) for flows in READINGS for access in (STATED_ACCESS, LOWER_ACCESS)]
        + [World(STATED_ACCESS, flows) for flows in FLOWS]
    )
)
"""The worlds in which the delays are compared."""
SETTLING = tuple(
    dict.fromkeys(
        [World(STATED_ACCESS, flows) for flows in FLOWS]
        + [World(STATED_ACCESS, flows, scale) for flows in READINGS for scale in SCALES]
    )
)
"""The worlds in which the flows are watched until they settle."""


def _name(kind: str, world: World) -> str:
    return f"{kind}, access {100 * world.access:g} %, {reading(world.flows)}, delays x {world.scale:g}"


@exhibit
class Section52(Exhibit):
    """Goodput by switch delay with less load and with other numbers of flows, and how fast the flows settle."""

    id = "gmpls/section5.2"
    title = "Protection switch delay with other loads, numbers of flows and round trips"
    paper = PAPER
    where = "section 5.2, after Table 3"
    paper_runs = PAPER_RUNS
    assumed = (
        *(parameter for parameter in ns2_world(STATED_ACCESS, link_delay_ms=1.0) if parameter.name != "access_share"),
        built_in("settling_delta_ms", f"{SETTLE_DELTA_MS}"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """A study a world in which delays are compared, and one a world that is watched until it settles."""
        base = overrides(self.assumed, chosen)
        found = {}
        for kind, worlds, delays, stop_s, observe in (
            ("delays", COMPARED, DELTA_MS, WINDOW_S[1], f"[{_GOODPUT.format('500 ms')}, {_OFFERED}]"),
            ("settling", SETTLING, (SETTLE_DELTA_MS,), END_S, f"[{_GOODPUT.format('50 ms')}]"),
        ):
            axis = ("parameters.switch_delay", [f"{delta} ms" for delta in delays])
            for world in worlds:
                settings = [*base, *world.settings, ("stop", f"{stop_s:g} s"), ("observe", observe)]
                name = _name(kind, world)
                found[name] = Grid.grid(
                    _SCENARIO,
                    settings,
                    [axis],
                    title=f"gmpls section 5.2, {name}",
                    digest=options.digest,
                    fork=options.fork,
                )
        return found

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150, fewer for a quick look."""
        del study
        return size.of(PAPER_RUNS, QUICK_SEEDS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Gain by delay, best delay and spread a world; offered load; settling times."""
        contexts = {
            reading(flows): Context(
                flows,
                {world: done[_name("delays", world)].once(measure_delays) for world in COMPARED},
                {world: done[_name("settling", world)].once(measure_settling) for world in SETTLING},
                float(chosen["backbone_bps"]),
            )
            for flows in READINGS
        }
        stated = contexts[reading(READINGS[0])]
        notes = [
            "Nothing is printed of these worlds but the statements.",
            f"Settling is watched with delta = {SETTLE_DELTA_MS} ms, by the rule of gmpls/fig7: until the first of ten "
            f"intervals of 100 ms in a row within 10 % of the mean of (9 s, 10 s], or to the end of the run.",
        ]
        return Evaluation(_rows(stated), judge.judge_all(self.id, JUDGES, contexts), _series(stated), notes)


@dataclass(frozen=True)
class Delays:
    """What is measured in a world in which delays are compared; first axis: seeds, second: ``DELTA_MS``.

    Attributes
    ----------
    good
        Bytes of both classes in (5 s, 6.5 s], float64[seeds, deltas].
    offered_bytes
        What was offered to L5->L6 in the first 50 ms after a switch without delay, float64[seeds].
    """

    good: NDArray[np.float64]
    offered_bytes: NDArray[np.float64]

    @property
    def gain_pct(self) -> NDArray[np.float64]:
        """f(delta) - 1 in per cent, float64[seeds, deltas]."""
        result: NDArray[np.float64] = 100 * (self.good / self.good[:, :1] - 1)
        return result


@dataclass(frozen=True)
class Context:
    """What a judgement needs.

    Attributes
    ----------
    flows
        Flows a class of this reading, where a statement does not name a number.
    delays
        By world.
    settling
        By world: one array a class, shape (seeds, intervals + 1), as :func:`claims5.settle_s` wants it.
    backbone_bps
        Rate of the backbone links.
    """

    flows: int
    delays: Mapping[World, Delays]
    settling: Mapping[World, NDArray[np.float64]]
    backbone_bps: float

    def offered_pct(self, world: World) -> NDArray[np.float64]:
        """Load offered to L5->L6 in the first 50 ms after a switch without delay, float64[seeds]."""
        result: NDArray[np.float64] = (
            100 * 8 * self.delays[world].offered_bytes / (OFFERED_WITHIN_S * self.backbone_bps)
        )
        return result


def measure_delays(done: Done) -> Delays:
    """Reduce the stored runs of a world in which delays are compared."""
    good, offered = [], []
    for _, runs in done:
        good.append([_window_bytes(run) for run in runs])
        load = runs[0].series["offered"]
        interval = round(FAILURE_S / load["interval_s"])
        offered.append(float(sum(load["bytes"][load["ports"].index(port), interval] for port in INTO_L5)))
    return Delays(np.array(good), np.array(offered))


def _window_bytes(run: RunData) -> float:
    goodput = run.series["goodput"]
    first, last = (round(instant / goodput["interval_s"]) for instant in WINDOW_S)
    return float(goodput["bytes"][:, first:last].sum())


def measure_settling(done: Done) -> NDArray[np.float64]:
    """Curves from the switch on and the level to settle at, float64[classes, seeds, intervals + 1]."""
    curves = []
    for _, (run,) in done:
        goodput = run.series["goodput"]
        steps = round(SETTLE_STEP_S / goodput["interval_s"])
        first, end = (round(at / goodput["interval_s"]) for at in (FAILURE_S + SETTLE_DELTA_MS / 1000, END_S))
        count = (end - first) // steps
        of_class = []
        for name in CLASSES:
            bytes_ = goodput["bytes"][goodput["groups"].index(name)].astype(float)
            after = bytes_[first : first + count * steps].reshape(count, steps).sum(axis=1)
            level = bytes_[end - round(1 / goodput["interval_s"]) : end].sum() * SETTLE_STEP_S
            of_class.append([*after, level])
        curves.append(of_class)
    return np.array(curves).transpose(1, 0, 2)


def settled_s(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rule of gmpls/fig7, to the end of the run where the curve never settles; shape (k,)."""
    result: NDArray[np.float64] = np.minimum(settle_s(curves), (curves.shape[1] - 1) * SETTLE_STEP_S)
    return result


def best_delay_ms(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """The delay with the highest mean goodput, of means (k, deltas), shape (k,)."""
    result: NDArray[np.float64] = np.array(DELTA_MS, dtype=np.float64)[mean.argmax(axis=1)]
    return result


def spread_pct(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest minus smallest f over delays up to 250 ms in points, of mean gains (k, deltas), shape (k,)."""
    result: NDArray[np.float64] = np.ptp(mean[:, UP_TO_250], axis=1)
    return result


def _rows(context: Context) -> list[Row]:
    rows = []
    for world, delays in context.delays.items():
        n = len(delays.good)
        for index, delta in enumerate(DELTA_MS):
            gain = stats.mean(delays.gain_pct[:, index])
            rows.append(row({**world.key, "delta_ms": delta}, "rel_goodput_pct", None, gain, ""))
        best, best_samples = stats.bootstrap(delays.good, best_delay_ms)
        spread, spread_samples = stats.bootstrap(delays.gain_pct, spread_pct)
        rows.append(row(world.key, "best_delay_ms", None, stats.percentile(best_samples, best, n), ""))
        rows.append(row(world.key, "spread_to_250ms_pct", None, stats.percentile(spread_samples, spread, n), ""))
        rows.append(row(world.key, "offered_load_pct", None, stats.mean(context.offered_pct(world)), ""))
    for world, settling in context.settling.items():
        for name, curves in zip(CLASSES, settling, strict=True):
            estimate, samples = stats.bootstrap(curves, settled_s)
            interval = stats.percentile(samples, estimate, len(curves))
            rows.append(row({**world.key, "class": name, "delta_ms": SETTLE_DELTA_MS}, "settle_s", None, interval, ""))
    return rows


def _series(context: Context) -> list[Series]:
    """Mean gain over the delay, a curve a world."""
    series = []
    for world, delays in context.delays.items():
        found = [stats.mean(values) for values in delays.gain_pct.T]
        series.append(
            Series(
                "mean over seeds",
                world.key,
                *("delta", "ms", "goodput against delta = 0", "%"),
                x=[float(delta) for delta in DELTA_MS],
                y=[round(one.estimate, 3) for one in found],
                ci95=[(round(one.low, 3), round(one.high, 3)) for one in found] if len(delays.good) > 1 else [],
            )
        )
    return series


def lower_load_lower_delay(context: Context) -> list[Part]:
    """Judge: with access at 60 % the best delay moves towards zero."""
    stated, lower = (World(access, context.flows) for access in (STATED_ACCESS, LOWER_ACCESS))
    high, low = context.delays[stated], context.delays[lower]
    (best, samples), (best_low, samples_low) = (stats.bootstrap(one.good, best_delay_ms) for one in (high, low))
    moved = stats.bootstrap_difference(samples_low, samples, best_low - best, len(high.good))
    at_50 = DELTA_MS.index(50)
    parts = [
        judge.side_part(
            f"best delay, {best_low:g} ms at 60 %, {best:g} ms at 90 %, 60 % minus 90 %", moved, "below", "ms"
        ),
        judge.paired_part(
            "f(50 ms) - 1, 60 % minus 90 %", low.gain_pct[:, at_50], high.gain_pct[:, at_50], "below", "points"
        ),
    ]
    for world in (stated, lower):
        offered, printed = context.offered_pct(world), OFFERED_PCT[world.access]
        parts.append(
            judge.equivalence_part(
                f"access {100 * world.access:g} %: load offered to L5->L6 in the first 50 ms, {offered.mean():.1f} %, "
                f"minus {printed:g} %",
                offered - printed,
                OFFERED_POINTS,
                "points",
            )
        )
    return parts


def more_flows_settle_faster(context: Context) -> list[Part]:
    """Judge: more flows, or shorter round trips, settle faster; with more flows the best delay nears zero."""
    worlds = [World(STATED_ACCESS, flows) for flows in FLOWS]
    names = [reading(flows) for flows in FLOWS]
    parts = []
    for index, name in enumerate(CLASSES):
        curves = [context.settling[world][index] for world in worlds]
        parts += judge.bootstrap_trend_parts(f"{name} flows settle after", names, curves, settled_s, "down", "s")
    good = [context.delays[world].good for world in worlds]
    gains = [context.delays[world].gain_pct for world in worlds]
    parts += judge.bootstrap_trend_parts("best delay", names, good, best_delay_ms, "down", "ms")
    parts += judge.bootstrap_trend_parts("max f - min f up to 250 ms", names, gains, spread_pct, "down", "points")
    parts += [
        judge.equivalence_part(f"{names[-1]}, f({DELTA_MS[i]} ms) - 1", gains[-1][:, i], SAME_PCT, "%")
        for i in range(1, UP_TO_250.stop)
    ]
    scaled = [World(STATED_ACCESS, context.flows, scale) for scale in SCALES]
    for index, name in enumerate(CLASSES):
        curves = [context.settling[world][index] for world in scaled]
        title = f"{name} flows, access delays x"
        parts += judge.bootstrap_trend_parts(title, [f"{scale:g}" for scale in SCALES], curves, settled_s, "up", "s")
    return parts


JUDGES = {"lower-load-shorter-delay": lower_load_lower_delay, "more-flows-settle-faster": more_flows_settle_faster}
