"""Figure 7: goodput over time around the failure, for five switch delays."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Key, Part, Parts, judge, over_time, rows
from optcp.stats import resampling
from optcp_papers.gmpls.paper import FAILURE_S, LOST_NOTE, WINDOW_S
from optcp_papers.gmpls.section5 import CLASSES, DELTA_MS, END_S, READINGS_NOTE, SETUP, World, worlds

DELAYED = DELTA_MS[1:]
SHOWN_S = (4.5, END_S)
LABELS = ("time", "s", "goodput", "% of backbone bandwidth")
SETTLE_STEP_S = 0.1
SETTLE_RUN = 10
SETTLE_AT_LEAST_S = 0.8


def find(found: Found) -> Findings:
    """Return the mean curve over seeds with its interval, one example run, and the goodput in the window as rows."""
    backbone_bps = found.number("backbone_bps")
    shown, series, in_window = worlds(found), [], []
    for reading, world in shown.items():
        per_class = {name: world.goodput.at(group=name) for name in CLASSES}
        per_class["total"] = world.goodput.total("group")
        for delta in DELTA_MS:
            for name, cells in per_class.items():
                key: Key = {"flows": reading, "delta_ms": delta, "class": name}
                window = percent(cells.at(delta_ms=delta).between(*WINDOW_S), WINDOW_S[1] - WINDOW_S[0], backbone_bps)
                in_window += rows({"goodput_pct": window.mean()}, key=key)
                pct = percent(cells.at(delta_ms=delta), interval_s(world), backbone_bps)
                series += over_time(pct, key, LABELS, 2, shown_s=SHOWN_S, example=True)
    rates = {"backbone_bps": backbone_bps, "access_share": found.number("access_share")}
    claims = {
        id_: {reading: judged(world, **rates) for reading, world in shown.items()} for id_, judged in CLAIMS.items()
    }
    return Findings(in_window, claims, series, [LOST_NOTE, READINGS_NOTE])


def percent(bytes_: Cells, span_s: float, backbone_bps: float) -> Cells:
    """Return bytes in a time span in % of the capacity of the backbone."""
    return 100 * 8 * bytes_ / (span_s * backbone_bps)


def interval_s(world: World) -> float:
    """Return the interval T of equation 4, in s."""
    return world.goodput.axis("time").numbers[0]  # type: ignore[index]


def above_link_rate(world: World, backbone_bps: float, access_share: float) -> Parts:
    """Judge: goodput of a short interval can exceed 100 %, cumulative goodput never exceeds the access rate."""
    bytes_, n = world.goodput, len(world.goodput.seeds)
    first, last = (bytes_.axis("time").bound(instant) for instant in (FAILURE_S, END_S))
    above = np.any(bytes_.values[..., first:last] > backbone_bps / 8 * interval_s(world), axis=(-1, -2))
    parts = [
        judge.share_part(f"delta = {delta} ms, runs with an interval above 100 %", int(count), n, 0.5)
        for delta, count in zip(DELTA_MS, above.sum(axis=0), strict=True)
    ]
    cumulative = bytes_.values.cumsum(axis=-1)
    ends_s = np.arange(1, cumulative.shape[-1] + 1) * interval_s(world)
    # The tolerance of half a byte allows for rounding: the limit is a float, byte counts are integers.
    excess = (cumulative > access_share * backbone_bps / 8 * ends_s + 0.5).any(axis=-1)
    text = f"cumulative goodput above access rate x time in {excess.sum()} of {excess.size} (run, class) curves"
    return [*parts, judge.exact_part(text, not excess.any())]


def access_is_bottleneck(world: World, backbone_bps: float, access_share: float) -> Parts:
    """Judge: before the failure the backbone carries the access share and drops nothing."""
    dropped = int(world.backbone_drops.values.sum())
    load_pct, share_pct = 100 * world.load_bps / backbone_bps, 100 * access_share
    load = f"load of L1->L2 in (3 s, 5 s], {load_pct.values.mean():.2f} %, minus {share_pct:g} %"
    return [
        judge.exact_part(
            f"{dropped} packets dropped at backbone ports after 3 s and before 5 s, all runs together", dropped == 0
        ),
        judge.equivalence_part(load, load_pct - share_pct, 1, "points"),
    ]


def immediate_hurts_fixed(world: World, backbone_bps: float, access_share: float) -> Parts:
    """Judge: an immediate switchover hurts the fixed flows more than any delayed one."""
    del access_share
    fixed = percent(world.goodput.at(group="fixed").between(FAILURE_S, FAILURE_S + 1), 1, backbone_bps)
    name = "fixed goodput in (5 s, 6 s], {} ms minus 0 ms"
    return against_immediate(name, fixed, "above", "points")


def against_immediate(name: str, cells: Cells, side: judge.Side, unit: str) -> list[Part]:
    """Compare each delay above zero with an immediate switchover."""
    immediate = cells.at(delta_ms=0)
    return [judge.paired_part(name.format(delta), cells.at(delta_ms=delta), immediate, side, unit) for delta in DELAYED]


def overflow_at_once(world: World, **_: float) -> Parts:
    """Judge: with delta = 0 the merge port overflows immediately and both classes lose packets there."""
    n, parts = len(world.goodput.seeds), []
    # A run without a drop counts with its remaining time.
    to_end_s = [END_S - FAILURE_S - delta / 1000 for delta in DELTA_MS]
    first_ms = world.first_merge_drop_s.each(lambda values: 1000 * np.where(np.isnan(values), to_end_s, values), "ms")
    for delta in DELAYED:
        without = int(np.isnan(world.first_merge_drop_s.at(delta_ms=delta).values).sum())
        note = f" ({without} runs without any drop, counted to the end of the run)" if without else ""
        name = f"first drop at L5->L6 after the switch{note}, {delta} ms minus 0 ms"
        parts.append(judge.paired_part(name, first_ms.at(delta_ms=delta), first_ms.at(delta_ms=0), "above", "ms"))
    both = int(world.both_classes_drop.at(delta_ms=0).values.sum())
    return [*parts, judge.share_part("delta = 0, runs in which both classes lose packets within 200 ms", both, n, 0.5)]


def dead_link_or_merge(world: World, **_: float) -> Parts:
    """Judge: a delayed switchover loses more packets on the dead link but fewer at the merge port."""
    dead = [world.dead_link_drops.at(delta_ms=delta) for delta in DELTA_MS]
    steps = [f"{delta} ms" for delta in DELTA_MS]
    parts = judge.trend_parts("drops at L1-L2, data and ACKs", steps, dead, "up", "packets")
    return parts + against_immediate("drops at L5->L6, {} ms minus 0 ms", world.merge_drops, "below", "packets")


def settles_in_a_second(world: World, **_: float) -> Parts:
    """Judge: after the switchover the competing flows need at least about a second to settle."""
    parts, n = [], len(world.goodput.seeds)
    for delta in DELTA_MS:
        for name in CLASSES:
            curves = settling(world.goodput.at(delta_ms=delta, group=name), FAILURE_S + delta / 1000)
            estimate, samples = resampling.bootstrap(curves, settle_s)
            text = f"{name}, {delta} ms: settling time"
            parts.append(judge.bootstrap_part(text, samples, estimate, n, SETTLE_AT_LEAST_S, "s"))
    return parts


def settling(goodput: Cells, switch_s: float, end_s: float = END_S) -> NDArray[np.float64]:
    """Return goodput in the form of :func:`settle_s`, one row per seed: from the switchover on, then the final level.

    Parameters
    ----------
    goodput
        Bytes over ``time`` alone.
    end_s
        End of the last second, whose mean is the final level.
    """
    interval_s = goodput.axes[0].numbers[0]  # type: ignore[index]
    step, first = round(SETTLE_STEP_S / interval_s), round(switch_s / interval_s)
    count = (goodput.axes[0].bound(end_s) - first) // step
    intervals = goodput.values[:, first : first + count * step].reshape(-1, count, step).sum(axis=2)
    return np.column_stack([intervals, goodput.between(end_s - 1, end_s) * SETTLE_STEP_S])


def settle_s(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the settling times of curves.

    Parameters
    ----------
    curves
        Shape (k, m + 1): goodput in m intervals of 100 ms from the switchover on, then the final level.

    Returns
    -------
    ndarray
        Time in s, shape (k,), from the switchover to the first of ten intervals in a row within 10 % of the final
        level. Infinite without such intervals.
    """
    intervals, level = curves[:, :-1], curves[:, -1:]
    inside = np.abs(intervals - level) <= 0.1 * level
    windows = np.lib.stride_tricks.sliding_window_view(inside, SETTLE_RUN, axis=1)
    settled: NDArray[np.bool_] = np.all(windows, axis=2)
    return np.where(np.any(settled, axis=1), settled.argmax(axis=1) * SETTLE_STEP_S, np.inf)


CLAIMS: dict[str, Callable[..., Parts]] = {
    "above-link-rate": above_link_rate,
    "access-is-bottleneck": access_is_bottleneck,
    "immediate-hurts-fixed": immediate_hurts_fixed,
    "merge-overflows-at-once": overflow_at_once,
    "dead-link-against-merge": dead_link_or_merge,
    "settling-takes-a-second": settles_in_a_second,
}
"""Judge of each claim, with arguments network, backbone rate, and access rate as a share of it."""

FIG7 = Exhibit("gmpls/fig7", "Goodput over time by protection switch delay", "section 5.2, Fig. 7", SETUP, find)
