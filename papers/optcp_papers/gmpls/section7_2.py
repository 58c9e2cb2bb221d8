"""Text of section 7.2: goodput around the switch-back, where packets are lost, reordering, and the merge queue."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, rows, runs_of
from optcp.papers.kit import Axis, Cells, Grid, Options, Part, Row, Run, Series, StudyResult, curve, judge, row
from optcp.stats import resampling
from optcp.study.observed import Observed
from optcp_papers.gmpls import section7
from optcp_papers.gmpls.goodput import Goodput, trend
from optcp_papers.gmpls.overtaking import OBSERVE, count_overtaken, count_spurious
from optcp_papers.gmpls.paper import PAPER_RUNS, REPAIR_S
from optcp_papers.gmpls.section6 import D_MS
from optcp_papers.gmpls.section7 import COMPARED, GRID, OPTICAL_NOTE, SETUP, STRATEGIES, WINDOW_S, goodput

QUEUES = {limit: f"queue of L2->L3 {limit} packets" for limit in (20, 35, 50, 75, 100)}
"""Queue limits of L2->L3 in packets, and the name of each grid."""
GOODPUT = [{"name": "goodput", "kind": "goodput", "interval": "100 ms"}]
PACKETS = "packet by packet"
PACKETS_UNTIL_S = 10.5
OVERTAKEN_D_MS = (2, 10, 20)
OVERTAKING_NOTE = (
    'Packets are traced with "optical exact" only. That nothing is overtaken is therefore not verified for the '
    "emulation."
)
TRACED = (*itertools.product(OVERTAKEN_D_MS, ("none", "electrical")), *((d, "optical exact") for d in D_MS))
"""Combinations with packet traces: pairs of d and strategy."""
COUNTS = Axis("count", ("overtaken", "needless"))
QUICK_QUEUE_SEEDS = 6
OTHER_SEEDS = {GRID: (PAPER_RUNS, section7.QUICK_SEEDS), PACKETS: (PAPER_RUNS, 4)}

PORTS = ("A->L0", "L2->L3", "L1->L0", "L3->B")
"""Ports whose queue may be full after the repair; all other ports are "elsewhere"."""
DISCARDED = {"discarded at L2": False, "discarded at L1": True}
"""Places where the merging nodes discard packets, and whether they are ACKs."""

SAME_POINTS = 1.0
TINY_DROP_PCT = (2.0, 8.0)
SOON_S = 1.0
NO_DROPS_SHARE, OFTEN_SHARE, RARE_SHARE = 0.95, 0.5, 0.05
ARRIVALS_MARGIN_PCT = 20.0


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the shared grid, the traced combinations, and two strategies for each limit of the merge queue."""

    def queue(limit: int, name: str) -> Grid:
        limited = {"observe": GOODPUT, "parameters.merge_queue": f"{limit} packets"}
        settings = {**section7.base(chosen, WINDOW_S[1]), **limited}
        return section7.grid(options, f"gmpls section 7.2, {name}", settings, ("electrical", "optical"))

    traced = {traced_name(*cell): section7.cell(*cell) for cell in TRACED}
    listed = {**section7.base(chosen, PACKETS_UNTIL_S), "observe": OBSERVE}
    return {
        **section7.grids(chosen, options),
        PACKETS: options.grid(section7.SCENARIO, listed, {"traced": traced}, "gmpls section 7.2, packet by packet"),
        **{name: queue(limit, name) for limit, name in QUEUES.items()},
    }


def traced_name(d_ms: int, strategy: str) -> str:
    """Return the axis value of a combination in ``TRACED``."""
    return f"{strategy}, d = {d_ms} ms"


