"""Figure 6: arrivals at a receiver around a repair, with nothing lost, and with one packet lost on either path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.assume import Assumed, built_in, overrides
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.das.paper import PAPER, PS, RECEIVER_AXIS, RECEIVERS, SUPPRESSING, events, scenario
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

FIRST = 80
"""The segment that is packet 0 of the figure; see the scenario."""
REPAIR_S = 1.422912
LAST_OLD = 4
"""The last packet on the longer path."""
SHOWN_S = (0.0, 0.35)
CASES: dict[str, int | None] = {"a": None, "b": 1, "c": 5, "lost 2": 2, "lost 3": 3, "lost 4": 4}
"""The cases of the figure, and beside them the other packets of the longer path: which packet is lost."""
KINDS = ("arrived over the longer path", "arrived over the shorter path", "ACK received", "sent again", "lost")


@exhibit
class Fig6(Exhibit):
    """Six cases and three receivers, packet by packet."""

    id = "das/fig6"
    title = "Duplicate ACKs when packets overtake others and one is lost"
    paper = PAPER
    where = "section IV, Figs. 5 and 6"
    paper_runs = 1
    assumed = (
        Assumed("profile", "ns2-2.35", str, lambda value: [("parameters.profile", str(value))]),
        built_in("window_packets", "8"),
        built_in("rate_bps", "3100000"),
        built_in("rerouted", "data only"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a case; the branches are the receivers."""
        common = overrides(self.assumed, chosen)
        found = {}
        for case, lost in CASES.items():
            losses = ("losses", "[]") if lost is None else ("parameters.lost", f"[{FIRST + lost}]")
            found[case] = Grid.grid(
                scenario("fig6"),
                [*common, losses],
                [(RECEIVER_AXIS, list(RECEIVERS.values()))],
                title=f"das fig6, {case}",
                digest=options.digest,
                fork=options.fork,
            )
        return found

    def seeds(self, study: str, size: Size) -> int:
        """One: nothing that is random matters."""
        del study, size
        return 1

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Counts a (case, receiver), the claims, and the time-sequence plots."""
        del chosen
        runs = {case: dict(zip(RECEIVERS, next(iter(study))[1], strict=True)) for case, study in done.items()}
        traces = {
            case: {name: trace(run, CASES[case]) for name, run in by_receiver.items()}
            for case, by_receiver in runs.items()
        }
        rows: list[Row] = []
        series: list[Series] = []
        for case, by_receiver in traces.items():
            for receiver, one in by_receiver.items():
                rows += _rows({"case": case, "receiver": receiver}, one)
                series += _curves({"case": case, "receiver": receiver}, one)
        judged = judge.judge_each(
            self.id,
            {
                "overtaking-silent": {name: tells_both_apart(traces, name) for name in SUPPRESSING},
                "first-packet-lost": {name: goes_on_telling(traces["c"][name]) for name in SUPPRESSING},
            },
        )
        note = (
            "Times count from the repair, packets as the paper numbers them. Packets 0 to 4 of the round are on the "
            "longer path, 5 to 7 on the shorter. `duplicate_acks` are those for the packet before the lost one (in "
            "case a for any), until it is sent again."
        )
        return Evaluation(rows, judged, series, [note])


@dataclass(frozen=True)
class Trace:
    """What happened around the repair; times in ms from it, packets numbered as in the figure.

    Attributes
    ----------
    arrived, acked, resent, lost
        (time, packet) pairs, float64[n, 2]; for ACKs the packet after the last one acknowledged.
    duplicates
        ACKs that repeat the one before, up to the first time that something is sent again; float64[n, 2].
    recoveries, timeouts
        When they began.
    filled_ms
        When the lost packet came; NaN where none was lost.
    """

    arrived: NDArray[np.float64]
    acked: NDArray[np.float64]
    resent: NDArray[np.float64]
    lost: NDArray[np.float64]
    duplicates: NDArray[np.float64]
    recoveries: NDArray[np.float64]
    timeouts: NDArray[np.float64]
    filled_ms: float


def trace(run: RunData, lost: int | None) -> Trace:
    """Read a run's packets from the repair on."""
    packets = run.series["packets"]
    time_ms = _milliseconds(packets["time_ps"])
    number = packets["seq"].astype(np.float64) - FIRST

    def of_kind(event: str) -> NDArray[np.float64]:
        which = (packets["event"] == list(packets["events"]).index(event)) & (time_ms > 0)
        return np.column_stack([time_ms[which], number[which]])

    acked, resent, arrived = of_kind("acked"), of_kind("resent"), of_kind("arrived")
    until = resent[0, 0] if resent.size else np.inf
    repeats = np.flatnonzero(acked[1:, 1] == acked[:-1, 1]) + 1
    # What is sent again leaves when its ACK comes: the third duplicate is at the same instant.
    duplicates = acked[repeats[acked[repeats, 0] <= until]]
    came = arrived[arrived[:, 1] == lost, 0]
    return Trace(
        arrived=arrived,
        acked=acked,
        resent=resent,
        lost=of_kind("dropped"),
        duplicates=duplicates,
        recoveries=_milliseconds(events(run, "recovery", REPAIR_S)),
        timeouts=_milliseconds(events(run, "timeout", REPAIR_S)),
        filled_ms=float(came[0]) if came.size else float("nan"),
    )


