"""Section 7.2's text: goodput around the switch-back, where packets are lost, overtaking, and the merge queue."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import curve, judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import section7
from optcp.papers.gmpls.overtaking import OBSERVE, count_needless, count_overtaken
from optcp.papers.gmpls.paper import REPAIR_S
from optcp.papers.gmpls.section6 import D_MS, steps
from optcp.papers.gmpls.section7 import (
    ELECTRICAL,
    EXACT,
    NONE,
    OPTICAL,
    OPTICAL_NOTE,
    PLACES,
    STRATEGIES,
    WINDOW_S,
    Section7,
)
from optcp.papers.model import Series
from optcp.papers.verdict import row
from optcp.papers.windows import bytes_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.gmpls.section7 import Context, Measured
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid

QUEUES = (20, 35, 50, 75, 100)
"""Limits of the queue of L2->L3, packets."""
PACKETS = "packet by packet"
PACKETS_UNTIL_S = 10.5
OVERTAKEN_D_MS = (2, 10, 20)
OVERTAKING_NOTE = (
    'Of the two optical strategies packets are followed one by one with "optical exact" alone: that nothing is '
    "overtaken is known of it, not of the emulation."
)
TRACED = (*itertools.product(OVERTAKEN_D_MS, ("none", "electrical")), *((d, "optical exact") for d in D_MS))
"""Cells whose packets are listed: pairs of d and strategy."""
QUICK_QUEUE_SEEDS = 6
QUICK_PACKETS_SEEDS = 4

SAME_POINTS = 1.0
TINY_DROP_PCT = (2.0, 8.0)
SOON_S = 1.0
NO_DROPS_SHARE, OFTEN_SHARE, RARE_SHARE = 0.95, 0.5, 0.05
ARRIVALS_MARGIN_PCT = 20.0
L2_TO_L3, L1_TO_L0 = PLACES.index("L2->L3"), PLACES.index("L1->L0")
_PLACE_METRICS = {
    place: f"{'discarded' if place.startswith('discarded') else 'drops'}_{place.split()[-1].replace('->', '_').lower()}"
    for place in PLACES
}
"""Metrics of packets lost a run in (10 s, 11.5 s]."""
AT_L2, AT_L1 = PLACES.index("discarded at L2"), PLACES.index("discarded at L1")


def _queue_study(limit: int) -> str:
    return f"queue of L2->L3 {limit} packets"


@exhibit
class Section72(Section7):
    """Goodput by strategy and d, dips, drops by place, overtaken segments, and where optical overtakes electrical."""

    id = "gmpls/section7.2"
    title = "What happens around the switch-back"
    where = "section 7.2"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The shared study; some of its branches packet by packet; two strategies for each limit of the merge queue."""
        settings = [("stop", f"{PACKETS_UNTIL_S:g} s"), ("observe", OBSERVE)]
        found = {
            **super().studies(chosen, options),
            PACKETS: section7.study(chosen, options, "gmpls section 7.2, packet by packet", TRACED, settings),
        }
        cells = [(d, strategy) for d in D_MS for strategy in ("electrical", "optical")]
        goodput = '[{ name = "goodput", kind = "goodput", interval = "100 ms" }]'
        for limit in QUEUES:
            settings = [
                ("stop", f"{WINDOW_S[1]:g} s"),
                ("observe", goodput),
                ("parameters.merge_queue", f"{limit} packets"),
            ]
            title = f"gmpls section 7.2, {_queue_study(limit)}"
            found[_queue_study(limit)] = section7.study(chosen, options, title, cells, settings)
        return found

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150; fewer for a quick look, of the packets and queues fewer still."""
        shared = super().seeds(study, size)
        fewer = {section7.GRID: shared, PACKETS: QUICK_PACKETS_SEEDS}.get(study, QUICK_QUEUE_SEEDS)
        return min(shared, size.of(shared, fewer))

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by (d, strategy), by place, and by queue limit; a curve a (d, strategy)."""
        context = self.context(chosen, done)
        told = Told(
            context,
            done[PACKETS].once(measure_packets),
            {limit: done[_queue_study(limit)].once(measure_ratio) for limit in QUEUES},
        )
        rows = [*_goodput_rows(context), *_place_rows(context.measured), *_packet_rows(told), *_queue_rows(told)]
        series = [context.goodput_series(d, strategy) for d in range(len(D_MS)) for strategy in range(len(STRATEGIES))]
        judged = judge.judge_all(self.id, JUDGES, {context.profile: told})
        return Evaluation(rows, judged, [*series, *_ratio_series(told)], [OPTICAL_NOTE, OVERTAKING_NOTE])