def find(found: Found) -> Findings:
    """Return rows by (d, strategy), by place and by queue limit, and one curve per (d, strategy)."""
    shared, backbone_bps = goodput(found), found.number("backbone_bps")
    pct, drops = shared.access_pct(), found.done[GRID]["drops"]
    lost = lost_until(drops, WINDOW_S[1])
    packets = found.done[PACKETS].each(count_packets, COUNTS)
    ratio = {limit: queue_ratio(found.done[name]) for limit, name in QUEUES.items()}
    arriving = arriving_bytes(found.done[GRID])
    expected = {
        strategy: expected_discards(arriving, strategy, found.number("packet_bytes"), backbone_bps)
        for strategy in ("optical", "optical exact")
    }
    return Findings(
        rows=[
            *rows({"goodput_access_pct": pct.mean(), **shared.falls()}),
            *place_rows(lost),
            *packet_rows(packets),
            *queue_rows(ratio),
        ],
        claims={
            "without-switch-back-same": none_does_not_depend(pct),
            "short-backups-alike": small_d_is_alike(pct),
            "electrical-dip-small": small_dip_soon_over(shared, backbone_bps),
            "overtaking-not-loss": overtaking_not_loss(lost_until(drops, REPAIR_S + 0.5), packets),
            "merge-overflows-from-50ms": merge_overflows(lost_until(drops, overlap_ends_s())),
            "optical-loses-in-flight": optical_discards(lost, expected, packets),
            "queue-moves-crossing": smaller_queue_sooner(ratio),
        },
        series=[
            *(item for d in D_MS for strategy in STRATEGIES for item in shared.over_time(d_ms=d, strategy=strategy)),
            *ratio_series(ratio),
        ],
        notes=[OPTICAL_NOTE, OVERTAKING_NOTE],
    )


def overlap_ends_s() -> list[float]:
    """Return, for each combination of the shared grid, the time 200 ms after the two streams stop merging."""
    return [REPAIR_S + d / 1000 + 0.2 for d in D_MS for _ in STRATEGIES]


def lost_until(drops: Observed, until: float | list[float]) -> dict[str, Cells]:
    """Return the packets lost after the repair: at ports with a full queue, and discarded by the merging nodes."""
    since = {"after": REPAIR_S, "until": until}
    result = {port: drops.count(**since, port=port, reason="queue-full") for port in PORTS}
    result["elsewhere"] = drops.count(**since, port=lambda port: port not in PORTS, reason="queue-full")
    # After the repair every link works, so all other losses are discards of merging nodes.
    return result | {
        place: drops.count(**since, reason=lambda reason: reason != "queue-full", ack=ack)
        for place, ack in DISCARDED.items()
    }


def arriving_bytes(done: StudyResult) -> Cells:
    """Return the bytes that the backup's last port sent in the last second before the repair, over d.

    Strategies only differ after the repair.
    """
    return done["load"].between(REPAIR_S - 1, REPAIR_S).at(port="L5->L2", strategy="none")


def expected_discards(arriving_bytes: Cells, strategy: str, packet_bytes: float, backbone_bps: float) -> Cells:
    """Return the data packets that arrive over the backup after the merging node has left it, over d.

    The last packet on the backup arrives d and three transmission times after the repair. The emulation cuts 1 ms after
    the repair. The exact rule cuts when the first packet arrives on the restored path. That packet could be sent, on
    average, half a packet interval after the repair, and arrives 1 ms and one transmission time later.
    """
    beyond_s, transmission_s = np.array([(d - 1) / 1000 for d in D_MS]), 8 * packet_bytes / backbone_bps

    def packets(arriving_pps: NDArray[np.float64]) -> NDArray[np.float64]:
        late_s = 3 * transmission_s if strategy == "optical" else 2 * transmission_s - 0.5 / arriving_pps
        return arriving_pps * (beyond_s + late_s)

    return (arriving_bytes / packet_bytes).each(packets)


def count_packets(run: Run) -> tuple[int, int]:
    """Count overtaken segments and spurious retransmissions in (10 s, 10.5 s]."""
    window = (REPAIR_S, PACKETS_UNTIL_S)
    return count_overtaken(run, *window), count_spurious(run, *window)


def queue_ratio(done: StudyResult) -> Cells:
    """Return f(d) of optical against electrical with one limit of the merge queue."""
    return section7.over_electrical(done["goodput"].between(*WINDOW_S).at(group="switched"))