def _milliseconds(time_ps: NDArray[np.uint64] | NDArray[np.int64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = (time_ps.astype(np.float64) - REPAIR_S * PS) / (PS / 1000)
    return result


def _rows(key: Key, one: Trace) -> list[Row]:
    values = {
        "duplicate_acks": float(len(one.duplicates)),
        "fast_retransmits": float(one.recoveries.size),
        "timeouts": float(one.timeouts.size),
    }
    if not np.isnan(one.filled_ms):
        values["filled_ms"] = one.filled_ms
    if one.timeouts.size:
        values["timeout_ms"] = float(one.timeouts[0])
    return [row(key, metric, None, stats.exact(value), "") for metric, value in values.items()]


def _curves(key: Key, one: Trace) -> list[Series]:
    start, end = (1000 * second for second in SHOWN_S)
    old = one.arrived[:, 1] <= LAST_OLD
    # A packet of the round that is sent again takes the shorter path.
    again = np.isin(one.arrived[:, 1], one.resent[:, 1])
    points = dict(
        zip(
            KINDS,
            (one.arrived[old & ~again], one.arrived[~old | again], one.acked, one.resent, one.lost),
            strict=True,
        )
    )
    found = []
    for kind, pairs in points.items():
        shown = pairs[(pairs[:, 0] > start) & (pairs[:, 0] <= end)]
        x, y = shown[:, 0].round(4).tolist(), shown[:, 1].tolist()
        found.append(Series(kind, key, "time since the repair", "ms", "packet", "", x, y))
    return found


def tells_both_apart(traces: Mapping[str, Mapping[str, Trace]], receiver: str) -> list[Part]:
    """Judge: no duplicate ACK in case a; in case b three for packet 0, and a fast retransmit of packet 1."""
    alone, lossy = traces["a"][receiver], traces["b"][receiver]
    for_zero = int((lossy.duplicates[:, 1] == 1).sum())
    first = lossy.resent[0, 1] if lossy.resent.size else float("nan")
    others = ", ".join(
        f"packet {CASES[case]} lost: {len(traces[case][receiver].duplicates)} duplicate ACKs, "
        f"{traces[case][receiver].timeouts.size} timeouts"
        for case in CASES
        if case.startswith("lost")
    )
    return [
        judge.exact_part(f"(a): {len(alone.duplicates)} duplicate ACKs", len(alone.duplicates) == 0),
        judge.exact_part(f"(b): {for_zero} duplicate ACKs for packet 0", for_zero == len(lossy.duplicates) == 3),
        judge.exact_part(
            f"(b): packet {first:g} sent again first, {lossy.recoveries.size} fast retransmits, "
            f"{lossy.timeouts.size} timeouts (beside: {others})",
            first == 1 and lossy.recoveries.size == 1 and lossy.timeouts.size == 0,
        ),
    ]


def goes_on_telling(one: Trace) -> list[Part]:
    """Judge: in case c duplicate ACKs after the last packet of the longer path, and no timeout."""
    last_old = one.arrived[one.arrived[:, 1] == LAST_OLD, 0]
    after = int((one.duplicates[:, 0] > last_old[0]).sum())
    return [
        judge.exact_part(f"duplicate ACKs after packet {LAST_OLD}: {after}", after > 0),
        judge.exact_part(
            f"{one.timeouts.size} timeouts; packet 5 comes {one.filled_ms:.1f} ms after the repair",
            one.timeouts.size == 0,
        ),
    ]