@dataclass(frozen=True)
class Told:
    """What the judgements need.

    Attributes
    ----------
    context
        The shared study.
    packets
        Overtaken segments and segments sent again without need in (10 s, 10.5 s], int64[seeds, ``TRACED``, 2].
    ratio
        By queue limit: f(d) of optical against electrical, float64[seeds, d].
    """

    context: Context
    packets: NDArray[np.int64]
    ratio: Mapping[int, NDArray[np.float64]]

    def traced(self, d_ms: int, strategy: str) -> NDArray[np.int64]:
        """Overtaken segments and segments sent again without need of a cell, int64[seeds, 2]."""
        return self.packets[:, TRACED.index((d_ms, strategy))]


def measure_packets(done: Done) -> NDArray[np.int64]:
    """Overtaken segments and segments sent again without need in (10 s, 10.5 s], int64[seeds, ``TRACED``, 2]."""
    window = (REPAIR_S, PACKETS_UNTIL_S)
    return np.array(
        [[(count_overtaken(run, *window), count_needless(run, *window)) for run in runs] for _, runs in done]
    )


def measure_ratio(done: Done) -> NDArray[np.float64]:
    """f(d) of optical against electrical with one limit of the merge queue, float64[seeds, d]."""
    goodput = np.array([[run.series["goodput"]["bytes"][0] for run in runs] for _, runs in done]).astype(np.int64)
    good = bytes_between(goodput, curve.STEP_S, *WINDOW_S).reshape(len(goodput), len(D_MS), 2)
    return section7.optical_over_electrical(good[..., 1], good[..., 0])