def dip_points(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fall of mean curves (k, 1 + m) of the rule CURVE in the first second, in bytes per interval; (k,)."""
    lowest: NDArray[np.float64] = mean[:, 1 : 1 + round(curve.DIP_WITHIN_S / curve.STEP_S)].min(axis=1)
    return mean[:, 0] - lowest


def crossing_ms(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the d above which optical stays ahead.

    Parameters
    ----------
    mean
        Mean f(d), shape (k, d).

    Returns
    -------
    ndarray
        Last zero of f - 1 over d, interpolated linearly, shape (k,). It is 1 ms if optical is ahead at every d, and
        100 ms, the maximum simulated d, if it is not ahead there.
    """
    result = []
    for gain in mean - 1:
        behind = np.flatnonzero(gain <= 0)
        if not behind.size:
            result.append(float(D_MS[0]))
        elif behind[-1] == len(D_MS) - 1:
            result.append(float(D_MS[-1]))
        else:
            last = int(behind[-1])
            share = gain[last] / (gain[last] - gain[last + 1])
            result.append(D_MS[last] + share * (D_MS[last + 1] - D_MS[last]))
    return np.array(result)


def place_rows(lost: Mapping[str, Cells]) -> list[Row]:
    """Return the packets lost per run, without the many empty combinations of place and strategy."""

    def metric(place: str) -> str:
        kind = "discarded" if place in DISCARDED else "drops"
        return f"{kind}_{place.removeprefix('discarded at ').replace('->', '_').lower()}"

    return [item for item in rows({metric(place): cells.mean() for place, cells in lost.items()}) if item.measured]


def packet_rows(packets: Cells) -> list[Row]:
    """Return two rows per combination with packet traces."""
    result = []
    for d, strategy in TRACED:
        means = packets.at(traced=traced_name(d, strategy)).mean()
        for place, metric in enumerate(("overtaken_per_run", "needless_retransmissions_per_run")):
            result.append(row({"d_ms": d, "strategy": strategy}, metric, None, means.interval((place,)), ""))
    return result


def queue_rows(ratio: Mapping[int, Cells]) -> list[Row]:
    """Return, per queue limit, the d at which optical passes electrical, and its gain by d."""
    result = []
    for limit, f in ratio.items():
        estimate, samples = resampling.bootstrap(f.values, crossing_ms)
        crossing = resampling.percentile(samples, estimate, len(f.seeds))
        result.append(row({"merge_queue": limit}, "crossing_d_ms", None, crossing, ""))
        result += rows({"opt_vs_el_pct": (100 * (f - 1)).mean()}, key={"merge_queue": limit})
    return result


def ratio_series(ratio: Mapping[int, Cells]) -> list[Series]:
    """Return the mean gain of optical over d, one curve per queue limit."""
    labels = ("d", "ms", "goodput, optical against electrical", "%")
    series = []
    for limit, f in ratio.items():
        gain = (100 * (f - 1)).mean()
        ends = zip(gain.low.round(3).tolist(), gain.high.round(3).tolist(), strict=True)
        x, y = [float(d) for d in D_MS], gain.estimate.round(3).tolist()
        band = list(ends) if gain.seeds > 1 else []
        series.append(Series("optical against electrical", {"merge_queue": limit}, *labels, x, y, band))
    return series


def none_does_not_depend(pct: Cells) -> list[Part]:
    """Judge: without switch-back, goodput after the repair does not depend on d."""
    none = pct.at(strategy="none")
    return [
        judge.equivalence_part(f"none, d = {d} ms minus 1 ms", none.at(d_ms=d) - none.at(d_ms=1), SAME_POINTS, "points")
        for d in D_MS[1:]
    ]


def small_d_is_alike(pct: Cells) -> list[Part]:
    """Judge: at d = 1 and 2 ms the three strategies are almost equal."""
    return [
        judge.equivalence_part(
            f"d = {d} ms, {first} minus {second}",
            pct.at(d_ms=d, strategy=first) - pct.at(d_ms=d, strategy=second),
            SAME_POINTS,
            "points",
        )
        for d in (1, 2)
        for first, second in itertools.combinations(COMPARED, 2)
    ]


def small_dip_soon_over(goodput: Goodput, backbone_bps: float) -> list[Part]:
    """Judge: at d = 10 and 20 ms the electrical dip is about 5 % of the link and short, the optical one deeper."""
    n, full = goodput.seeds, backbone_bps / 8 * curve.STEP_S / 100
    parts = []
    for d in (10, 20):
        electrical, optical = (goodput.curves(d_ms=d, strategy=strategy) for strategy in ("electrical", "optical"))
        estimate, samples = resampling.bootstrap(electrical, dip_points)
        name = f"d = {d} ms, electrical dip"
        parts.append(judge.within_part(name, samples / full, estimate / full, n, TINY_DROP_PCT, 2, "% of the backbone"))
        back, back_samples = resampling.bootstrap(electrical, curve.back_s)
        name = f"d = {d} ms, electrical settling time"
        parts.append(judge.within_part(name, back_samples, back, n, (-np.inf, SOON_S), 2, "s"))
        (deep, deep_samples), (flat, flat_samples) = (
            resampling.bootstrap(item, curve.dip_pct) for item in (optical, electrical)
        )
        test = resampling.bootstrap_difference(deep_samples, flat_samples, deep - flat, n)
        parts.append(judge.side_part(f"d = {d} ms, optical dip minus electrical", test, "above", "points"))
    return parts


def overtaking_not_loss(lost: Mapping[str, Cells], packets: Cells) -> list[Part]:
    """Judge: at small d the cost of electrical is reordering and spurious retransmission, not loss."""
    at_merges = (lost["L2->L3"] + lost["L1->L0"]).at(strategy="electrical")
    counts = {"overtaken segments": "overtaken", "spurious retransmissions": "needless"}
    parts = []
    for d in OVERTAKEN_D_MS:
        name = f"d = {d} ms, no drops at the merge ports, above {100 * NO_DROPS_SHARE:g} %"
        none = (at_merges == 0).at(d_ms=d)
        parts.append(judge.share_part(name, float(none.values.sum()), len(none.seeds), NO_DROPS_SHARE))
        electrical, without = (packets.at(traced=traced_name(d, strategy)) for strategy in ("electrical", "none"))
        parts += [
            judge.paired_part(
                f"d = {d} ms, {what}, electrical minus none",
                electrical.at(count=count),
                without.at(count=count),
                "above",
                "per run",
            )
            for what, count in counts.items()
        ]
    return parts


def merge_overflows(lost: Mapping[str, Cells]) -> list[Part]:
    """Judge: the merged streams overflow the queue towards L3 if d >= 50 ms, and not below."""

    def part(d: int) -> Part:
        here = {place: cells.at(d_ms=d, strategy="electrical").values for place, cells in lost.items()}
        full = {place: f"{place} {values.mean():.1f}" for place, values in here.items() if values.any()}
        also = ", ".join(text for place, text in full.items() if place not in DISCARDED)
        overflowed, n = float((here["L2->L3"] > 0).sum()), len(here["L2->L3"])
        if d >= 50:
            result = judge.share_part(f"drops at L2->L3, d = {d} ms, above 50 %", overflowed, n, OFTEN_SHARE)
        else:
            result = judge.share_part(f"drops at L2->L3, d = {d} ms, below 5 %", overflowed, n, RARE_SHARE)
            result = replace(result, holds="undecided" if result.holds == "undecided" else not result.holds)
        return replace(result, text=f"{result.text} (drops per run: {also or 'none'})")

    return [part(d) for d in D_MS]


def optical_discards(lost: Mapping[str, Cells], expected: Mapping[str, Cells], packets: Cells) -> list[Part]:
    """Judge: optical loses the packets on the backup (emulated and exact); nothing is overtaken (exact)."""
    parts = []
    for strategy, arrivals in expected.items():
        for place in DISCARDED:
            parts += trend(f"{strategy}, {place}, d", lost[place].at(strategy=strategy), "up", "per run")
        beyond_pct = 100 * (lost["discarded at L2"].at(strategy=strategy) / arrivals - 1)
        parts += [
            judge.equivalence_part(
                f"{strategy}, d = {d} ms, data discarded against arrivals",
                beyond_pct.at(d_ms=d),
                ARRIVALS_MARGIN_PCT,
                "%",
            )
            for d in D_MS
        ]
    for d in D_MS:
        count = int(packets.at(traced=traced_name(d, "optical exact"), count="overtaken").values.sum())
        parts.append(
            judge.exact_part(f"optical exact, d = {d} ms, segments overtaken in all runs: {count}", count == 0)
        )
    return parts


def smaller_queue_sooner(ratio: Mapping[int, Cells]) -> list[Part]:
    """Judge: with a smaller merge queue, optical passes electrical at a smaller d."""
    name, steps = "d from which optical is ahead (100 ms: never)", [f"{limit} packets" for limit in ratio]
    return judge.bootstrap_trend_parts(name, steps, [f.values for f in ratio.values()], crossing_ms, "up", "ms")


SECTION7_2 = Exhibit(
    "gmpls/section7.2",
    "Events around the switch-back",
    "section 7.2",
    replace(SETUP, grids=grids, seeds=runs_of(PAPER_RUNS, QUICK_QUEUE_SEEDS, OTHER_SEEDS)),
    find,
)
