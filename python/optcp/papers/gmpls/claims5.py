"""The statements of sections 4 and 5 about Figs 7 and 8 and Table 3, each judged as ``claims.toml`` says.

Every function takes the reduced study under one interpretation of the flow count and returns the parts of its
judgement. They are bound to the statements by the beginning of the statement's text; a statement without a
function, or a function without a statement, is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.gmpls.paper import FAILURE_S, PAPER_RUNS
from optcp.papers.gmpls.section5 import CLASSES, DELTA_MS, END_S
from optcp.papers.printed import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from optcp.papers.gmpls.section5 import Measured
    from optcp.papers.judge import Part
    from optcp.papers.model import Claim

DELAYED = tuple(range(1, len(DELTA_MS)))
"""Indices of the delays above zero."""
FIXED = CLASSES.index("fixed")
SETTLE_STEP_S = 0.1
SETTLE_RUN = 10
SETTLE_AT_LEAST_S = 0.8


@dataclass(frozen=True)
class Context:
    """What a judgement needs.

    Attributes
    ----------
    measured
        The study under one interpretation.
    backbone_bps
        Rate of the backbone links.
    access_share
        Rate of the access links over that of the backbone.
    """

    measured: Measured
    backbone_bps: float
    access_share: float


def judge_all(exhibit: str, contexts: Mapping[str, Context]) -> list[Claim]:
    """Judge every statement about an exhibit under each interpretation.

    Raises
    ------
    LookupError
        If a claim has no function, or a function no claim.
    """
    return judge.judge_all(exhibit, _JUDGES[exhibit], contexts)


def _name(index: int) -> str:
    return f"{DELTA_MS[index]} ms"


def above_link_rate(context: Context) -> list[Part]:
    """Judge: goodput of a short interval can exceed 100 %, cumulative goodput never exceeds the access rate."""
    measured = context.measured
    first, last = (round(instant / measured.interval_s) for instant in (FAILURE_S, END_S))
    limit = context.backbone_bps / 8 * measured.interval_s
    above: NDArray[np.bool_] = np.any(measured.goodput[..., first:last] > limit, axis=(-1, -2))
    parts = [
        judge.share_part(
            f"delta = {_name(index)}, runs with an interval above 100 %",
            int(above[:, index].sum()),
            measured.seeds,
            0.5,
        )
        for index in range(len(DELTA_MS))
    ]
    cumulative = measured.goodput.cumsum(axis=-1)
    ends = np.arange(1, cumulative.shape[-1] + 1) * measured.interval_s
    allowed = context.access_share * context.backbone_bps / 8 * ends
    # Half a byte of room: `allowed` is a float, the bytes are whole.
    excess = int((cumulative > allowed + 0.5).any(axis=-1).sum())
    curves = cumulative.shape[0] * cumulative.shape[1] * cumulative.shape[2]
    text = f"cumulative goodput above access rate x time in {excess} of {curves} (run, class) curves"
    return [*parts, judge.exact_part(text, excess == 0)]


def access_is_bottleneck(context: Context) -> list[Part]:
    """Judge: before the failure the backbone carries the access share and drops nothing."""
    measured = context.measured
    dropped = int(measured.backbone_drops.sum())
    load_pct = 100 * measured.failing_link_load_bps / context.backbone_bps
    share_pct = 100 * context.access_share
    return [
        judge.exact_part(
            f"{dropped} packets dropped at backbone ports after 3 s and before 5 s, all runs together", dropped == 0
        ),
        judge.equivalence_part(
            f"load of L1->L2 in (3 s, 5 s], {load_pct.mean():.2f} %, minus {share_pct:g} %",
            load_pct - share_pct,
            1,
            "points",
        ),
    ]


def immediate_hurts_fixed(context: Context) -> list[Part]:
    """Judge: an immediate switch hurts the fixed flows more than any delayed one."""
    measured = context.measured
    fixed = measured.bytes_in(FAILURE_S, FAILURE_S + 1)[..., FIXED] * 8 / context.backbone_bps * 100
    return [
        judge.paired_part(
            f"fixed goodput in (5 s, 6 s], {_name(index)} minus 0 ms", fixed[:, index], fixed[:, 0], "above", "points"
        )
        for index in DELAYED
    ]


def overflow_at_once(context: Context) -> list[Part]:
    """Judge: with delta = 0 the merge port overflows at once and both classes lose packets there."""
    measured = context.measured
    first_ms = measured.first_merge_drop_s * 1000
    parts = []
    for index in DELAYED:
        without = int(measured.no_merge_drop[:, index].sum())
        note = f" ({without} runs without any drop, counted to the end of the run)" if without else ""
        parts.append(
            judge.paired_part(
                f"first drop at L5->L6 after the switch{note}, {_name(index)} minus 0 ms",
                first_ms[:, index],
                first_ms[:, 0],
                "above",
                "ms",
            )
        )
    both = int(measured.both_classes_drop[:, 0].sum())
    parts.append(
        judge.share_part("delta = 0, runs in which both classes lose packets within 200 ms", both, measured.seeds, 0.5)
    )
    return parts


def dead_link_or_merge(context: Context) -> list[Part]:
    """Judge: a delayed switch costs more packets on the dead link but fewer at the merge port."""
    dead, merge = context.measured.dead_link_drops, context.measured.merge_drops
    every = range(len(DELTA_MS))
    parts = judge.trend_parts(
        "drops at L1-L2, data and ACKs", [_name(i) for i in every], [dead[:, i] for i in every], "up", "packets"
    )
    return parts + [
        judge.paired_part(
            f"drops at L5->L6, {_name(index)} minus 0 ms", merge[:, index], merge[:, 0], "below", "packets"
        )
        for index in DELAYED
    ]


def settle_s(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Find when curves settle.

    Parameters
    ----------
    curves
        Shape (k, m + 1): goodput in m intervals of 100 ms from the switch on, then the level to settle at.

    Returns
    -------
    ndarray
        Seconds from the switch to the first of ten intervals in a row within 10 % of that level, shape (k,);
        infinite where there are none.
    """
    intervals, level = curves[:, :-1], curves[:, -1:]
    inside = np.abs(intervals - level) <= 0.1 * level
    windows = np.lib.stride_tricks.sliding_window_view(inside, SETTLE_RUN, axis=1)
    settled: NDArray[np.bool_] = np.all(windows, axis=2)
    return np.where(np.any(settled, axis=1), settled.argmax(axis=1) * SETTLE_STEP_S, np.inf)


