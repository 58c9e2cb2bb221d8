"""What the slides say of their first set-up, each statement judged as ``claims.toml`` says."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.curve import settle_s
from optcp.papers.judge import Part
from optcp.papers.printed import tables
from optcp.papers.slides.first import ACCESS, CLASSES, DELTA_MS, END_S, FAILURE_S, MERGE_PORT, PORTS, REPAIR_S, STEP_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from optcp.papers.model import Claim
    from optcp.papers.slides.first import Measured

SWITCHED, FIXED = (CLASSES.index(name) for name in CLASSES)
ALL_UP_S = ((5.0, 10.0), (25.0, 30.0))
SAME_FROM_S = 14


class Context:
    """What a judgement needs: the reduced study and the rates.

    Attributes
    ----------
    measured
        The study.
    backbone_bps, access_share
        Rate of the backbone, and of the access links over it.
    """

    def __init__(self, measured: Measured, backbone_bps: float, access_share: float) -> None:
        self.measured, self.backbone_bps, self.access_share = measured, backbone_bps, access_share


def judge_all(exhibit: str, context: Context, reading: str) -> list[Claim]:
    """Judge every statement about an exhibit."""
    return judge.judge_all(exhibit, _JUDGES[exhibit], {reading: context})


def load_pct(context: Context, start_s: float, end_s: float) -> NDArray[np.float64]:
    """Load of every port of ``PORTS`` in (start, end], in per cent of its own rate, float64[seeds, deltas, ports]."""
    first, last = round(start_s / STEP_S), round(end_s / STEP_S)
    rate = np.array([context.backbone_bps * (context.access_share if port in ACCESS else 1) for port in PORTS])
    total = context.measured.load[..., first:last].sum(axis=-1)
    result: NDArray[np.float64] = 100 * 8 * total / ((end_s - start_s) * rate)
    return result


def _name(index: int) -> str:
    return f"{DELTA_MS[index]} ms"


def access_full_backbone_empty(context: Context) -> list[Part]:
    """Judge: with all links up the access is full with a filled queue, the backbone 80 % loaded with an empty one."""
    measured = context.measured
    access = [PORTS.index(port) for port in ACCESS]
    backbone = [index for index in range(len(PORTS)) if index not in access]
    good = np.ones(measured.seeds, dtype=bool)
    seen = []
    for start_s, end_s in ALL_UP_S:
        load = load_pct(context, start_s, end_s)
        queue = measured.queue[..., round(start_s / STEP_S) : round(end_s / STEP_S)].mean(axis=-1)
        good &= (load[..., access] > 99).all(axis=(1, 2)) & (queue[..., access] > 35).all(axis=(1, 2))
        good &= (np.abs(load[..., backbone] - 80) <= 1).all(axis=(1, 2)) & (queue[..., backbone] < 1).all(axis=(1, 2))
        seen.append(
            f"({start_s:g} s, {end_s:g} s] access load {load[..., access].min():.2f} % and more, "
            f"queue {queue[..., access].min():.1f} packets and more, backbone load {load[..., backbone].min():.2f} to "
            f"{load[..., backbone].max():.2f} %, queue {queue[..., backbone].max():.2f} packets and less"
        )
    text = f"runs in which all of it holds for all three delays ({'; '.join(seen)})"
    return [judge.share_part(text, int(good.sum()), measured.seeds, 0.95)]


def overflow_by_delay(context: Context) -> list[Part]:
    """Judge: 0 ms overflows at once and hits the fixed flows, 50 ms later, 1000 ms last."""
    measured = context.measured
    soon = int((measured.first_merge_drop_s[:, 0] <= 0.3).sum())
    load = load_pct(context, FAILURE_S, FAILURE_S + 1)[:, 0, PORTS.index(MERGE_PORT)]
    parts = [
        judge.share_part(f"0 ms: first drop at {MERGE_PORT} within 300 ms", soon, measured.seeds, 0.9),
        judge.paired_part(
            f"0 ms: load of {MERGE_PORT} in (10 s, 11 s], {load.mean():.1f} %, minus 98 %",
            load,
            np.full_like(load, 98),
            "above",
            "points",
        ),
    ]
    for title, values in (
        (f"from the switch to the first drop at {MERGE_PORT}", measured.first_merge_drop_s),
        ("from the failure to the first loss of a fixed flow", measured.first_fixed_loss_s),
    ):
        parts += [
            judge.paired_part(
                f"{title}, {_name(index)} minus {_name(index - 1)}",
                1000 * values[:, index],
                1000 * values[:, index - 1],
                "above",
                "ms",
            )
            for index in range(1, len(DELTA_MS))
        ]
    left = int(measured.bytes_in(FAILURE_S + 0.2, FAILURE_S + 1)[:, -1, SWITCHED].sum())
    parts.append(
        judge.exact_part(f"1000 ms: {left} switched bytes delivered in (10.2 s, 11 s], all runs together", left == 0)
    )
    return parts


def goodput_by_class(context: Context) -> list[Part]:
    """Judge: who loses how much with which delay, in the first second."""
    measured = context.measured
    first = measured.bytes_in(FAILURE_S, FAILURE_S + 1)
    before = measured.bytes_in(FAILURE_S - 1, FAILURE_S).astype(float)
    pct = 100 * first / before
    switched, fixed = pct[..., SWITCHED], pct[..., FIXED]
    curves = measured.coarse()[..., SWITCHED, :]
    event = round(FAILURE_S / STEP_S)
    after = np.concatenate([curves[:, index, event:] for index in (1, 2)], axis=1) * (1 / STEP_S)
    both = np.concatenate([after, before[:, 1:, SWITCHED]], axis=1)
    length = curves.shape[-1] - event

    def later(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        fifty, thousand = (
            settle_s(100 * mean[:, i * length : (i + 1) * length] / mean[:, 2 * length + i, None]) for i in (0, 1)
        )
        return thousand - fifty

    estimate, samples = stats.bootstrap(both, later)
    ends = [
        float(settle_s(100 * curves[:, i, event:].mean(0)[None] / STEP_S / before[:, i, SWITCHED].mean())[0])
        for i in (1, 2)
    ]
    parts = [
        judge.equivalence_part(
            "switched in (10 s, 11 s], 50 ms minus 0 ms", switched[:, 1] - switched[:, 0], 15, "% of before"
        ),
        judge.paired_part(
            "switched in (10 s, 11 s], 1000 ms minus 50 ms", switched[:, 2], switched[:, 1], "below", "% of before"
        ),
        # One interval of the curve later is later.
        judge.bootstrap_part(
            f"switched back at 90 % after {ends[1]:.1f} s with 1000 ms, {ends[0]:.1f} s with 50 ms (the repair is at "
            f"{REPAIR_S - FAILURE_S:g} s), difference",
            samples,
            estimate,
            measured.seeds,
            STEP_S / 2,
            "s",
        ),
    ]
    return parts + judge.trend_parts(
        "fixed in (10 s, 11 s]",
        [_name(index) for index in range(len(DELTA_MS))],
        [fixed[:, index] for index in range(len(DELTA_MS))],
        "up",
        "% of before",
    )


def first_second_gain_pct(measured: Measured) -> NDArray[np.float64]:
    """Total goodput of (10 s, 11 s] with 50 ms over that with 0 ms, minus one, in per cent, float64[seeds]."""
    total = measured.bytes_in(FAILURE_S, FAILURE_S + 1).sum(axis=-1)
    result: NDArray[np.float64] = 100 * (total[:, 1] / total[:, 0] - 1)
    return result


def first_second(context: Context) -> list[Part]:
    """Judge: the first second's gain, and that the cases differ only in the first few seconds."""
    measured = context.measured
    total = measured.bytes_in(FAILURE_S, FAILURE_S + 1).sum(axis=-1) / 1e3
    printed = tables("slides")["first_second_50ms_vs_0ms_pct"]
    gain = first_second_gain_pct(measured)
    low, high = np.quantile(gain, [0.05, 0.95])
    parts = [
        judge.paired_part("total of (10 s, 11 s], 50 ms minus 0 ms", total[:, 1], total[:, 0], "above", "kB"),
        judge.exact_part(
            f"printed {printed:+.2f} % between the runs' 5th and 95th percentile, {low:+.1f} and {high:+.1f} %",
            bool(low <= printed <= high),
        ),
    ]
    for second in range(SAME_FROM_S, round(END_S)):
        sums = measured.bytes_in(second, second + 1).sum(axis=-1)
        for one, other in itertools.combinations(range(len(DELTA_MS)), 2):
            parts.append(
                judge.equivalence_part(
                    f"({second} s, {second + 1} s], {_name(other)} minus {_name(one)}",
                    100 * (sums[:, other] - sums[:, one]) / sums[:, one].mean(),
                    2,
                    "%",
                )
            )
    return parts


