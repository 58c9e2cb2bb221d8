"""Figure 2's single flow: goodput with and without suppression, over a scan of start times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import histogram, judge
from optcp.papers.assume import overrides
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.das.paper import (
    MSS_BYTES,
    PAPER,
    RECEIVER_AXIS,
    RECEIVERS,
    SUPPRESSING,
    WIRE_BYTES,
    WORLD,
    events,
    kbps,
    payload_bytes,
    scenario,
)
from optcp.papers.model import Series
from optcp.papers.printed import tables
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

STARTS = 500
BACKUP_STARTS = 100
QUICK_STARTS = 24
STOP_S, FAILURE_S, REPAIR_S = 11.0, 3.0, 8.0
WATCHED_S = 1.0
"""How long after a switch its consequences are looked for."""

ROUTINGS: dict[str, list[tuple[str, str]]] = {
    "both": [],
    "forward": [("parameters.direction", "forward")],
    "both, lost": [("parameters.packets", "lost")],
    "forward, lost": [("parameters.packets", "lost"), ("parameters.direction", "forward")],
}
"""Which directions are rerouted, and whether packets in flight on the link survive its failure."""
LOSSLESS = ("both", "forward")
SLOWER_START = 2
SLOWER = f", ssthresh {SLOWER_START}"
"""The other end of what fits the printed values: an initial ssthresh of 2 packets."""

TRIANGLE = "triangle, lfa"
BACKUPS: dict[str, list[tuple[str, str]]] = {
    TRIANGLE: [],
    "triangle, ti-lfa pipe, B no alternate": [
        ("parameters.repair", "ti-lfa"),
        ("routing.ttl", "pipe"),
        ("parameters.diagonal_cost", "3"),
    ],
    "triangle, ti-lfa uniform, B no alternate": [("parameters.repair", "ti-lfa"), ("parameters.diagonal_cost", "3")],
}
_SQUARE = [("parameters.diagonal_cost", "100"), ("parameters.corner_cost", "1")]
_DIAGONAL = [("parameters.corner_cost", "1")]
for _mechanism in ("remote-lfa", "ti-lfa"):
    for _ttl in ("uniform", "pipe"):
        _tunnel = [("parameters.repair", _mechanism), ("routing.ttl", _ttl)]
        BACKUPS[f"square, {_mechanism} {_ttl}"] = [*_SQUARE, *_tunnel]
        BACKUPS[f"diagonal, {_mechanism} {_ttl}"] = [*_DIAGONAL, *_tunnel]
BACKUPS["diagonal, lfa"] = _DIAGONAL
BACKUP = "backup: "

UNBROKEN = "no failure"
LOSS_PROBABILITIES = ("0", "0.001", "0.01")
UNBROKEN_SEEDS, QUICK_UNBROKEN_SEEDS = 10, 1

NEAR_PRINT = 0.05
_WHY_LEVEL = (
    "The level of goodput in congestion avoidance hangs on how far the first slow start goes and on the round trip "
    "over the backup, which are unstated; the rows with an initial ssthresh of 2 packets show how much. "
    "Both printed values are of one run."
)


@exhibit
class Fig2(Exhibit):
    """One flow over a failure from 3 s to 8 s, for 500 start times, three receivers and four models of rerouting."""

    id = "das/fig2"
    title = "Goodput of one flow over a transient failure, with and without suppression"
    paper = PAPER
    where = "section III, Fig. 2"
    paper_runs = 1
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a model of rerouting and first slow start, one a backup, and one without a failure."""
        common = overrides(self.assumed, chosen)
        world = scenario("fig2")

        def study(name: str, settings: list[tuple[str, str]], receivers: int = len(RECEIVERS)) -> Grid:
            return Grid.grid(
                world,
                [*common, *settings],
                [(RECEIVER_AXIS, list(RECEIVERS.values())[:receivers])],
                title=f"das fig2, {name}",
                digest=options.digest,
                fork=options.fork,
            )

        found = {name: study(name, settings) for name, settings in ROUTINGS.items()}
        slower = ("parameters.first_ssthresh", f"{SLOWER_START} packets")
        found |= {name + SLOWER: study(name + SLOWER, [*ROUTINGS[name], slower]) for name in LOSSLESS}
        found |= {BACKUP + name: study(name, settings, 2) for name, settings in BACKUPS.items() if name != TRIANGLE}
        unbroken = [("failures", "[]"), ("stop", "3 s"), ("observe", '[{ name = "packets", kind = "packets" }]')]
        cells = [
            {
                "losses": f'[{{ link = ["C", "R"], kind = "independent", probability = {loss} }}]'
                if loss != "0"
                else "[]",
                RECEIVER_AXIS: receiver,
            }
            for loss in LOSS_PROBABILITIES
            for receiver in RECEIVERS.values()
        ]
        found[UNBROKEN] = Grid.of_cells(
            world,
            cells,
            [*common, *unbroken],
            title=f"das fig2, {UNBROKEN}",
            digest=options.digest,
            fork=options.fork,
        )
        return found

    def seeds(self, study: str, size: Size) -> int:
        """A seed is a start time; the claim asks for 500 where the paper had one."""
        if study == UNBROKEN:
            return min(size.of(UNBROKEN_SEEDS, QUICK_UNBROKEN_SEEDS), UNBROKEN_SEEDS)
        return size.of(BACKUP_STARTS if study.startswith(BACKUP) else STARTS, QUICK_STARTS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows a (receiver, routing), the four claims, distributions, and one run over time."""
        del chosen
        measured = {name: study.once(measure) for name, study in done.items() if name != UNBROKEN}
        measured[BACKUP + TRIANGLE] = measured["both"]
        rows: list[Row] = []
        series: list[Series] = []
        for name in ROUTINGS:
            rows += _rows(name, None, measured[name])
            series += _distribution(name, measured[name])
        for name in LOSSLESS:
            rows += _rows(name, SLOWER_START, measured[name + SLOWER])
        for name in BACKUPS:
            rows += _share_rows(BACKUP + name, measured[BACKUP + name])
        series += _one_run(done["both"], measured["both"])
        told = {name: measured[name] for name in (*LOSSLESS, *(name + SLOWER for name in LOSSLESS))}
        judged = judge.judge_each(
            self.id,
            {
                "goodput-gain": {name: reaches_the_print(one) for name, one in told.items()},
                "no-false-retransmits": {name: removes_every_false_one(one) for name, one in told.items()},
                "receiver-only": {UNBROKEN: does_nothing_without_a_shorter_path(done[UNBROKEN])},
                "any-backup": {name: works_with_the_backup(measured[BACKUP + name]) for name in BACKUPS},
            },
        )
        note = (
            f"Goodput counts {WIRE_BYTES} B a packet, as ns-2's sink did; of the payload alone it is "
            f"{MSS_BYTES / WIRE_BYTES:.1%} of that (`payload_kbps`). A false retransmit is a recovery or timeout that "
            f"begins within {WATCHED_S:g} s after the repair, when nothing is lost. Rows of goodput and gain are over "
            "the starts that have one under the plain receiver. On the square no neighbour of A is a loop-free "
            "alternate, so that LFA alone has no backup there and is left out."
        )
        return Evaluation(rows, judged, series, [note])


@dataclass(frozen=True)
class Measured:
    """A study of the receivers, each array with one row a start and one column a receiver, plain and das first.

    Attributes
    ----------
    payload
        In-order bytes over the run.
    false
        Recoveries and timeouts that began within a second after the repair.
    resent
        Segments sent again, over the run.
    overtaken_at_failure, overtaken_at_repair
        Segments that came after a later one, within a second after the failure and the repair.
    """

    payload: NDArray[np.float64]
    false: NDArray[np.int64]
    resent: NDArray[np.int64]
    overtaken_at_failure: NDArray[np.int64]
    overtaken_at_repair: NDArray[np.int64]

    def hit(self) -> NDArray[np.bool_]:
        """Which starts have a false fast retransmit under the plain receiver."""
        found: NDArray[np.bool_] = self.false[:, 0] > 0
        return found

    def gain_pct(self, receiver: str) -> NDArray[np.float64]:
        """Gain over the plain receiver, of the starts that :meth:`hit` names."""
        column = list(RECEIVERS).index(receiver)
        gain: NDArray[np.float64] = 100 * (self.payload[:, column] / self.payload[:, 0] - 1)
        return gain[self.hit()]

    def best(self) -> int:
        """The start with the greatest gain of DAS, among all."""
        return int(np.argmax(self.payload[:, 1] / self.payload[:, 0]))


def measure(done: Done) -> Measured:
    """Reduce the finished runs of a study whose branches are receivers."""

    def numbers(run: RunData) -> list[int]:
        def after(event: str, instant: float) -> int:
            return events(run, event, instant, instant + WATCHED_S).size

        return [
            payload_bytes(run),
            after("recovery", REPAIR_S) + after("timeout", REPAIR_S),
            events(run, "resent").size,
            after("overtaken", FAILURE_S),
            after("overtaken", REPAIR_S),
        ]

    table = np.array([[numbers(run) for run in runs] for _, runs in done], dtype=np.int64)
    payload, false, resent, at_failure, at_repair = np.moveaxis(table, 2, 0)
    return Measured(payload.astype(np.float64), false, resent, at_failure, at_repair)


def _key(receiver: str, routing: str, ssthresh: int | None) -> Key:
    key: Key = {"receiver": receiver, "routing": routing}
    return key if ssthresh is None else {**key, "first_ssthresh": ssthresh}


def _share_rows(routing: str, measured: Measured, ssthresh: int | None = None) -> list[Row]:
    rows = []
    for receiver, false in zip(RECEIVERS, measured.false.T, strict=False):
        share = stats.wilson(int((false > 0).sum()), false.size).times(100)
        rows.append(row(_key(receiver, routing, ssthresh), "false_retransmit_share_pct", None, share, ""))
    return rows


def _rows(routing: str, ssthresh: int | None, measured: Measured) -> list[Row]:
    rows = _share_rows(routing, measured, ssthresh)
    hit = measured.hit()
    if not hit.any():
        return rows
    printed = tables("das")
    prints = {"plain": printed["single_flow_plain_kbps"], "das": printed["single_flow_das_kbps"]}
    for column, receiver in enumerate(RECEIVERS):
        key = _key(receiver, routing, ssthresh)
        payload = measured.payload[hit, column]
        wire = stats.mean(kbps(payload, STOP_S))
        rows.append(row(key, "goodput_kbps", prints.get(receiver), wire, _WHY_LEVEL))
        rows.append(row(key, "payload_kbps", None, stats.mean(kbps(payload, STOP_S, MSS_BYTES)), ""))
        if receiver in SUPPRESSING:
            gain = measured.gain_pct(receiver)
            rows.append(row(key, "gain_pct", None, stats.mean(gain), ""))
            best = stats.Interval(gain.max(), gain.max(), gain.max(), gain.size)
            paper = printed["single_flow_gain_pct"] if receiver == "das" else None
            rows.append(row(key, "gain_pct_max", paper, best, _WHY_LEVEL))
    return rows


def _distribution(routing: str, measured: Measured) -> list[Series]:
    gain = measured.gain_pct("das")
    return histogram.curves({"routing": routing, "receiver": "das"}, gain, 1, "gain") if gain.size else []


def _one_run(done: Done, measured: Measured) -> list[Series]:
    """Goodput over time of the start with the greatest gain."""
    found = []
    seed = done.seeds[measured.best()]
    runs = done.runs(seed)
    for receiver, run in zip(RECEIVERS, runs, strict=True):
        goodput = run.series["goodput"]["bytes"][0].astype(float)
        interval_s = STOP_S / goodput.size
        mbps = kbps(1, interval_s) / 1000 * goodput
        x = [round((i + 1) * interval_s, 6) for i in range(goodput.size)]
        key: Key = {"routing": "both", "receiver": receiver, "seed": seed}
        found.append(Series("one run", key, "time", "s", "goodput", "Mb/s", x, [round(y, 4) for y in mbps.tolist()]))
    return found


def reaches_the_print(measured: Measured) -> list[Part]:
    """Judge: the greatest gain, and both goodputs of its run, within 5 % of the printed ones."""
    printed = tables("das")
    best = measured.best()
    plain, das = (kbps(measured.payload[best, column], STOP_S) for column in (0, 1))
    parts = []
    for name, value, print_ in (
        ("greatest gain, %", 100 * (das / plain - 1), printed["single_flow_gain_pct"]),
        ("its run's goodput without DAS, kb/s", plain, printed["single_flow_plain_kbps"]),
        ("its run's goodput with DAS, kb/s", das, printed["single_flow_das_kbps"]),
    ):
        text = f"{name}: {value:.1f} of {measured.payload.shape[0]} starts, printed {print_:g}"
        parts.append(judge.exact_part(text, abs(value / print_ - 1) <= NEAR_PRINT))
    return parts


def removes_every_false_one(measured: Measured) -> list[Part]:
    """Judge: overtaking only after the repair; with DAS nothing is sent again and no run gets less."""
    starts = measured.payload.shape[0]
    late = int((measured.overtaken_at_failure > 0).sum())
    some = int((measured.overtaken_at_repair[:, 0] > 0).sum())
    again = int((measured.resent[:, 1] > 0).sum())
    short = (measured.payload[:, 0] - measured.payload[:, 1]) / MSS_BYTES
    less = f"{int((short > 0).sum())} of {starts}, by {max(0, short.max()):.0f} packets at most"
    return [
        judge.exact_part(f"runs with overtaking in (3 s, 4 s]: {late} of {measured.payload.size}", late == 0),
        judge.exact_part(f"starts with overtaking in (8 s, 9 s]: {some} of {starts}", some > 0),
        judge.exact_part(f"starts with a segment sent again under das: {again} of {starts}", again == 0),
        judge.exact_part(f"starts that get less with das: {less}", bool((short <= 0).all())),
    ]


def does_nothing_without_a_shorter_path(done: Done) -> list[Part]:
    """Judge: without a failure every packet of every run is the same under all receivers, with losses and without."""
    parts = []
    for first, loss in enumerate(LOSS_PROBABILITIES):
        for offset, receiver in enumerate(RECEIVERS):
            if receiver == "plain":
                continue
            same = sum(_equal(runs[first * len(RECEIVERS)], runs[first * len(RECEIVERS) + offset]) for _, runs in done)
            text = f"loss {loss}, {receiver}: {same} of {len(done.seeds)} runs equal packet by packet"
            parts.append(judge.exact_part(text, same == len(done.seeds)))
    return parts


def _equal(one: RunData, other: RunData) -> bool:
    packets = (one.series["packets"], other.series["packets"])
    return all(np.array_equal(*(packet[name] for packet in packets)) for name in ("time_ps", "event", "seq", "ack"))


def works_with_the_backup(measured: Measured) -> list[Part]:
    """Judge: false retransmits with the plain receiver for some start, none with DAS."""
    starts = measured.false.shape[0]
    plain, das = ((measured.false[:, column] > 0).sum() for column in (0, 1))
    return [
        judge.exact_part(f"starts with a false retransmit, plain: {plain} of {starts}", bool(plain > 0)),
        judge.exact_part(f"starts with a false retransmit, das: {das} of {starts}", bool(das == 0)),
    ]