def dip_points(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far mean curves (k, 1 + m) of the rule CURVE fall in the first second, in bytes an interval, shape (k,)."""
    lowest: NDArray[np.float64] = mean[:, 1 : 1 + round(curve.DIP_WITHIN_S / curve.STEP_S)].min(axis=1)
    return mean[:, 0] - lowest


def crossing_ms(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """The d from which on optical stays ahead.

    Parameters
    ----------
    mean
        Mean f(d), shape (k, d).

    Returns
    -------
    ndarray
        The last zero of f - 1 over d, between two d by a straight line, shape (k,); 1 ms where optical is ahead at
        every d, and 100 ms, the longest simulated, where it is not ahead there.
    """
    found = []
    for gain in mean - 1:
        behind = np.flatnonzero(gain <= 0)
        if not behind.size:
            found.append(float(D_MS[0]))
        elif behind[-1] == len(D_MS) - 1:
            found.append(float(D_MS[-1]))
        else:
            last = int(behind[-1])
            share = gain[last] / (gain[last] - gain[last + 1])
            found.append(D_MS[last] + share * (D_MS[last + 1] - D_MS[last]))
    return np.array(found)


def discarded_over_expected_pct(context: Context, d: int, strategy: int) -> NDArray[np.float64]:
    """Data lost at L2 against arrival rate times overlap, less 100 %, float64[seeds]; ``d`` and ``strategy`` by index.

    The last packet on the backup comes d and three transmissions after the repair. The emulation cuts 1 ms after the
    repair; the exact rule when the first packet on the restored path has come, 1 ms and one transmission after it was
    there to be sent, on average half of the time from one packet to the next after the repair.
    """
    measured, bits = context.measured, 8 * context.packet_bytes
    arriving_pps = measured.arriving_bytes[:, d] / context.packet_bytes
    beyond_s = (D_MS[d] - 1) / 1000
    transmission_s = bits / context.backbone_bps
    overlap_s = beyond_s + (3 * transmission_s if strategy == OPTICAL else 2 * transmission_s - 0.5 / arriving_pps)
    discarded = measured.drops[:, d, strategy, AT_L2]
    result: NDArray[np.float64] = 100 * (discarded / (arriving_pps * overlap_s) - 1)
    return result


def _key(d: int, strategy: int) -> Key:
    return {"d_ms": D_MS[d], "strategy": STRATEGIES[strategy]}


def _goodput_rows(context: Context) -> list[Row]:
    pct, n = context.access_pct(), context.measured.seeds
    rows = []
    for d, strategy in itertools.product(range(len(D_MS)), range(len(STRATEGIES))):
        key = _key(d, strategy)
        rows.append(row(key, "goodput_access_pct", None, stats.mean(pct[:, d, strategy]), ""))
        curves = context.curves(d, strategy)
        for metric, statistic in (("dip_pct", curve.dip_pct), ("settle_s", curve.back_s)):
            estimate, samples = stats.bootstrap(curves, statistic)
            rows.append(row(key, metric, None, stats.percentile(samples, estimate, n), ""))
    return rows


def _place_rows(measured: Measured) -> list[Row]:
    return [
        row(
            _key(d, strategy),
            _PLACE_METRICS[place],
            None,
            stats.mean(measured.drops[:, d, strategy, PLACES.index(place)]),
            "",
        )
        for d, strategy in itertools.product(range(len(D_MS)), range(len(STRATEGIES)))
        for place in PLACES
        # Most places lose nothing under most strategies.
        if measured.drops[:, d, strategy, PLACES.index(place)].any()
    ]


def _packet_rows(told: Told) -> list[Row]:
    return [
        row({"d_ms": d, "strategy": strategy}, metric, None, stats.mean(told.traced(d, strategy)[:, position]), "")
        for d, strategy in TRACED
        for position, metric in enumerate(("overtaken_per_run", "needless_retransmissions_per_run"))
    ]


def _queue_rows(told: Told) -> list[Row]:
    rows = []
    for limit, ratio in told.ratio.items():
        estimate, samples = stats.bootstrap(ratio, crossing_ms)
        rows.append(
            row({"merge_queue": limit}, "crossing_d_ms", None, stats.percentile(samples, estimate, len(ratio)), "")
        )
        rows += [
            row({"merge_queue": limit, "d_ms": d}, "opt_vs_el_pct", None, stats.mean(100 * (ratio[:, i] - 1)), "")
            for i, d in enumerate(D_MS)
        ]
    return rows


def _ratio_series(told: Told) -> list[Series]:
    """Mean gain of optical over d, a curve a queue limit."""
    series = []
    for limit, ratio in told.ratio.items():
        found = [stats.mean(100 * (values - 1)) for values in ratio.T]
        series.append(
            Series(
                "optical against electrical",
                {"merge_queue": limit},
                *("d", "ms", "goodput, optical against electrical", "%"),
                x=[float(d) for d in D_MS],
                y=[round(one.estimate, 3) for one in found],
                ci95=[(round(one.low, 3), round(one.high, 3)) for one in found] if len(ratio) > 1 else [],
            )
        )
    return series


def none_does_not_depend(told: Told) -> list[Part]:
    """Judge: without switch-back, goodput after the repair does not depend on d."""
    pct = told.context.access_pct()[..., NONE]
    return [
        judge.equivalence_part(f"none, d = {D_MS[i]} ms minus 1 ms", pct[:, i] - pct[:, 0], SAME_POINTS, "points")
        for i in range(1, len(D_MS))
    ]


def small_d_is_alike(told: Told) -> list[Part]:
    """Judge: at d = 1 and 2 ms the three strategies are hardly distinguishable."""
    pct = told.context.access_pct()
    return [
        judge.equivalence_part(
            f"d = {D_MS[d]} ms, {STRATEGIES[first]} minus {STRATEGIES[second]}",
            pct[:, d, first] - pct[:, d, second],
            SAME_POINTS,
            "points",
        )
        for d in (D_MS.index(1), D_MS.index(2))
        for first, second in itertools.combinations((NONE, ELECTRICAL, OPTICAL), 2)
    ]


def small_dip_soon_over(told: Told) -> list[Part]:
    """Judge: at d = 10 and 20 ms the electrical dip is about 5 % of the link and soon over, the optical one deeper."""
    context = told.context
    n, full = context.measured.seeds, context.backbone_bps / 8 * curve.STEP_S / 100
    parts = []
    for d in (D_MS.index(10), D_MS.index(20)):
        electrical, optical = context.curves(d, ELECTRICAL), context.curves(d, OPTICAL)
        estimate, samples = stats.bootstrap(electrical, dip_points)
        name = f"d = {D_MS[d]} ms, electrical dip"
        parts.append(judge.within_part(name, samples / full, estimate / full, n, TINY_DROP_PCT, 2, "% of the backbone"))
        back, back_samples = stats.bootstrap(electrical, curve.back_s)
        name = f"d = {D_MS[d]} ms, electrical settles after"
        parts.append(judge.within_part(name, back_samples, back, n, (-np.inf, SOON_S), 2, "s"))
        dips = [stats.bootstrap(one, curve.dip_pct) for one in (optical, electrical)]
        (deep, deep_samples), (flat, flat_samples) = dips
        test = stats.bootstrap_difference(deep_samples, flat_samples, deep - flat, n)
        parts.append(judge.side_part(f"d = {D_MS[d]} ms, optical dip minus electrical", test, "above", "points"))
    return parts


def overtaking_not_loss(told: Told) -> list[Part]:
    """Judge: at small d the electrical cost is overtaking and needless retransmission, not loss."""
    drops, n = told.context.measured.first_drops, told.context.measured.seeds
    parts = []
    for d in OVERTAKEN_D_MS:
        merge = drops[:, D_MS.index(d), ELECTRICAL][:, [L2_TO_L3, L1_TO_L0]].sum(axis=1)
        name = f"d = {d} ms, no drops at the merge ports, above {100 * NO_DROPS_SHARE:g} %"
        parts.append(judge.share_part(name, int(np.sum(merge == 0)), n, NO_DROPS_SHARE))
        for position, what in enumerate(("overtaken segments", "needless retransmissions")):
            parts.append(
                judge.paired_part(
                    f"d = {d} ms, {what}, electrical minus none",
                    told.traced(d, "electrical")[:, position],
                    told.traced(d, "none")[:, position],
                    "above",
                    "per run",
                )
            )
    return parts


def merge_overflows(told: Told) -> list[Part]:
    """Judge: from d = 50 ms on the merged streams overflow the queue towards L3, below not."""
    drops, n = told.context.measured.overlap_drops[:, :, ELECTRICAL], told.context.measured.seeds
    parts = []
    for i, d in enumerate(D_MS):
        overflowed = int(np.sum(drops[:, i, L2_TO_L3] > 0))
        elsewhere = ", ".join(
            f"{place} {drops[:, i, index].mean():.1f}"
            for index, place in enumerate(PLACES[:5])
            if drops[:, i, index].any()
        )
        also = f" (drops a run: {elsewhere or 'none'})"
        if d >= 50:
            part = judge.share_part(f"drops at L2->L3, d = {d} ms, above 50 %", overflowed, n, OFTEN_SHARE)
        else:
            part = judge.share_part(f"drops at L2->L3, d = {d} ms, below 5 %", overflowed, n, RARE_SHARE)
            part = replace(part, holds="undecided" if part.holds == "undecided" else not part.holds)
        parts.append(replace(part, text=part.text + also))
    return parts


def optical_discards(told: Told) -> list[Part]:
    """Judge: optical loses what is on the backup, by the emulation and exactly; nothing is overtaken, exactly."""
    context = told.context
    parts = []
    for strategy in (OPTICAL, EXACT):
        drops = context.measured.drops[:, :, strategy].astype(np.float64)
        for index in (AT_L2, AT_L1):
            name = f"{STRATEGIES[strategy]}, {PLACES[index]}, d"
            parts += judge.trend_parts(name, steps(D_MS), list(drops[:, :, index].T), "up", "per run")
        parts += [
            judge.equivalence_part(
                f"{STRATEGIES[strategy]}, d = {D_MS[d]} ms, data discarded against arrivals",
                discarded_over_expected_pct(context, d, strategy),
                ARRIVALS_MARGIN_PCT,
                "%",
            )
            for d in range(len(D_MS))
        ]
    for d in D_MS:
        overtaken = int(told.traced(d, "optical exact")[:, 0].sum())
        parts.append(
            judge.exact_part(f"optical exact, d = {d} ms, segments overtaken in all runs: {overtaken}", overtaken == 0)
        )
    return parts


def smaller_queue_sooner(told: Told) -> list[Part]:
    """Judge: the smaller the merge queue, the smaller the d at which optical overtakes electrical."""
    names = [f"{limit} packets" for limit in QUEUES]
    return judge.bootstrap_trend_parts(
        "d from which optical is ahead (100 ms: never)", names, list(told.ratio.values()), crossing_ms, "up", "ms"
    )


JUDGES = {
    "without-switch-back-same": none_does_not_depend,
    "short-backups-alike": small_d_is_alike,
    "electrical-dip-small": small_dip_soon_over,
    "overtaking-not-loss": overtaking_not_loss,
    "merge-overflows-from-50ms": merge_overflows,
    "optical-loses-in-flight": optical_discards,
    "queue-moves-crossing": smaller_queue_sooner,
}