def recovery_or_timeout(context: Context) -> list[Part]:
    """Judge: at 0 ms one retransmission a round trip; at 50 ms more time-outs and an earlier return."""
    measured = context.measured
    longest_s = measured.scale.longest_round_trip_s
    most = int(measured.retransmissions_per_rtt[:, 0].max())
    long = int((measured.longest_recovery_s[:, 0] > 3 * longest_s).sum())
    return [
        judge.exact_part(f"0 ms: at most {most} retransmission(s) within a round trip of first recoveries", most == 1),
        judge.exact_part(
            f"0 ms: first recoveries longer than three round trips of {1000 * longest_s:.0f} ms in {long} "
            f"of {measured.seeds} runs, the longest {measured.longest_recovery_s[:, 0].max():.2f} s",
            long > 0,
        ),
        judge.paired_part(
            f"switched sources with a timeout in (10 s, 12 s], {measured.timed_out[:, 1].mean():.2f} at 50 ms against "
            f"{measured.timed_out[:, 0].mean():.2f} at 0 ms",
            measured.timed_out[:, 1],
            measured.timed_out[:, 0],
            "above",
            "sources",
        ),
        judge.paired_part(
            f"until a switched source is back at its rate, {measured.back_s[:, 1].mean():.2f} s at 50 ms against "
            f"{measured.back_s[:, 0].mean():.2f} s at 0 ms",
            measured.back_s[:, 1],
            measured.back_s[:, 0],
            "below",
            "s",
        ),
    ]


