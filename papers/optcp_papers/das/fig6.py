"""Figure 6: arrivals at a receiver around a repair, without loss, and with one packet lost on either path."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup
from optcp.papers.kit import Assumed, Grid, Key, Options, Part, Row, Run, Series, built_in, judge, overrides, row
from optcp_papers.das.paper import PAPER, RECEIVERS, SUPPRESSING, receivers, scenario

FIRST = 80
"""Number of the segment that is packet 0 of the figure (see the scenario)."""
REPAIR_S = 1.422912
LAST_OLD = 4
"""Number of the last packet on the longer path."""
SHOWN_S = (0.0, 0.35)
CASES: dict[str, int | None] = {"a": None, "b": 1, "c": 5, "lost 2": 2, "lost 3": 3, "lost 4": 4}
"""Lost packet of each case: the cases of the figure, and the other packets of the longer path."""
KINDS = ("arrived over the longer path", "arrived over the shorter path", "ACK received", "retransmitted", "lost")

ASSUMED = (
    Assumed("profile", "ns2-2.35", str, "parameters.profile"),
    built_in("window_packets", "8"),
    built_in("rate_bps", "3100000"),
    built_in("rerouted", "data only"),
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per case, over the receivers."""
    common = overrides(ASSUMED, chosen)

    def make_grid(case: str, lost: int | None) -> Grid:
        losses = {"losses": []} if lost is None else {"parameters.lost": [FIRST + lost]}
        return options.grid(scenario("fig6"), {**common, **losses}, {"receiver": receivers()}, f"das fig6, {case}")

    return {case: make_grid(case, lost) for case, lost in CASES.items()}


def find(found: Found) -> Findings:
    """Return counts per (case, receiver), the claims, and the time-sequence plots."""
    traces = {}
    for case, done in found.done.items():
        runs = dict(zip(RECEIVERS, done.runs(done.seeds[0]), strict=True))
        traces[case] = {receiver: trace(run, CASES[case]) for receiver, run in runs.items()}
    shown, series = [], []
    for case, by_receiver in traces.items():
        for receiver, item in by_receiver.items():
            shown += all_rows({"case": case, "receiver": receiver}, item)
            series += curves({"case": case, "receiver": receiver}, item)
    claims = {
        "overtaking-silent": {name: distinguishes_loss_and_reordering(traces, name) for name in SUPPRESSING},
        "first-packet-lost": {name: still_signals_loss(traces["c"][name]) for name in SUPPRESSING},
    }
    note = (
        "Times count from the repair; packets have the paper's numbers. Packets 0 to 4 of the round are on the "
        "longer path, 5 to 7 on the shorter. `duplicate_acks` counts those for the packet before the lost one (in "
        "case a for any), until its retransmission."
    )
    return Findings(shown, claims, series, [note])


@dataclass(frozen=True)
class Trace:
    """Events around the repair; times in ms after it, packets numbered as in the figure.

    Attributes
    ----------
    arrived, acked, resent, lost
        (time, packet) pairs, float64[n, 2]; for ACKs the packet after the last one acknowledged.
    duplicates
        ACKs that repeat the previous one, up to the first retransmission; float64[n, 2].
    recoveries, timeouts
        Start times.
    filled_ms
        Arrival time of the lost packet; NaN if none was lost.
    """

    arrived: NDArray[np.float64]
    acked: NDArray[np.float64]
    resent: NDArray[np.float64]
    lost: NDArray[np.float64]
    duplicates: NDArray[np.float64]
    recoveries: NDArray[np.float64]
    timeouts: NDArray[np.float64]
    filled_ms: float


def trace(run: Run, lost: int | None) -> Trace:
    """Read the packets of a run from the repair on."""
    acked, resent, arrived, dropped = (
        events(run, "packets", name) for name in ("acked", "resent", "arrived", "dropped")
    )
    until = resent[0, 0] if resent.size else np.inf
    repeats = np.flatnonzero(acked[1:, 1] == acked[:-1, 1]) + 1
    # A retransmission leaves when its ACK arrives, so the third duplicate has the same time.
    duplicates = acked[repeats[acked[repeats, 0] <= until]]
    came = arrived[arrived[:, 1] == lost, 0]
    return Trace(
        arrived=arrived,
        acked=acked,
        resent=resent,
        lost=dropped,
        duplicates=duplicates,
        recoveries=events(run, "reordering", "recovery")[:, 0],
        timeouts=events(run, "reordering", "timeout")[:, 0],
        filled_ms=float(came[0]) if came.size else float("nan"),
    )