def settles_in_a_second(context: Context) -> list[Part]:
    """Judge: after the switch the competing flows need of the order of a second or more to settle."""
    measured = context.measured
    step, end = (round(span_s / measured.interval_s) for span_s in (SETTLE_STEP_S, END_S))
    last_second = measured.bytes_in(END_S - 1, END_S) * SETTLE_STEP_S
    parts = []
    for index, delta in enumerate(DELTA_MS):
        first = round((FAILURE_S + delta / 1000) / measured.interval_s)
        count = (end - first) // step
        for position, name in enumerate(CLASSES):
            after = measured.goodput[:, index, position, first : first + count * step]
            intervals = after.reshape(measured.seeds, count, step).sum(axis=2)
            curves = np.column_stack([intervals, last_second[:, index, position]])
            estimate, samples = stats.bootstrap(curves, settle_s)
            parts.append(
                judge.bootstrap_part(
                    f"{name}, {_name(index)}: settles after", samples, estimate, measured.seeds, SETTLE_AT_LEAST_S, "s"
                )
            )
    return parts


def delay_pays(context: Context) -> list[Part]:
    """Judge: on average every delayed switch yields more total goodput than an immediate one."""
    gain = 100 * (context.measured.ratio - 1)
    return [judge.paired_part(f"f({_name(index)}) - 1", gain[:, index], gain[:, 0], "above", "%") for index in DELAYED]


def gain_falls(context: Context) -> list[Part]:
    """Judge: 50 ms gains most and the gain falls with every longer delay."""
    gain = 100 * (context.measured.ratio - 1)
    return [
        judge.paired_part(
            f"f({_name(index)}) minus f({_name(index + 1)})", gain[:, index], gain[:, index + 1], "above", "points"
        )
        for index in DELAYED[:-1]
    ]


def shares_as_printed(context: Context) -> list[Part]:
    """Judge: the shares of Table 3's columns 2 and 3, and their order."""
    measured, printed = context.measured, tables("gmpls")["table3"]
    n = measured.seeds
    worse = measured.ratio < 1
    best = measured.best_share.sum(axis=0)
    parts = [
        judge.printed_share_part(
            f"worse than 0 ms, {_name(i)}", int(worse[:, i].sum()), n, printed["worse_than_zero_pct"][i], PAPER_RUNS
        )
        for i in DELAYED
    ]
    parts += [
        judge.printed_share_part(f"best, {_name(i)}", float(best[i]), n, printed["best_pct"][i], PAPER_RUNS)
        for i in range(len(DELTA_MS))
    ]
    for i in DELAYED[:-1]:
        test = stats.mcnemar(worse[:, i + 1], worse[:, i])
        title = f"share worse, {_name(i + 1)} minus {_name(i)} (McNemar p = {test.p:.2g})"
        parts.append(judge.side_part(title, test.times(100), "above", "points"))
    parts.append(judge.share_part("best, 50 ms, above 50 %", float(best[DELTA_MS.index(50)]), n, 0.5))
    return parts


_JUDGES: dict[str, dict[str, Callable[[Context], list[Part]]]] = {
    "gmpls/fig7": {
        "above-link-rate": above_link_rate,
        "access-is-bottleneck": access_is_bottleneck,
        "immediate-hurts-fixed": immediate_hurts_fixed,
        "merge-overflows-at-once": overflow_at_once,
        "dead-link-against-merge": dead_link_or_merge,
        "settling-takes-a-second": settles_in_a_second,
    },
    "gmpls/fig8": {"delay-gains": delay_pays},
    "gmpls/table3": {
        "shortest-is-best": gain_falls,
        "worse-and-best-shares": shares_as_printed,
    },
}