def who_loses(context: Context) -> list[Part]:
    """Judge: the failure costs switched packets only, the first overflow hits both classes, later ones cost less."""
    measured = context.measured
    lost = int(measured.dead_link_drops[:, 0, FIXED].sum())
    overflows = [row[0] for row in measured.clusters]
    pairs = np.array([one.lost_per_source for one in overflows if len(one.lost_per_source) == 2], dtype=float)
    parts = [
        judge.exact_part(f"{lost} packets of fixed flows lost on the dead link, all runs together", lost == 0),
        judge.share_part(
            "runs whose first overflow hits both classes",
            sum(one.both_classes for one in overflows),
            measured.seeds,
            0.9,
        ),
    ]
    if len(pairs):
        title = f"packets lost per source hit, second overflow ({pairs[:, 1].mean():.2f}) minus first"
        parts.append(judge.paired_part(title, pairs[:, 1], pairs[:, 0], "below", "packets"))
    else:
        parts.append(Part("no run has a second overflow", "undecided"))
    return parts


_JUDGES: Mapping[str, Mapping[str, Callable[[Context], list[Part]]]] = {
    "slides/queues": {
        "access-full-backbone-empty": access_full_backbone_empty,
        "delay-postpones-overflow": overflow_by_delay,
    },
    "slides/goodput": {
        "losses-by-class": goodput_by_class,
        "first-second-gain": first_second,
    },
    "slides/traces": {
        "recovery-or-slow-start": recovery_or_timeout,
        "who-loses-when": who_loses,
    },
}