def events(run: Run, observation: str, name: str) -> NDArray[np.float64]:
    """Return time after the repair in ms, and packet, of every such event after it; float64[n, 2]."""
    of_run = run[observation].where(event=name)
    time_ms = (of_run["time_ps"].astype(np.float64) - REPAIR_S * PICOSECONDS_A_SECOND) / (PICOSECONDS_A_SECOND / 1000)
    return np.column_stack([time_ms, of_run["seq"].astype(np.float64) - FIRST])[time_ms > 0]


def all_rows(key: Key, one: Trace) -> list[Row]:
    """Return counts and times of events."""
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


def curves(key: Key, one: Trace) -> list[Series]:
    """Return arrivals by path, ACKs, retransmissions and losses in the shown time."""
    start, end = (1000 * second for second in SHOWN_S)
    old = one.arrived[:, 1] <= LAST_OLD
    # Retransmissions of a packet of this round take the shorter path.
    again = np.isin(one.arrived[:, 1], one.resent[:, 1])
    points = dict(
        zip(
            KINDS,
            (one.arrived[old & ~again], one.arrived[~old | again], one.acked, one.resent, one.lost),
            strict=True,
        )
    )
    result = []
    for kind, pairs in points.items():
        shown = pairs[(pairs[:, 0] > start) & (pairs[:, 0] <= end)]
        x, y = shown[:, 0].round(4).tolist(), shown[:, 1].tolist()
        result.append(Series(kind, key, "time since the repair", "ms", "packet", "", x, y))
    return result


def distinguishes_loss_and_reordering(traces: Mapping[str, Mapping[str, Trace]], receiver: str) -> list[Part]:
    """Judge: no duplicate ACK in case a; in case b three for packet 0, and a fast retransmit of packet 1."""
    alone, lossy = traces["a"][receiver], traces["b"][receiver]
    for_zero = int((lossy.duplicates[:, 1] == 1).sum())
    first = lossy.resent[0, 1] if lossy.resent.size else float("nan")
    others = ", ".join(
        f"packet {CASES[case]} lost: {len(traces[case][receiver].duplicates)} duplicate ACKs, "
        f"{traces[case][receiver].timeouts.size} RTOs"
        for case in CASES
        if case.startswith("lost")
    )
    return [
        judge.exact_part(f"(a): {len(alone.duplicates)} duplicate ACKs", len(alone.duplicates) == 0),
        judge.exact_part(f"(b): {for_zero} duplicate ACKs for packet 0", for_zero == len(lossy.duplicates) == 3),
        judge.exact_part(
            f"(b): packet {first:g} retransmitted first, {lossy.recoveries.size} fast retransmits, "
            f"{lossy.timeouts.size} RTOs (other cases: {others})",
            first == 1 and lossy.recoveries.size == 1 and lossy.timeouts.size == 0,
        ),
    ]


def still_signals_loss(one: Trace) -> list[Part]:
    """Judge: in case c there are duplicate ACKs after the last packet of the longer path, and no RTO."""
    last_old = one.arrived[one.arrived[:, 1] == LAST_OLD, 0]
    after = int((one.duplicates[:, 0] > last_old[0]).sum())
    return [
        judge.exact_part(f"duplicate ACKs after packet {LAST_OLD}: {after}", after > 0),
        judge.exact_part(
            f"{one.timeouts.size} RTOs; packet 5 arrives {one.filled_ms:.1f} ms after the repair",
            one.timeouts.size == 0,
        ),
    ]


FIG6 = Exhibit(
    "das/fig6",
    "Duplicate ACKs when packets overtake others and one is lost",
    "section IV, Figs. 5 and 6",
    # One seed is enough, because nothing random affects the result.
    Setup(PAPER, 1, grids, lambda *_: 1, ASSUMED),
    find,
)
