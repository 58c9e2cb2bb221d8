"""Figures 11 to 13: how the train of a fast flow's window stays whole alone and breaks up beside other traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.paper import (
    DIRECTION,
    PAPER,
    PAPER_RUNS,
    PS,
    QUICK_RUNS,
    SEGMENT_BYTES,
    WINDOW,
    WORLD,
    Cell,
    study,
)
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, RunData, Study

TIMER_S = 1e-2
"""With which the flow is a fast one."""
NAME = "transfers"
SLOW_START = 1 + 1 + 2 + 4 + 8 + 16 + 32
"""Packets until the window is full: the one that opens the connection, then windows that double."""
MOVING = 50
"""Bursts in a moving average."""
FIRST_ROUNDS = 5
LISTED = '[{ name = "bursts", kind = "bursts" }, { name = "packets", kind = "packets" }]'
BURSTS = '[{ name = "bursts", kind = "bursts" }]'


@dataclass(frozen=True)
class Train:
    """The bursts of a file that carry its segments, in their order.

    Attributes
    ----------
    segments
        Segments in each.
    """

    segments: NDArray[np.int64]

    def by_round(self) -> NDArray[np.int64]:
        """Bursts that carry segments of each round: of every 44 packets from the first full window on."""
        ends = np.cumsum(self.segments)
        starts = ends - self.segments
        edges = np.arange(SLOW_START, ends[-1] - WINDOW + 1, WINDOW)
        first = np.searchsorted(ends, edges, side="right")
        last = np.searchsorted(starts, edges + WINDOW, side="left")
        found: NDArray[np.int64] = last - first
        return found

    def quarter_mean(self, quarter: int) -> float:
        """Mean segments a burst in a quarter of the bursts, from 0."""
        return float(np.array_split(self.segments, 4)[quarter].mean())

    def first_mean(self) -> float:
        """Mean segments a burst over the first rounds at full window."""
        return FIRST_ROUNDS * WINDOW / float(self.by_round()[:FIRST_ROUNDS].sum())

    def moving_average(self) -> NDArray[np.float64]:
        """Mean segments of each burst and those before it, 50 in all."""
        return np.convolve(self.segments, np.full(MOVING, 1 / MOVING), mode="valid")


def train(run: RunData) -> Train:
    """Read a run that observed ``bursts``."""
    rows = run.series["bursts"]
    there = (rows["port"] == list(rows["ports"]).index(DIRECTION)) & (rows["segments"] > 0)
    return Train(rows["segments"][there].astype(np.int64))


class Trains(Exhibit):
    """Files without losses and delayed ACKs, every burst of which is listed."""

    paper = PAPER
    assumed = WORLD
    background: str
    observe: str

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Study]:
        """One cell."""
        settings = (("parameters.loss_probability", "0"), ("observe", self.observe))
        title = f"obs, trains, background {self.background}"
        return {NAME: study(title, [Cell(TIMER_S, self.background)], settings, chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """As many files as in the other figures with background; alone nothing is random but the start."""
        del study
        return size.of(PAPER_RUNS, QUICK_RUNS) if self.background == "yes" else 1


def _trains(done: Done) -> list[Train]:
    return [train(run) for _, runs in done for run in runs]


def _rounds(train: Train) -> Series:
    counts = train.by_round()
    x = [float(place) for place in range(1, counts.size + 1)]
    return Series("bursts a round", {}, "round at full window", "", "bursts", "", x, [float(one) for one in counts])


@exhibit
class Fig11(Trains):
    """One file alone: its packets and its bursts."""

    id = "obs/fig11"
    title = "Packets and bursts of a single fast flow"
    where = "section IV.B, Fig. 11"
    paper_runs = 1
    background = "no"
    observe = LISTED

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Bursts a round, and the claim."""
        one = done[NAME].once(_trains)[0]
        sent_ps = done[NAME].once(_sent_ps)
        window_s = WINDOW * 8 * SEGMENT_BYTES / (float(chosen["access_mbps"]) * 1e6)
        rows = [row({}, "bursts_per_round", None, stats.mean([float(one.by_round().mean())]), "")]
        claims = judge.judge_each(self.id, {"Alone and without": {"alone": stays_whole(one, sent_ps, window_s)}})
        return Evaluation(rows, claims, [_rounds(one)])


def _sent_ps(done: Done) -> NDArray[np.int64]:
    packets = next(runs[0].series["packets"] for _, runs in done)
    sent: NDArray[np.int64] = packets["time_ps"][packets["event"] == list(packets["events"]).index("sent")]
    return sent.astype(np.int64)


def stays_whole(one: Train, sent_ps: NDArray[np.int64], window_s: float) -> list[Part]:
    """Judge: one burst in more than 90 % of the rounds, sent within the time that a window takes on the access link."""
    counts = one.by_round()
    share = 100 * float((counts == 1).mean())
    full = sent_ps[SLOW_START:]
    rounds = full[: full.size // WINDOW * WINDOW].reshape(-1, WINDOW)
    longest = float((rounds[:, -1] - rounds[:, 0]).max() / PS)
    return [
        judge.exact_part(f"one burst in {share:.1f} % of {counts.size} rounds", share > 90),
        judge.exact_part(f"a round is sent in {1e3 * longest:.2f} ms of {1e3 * window_s:.2f}", longest <= window_s),
    ]


@exhibit
class Fig12(Trains):
    """Files beside other traffic: in how many bursts the rounds travel."""

    id = "obs/fig12"
    title = "Bursts of a fast flow beside other traffic"
    where = "section IV.B, Fig. 12"
    paper_runs = 1
    background = "yes"
    observe = BURSTS

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Bursts in the first round and in the last half, and the claim."""
        del chosen
        trains = done[NAME].once(_trains)
        first, late = _first_and_late(trains)
        rows = [
            row({"rounds": "first"}, "bursts_per_round", None, stats.mean(first), ""),
            row({"rounds": "last half"}, "bursts_per_round", None, stats.mean(late), ""),
        ]
        claims = judge.judge_each(self.id, {"With background the transfer": {"with background": breaks_up(trains)}})
        return Evaluation(rows, claims, [_rounds(trains[0])])


def _first_and_late(trains: list[Train]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    counts = [one.by_round() for one in trains]
    late = [one[one.size // 2 :].mean() for one in counts]
    return np.array([float(one[0]) for one in counts]), np.array(late, dtype=np.float64)


def breaks_up(trains: list[Train]) -> list[Part]:
    """Judge: one burst in the first round of most files, more than two a round in the last half."""
    first, late = _first_and_late(trains)
    return [
        judge.share_part("one burst in the first full round", float((first == 1).sum()), first.size, 0.5),
        judge.paired_part("bursts a round in the last half, minus 2", late, np.full_like(late, 2.0), "above", ""),
    ]


@exhibit
class Fig13(Trains):
    """The same files: the moving average of segments a burst."""

    id = "obs/fig13"
    title = "Moving average of the segments a burst beside other traffic"
    where = "section IV.B, Fig. 13"
    paper_runs = 1
    background = "yes"
    observe = BURSTS

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Means of parts of the transfer, the moving average over all files, and the claim."""
        del chosen
        trains = done[NAME].once(_trains)
        parts = {
            "first rounds": [one.first_mean() for one in trains],
            "third quarter": [one.quarter_mean(2) for one in trains],
            "last quarter": [one.quarter_mean(3) for one in trains],
        }
        rows = [row({"part": part}, "segments_per_burst", None, stats.mean(of), "") for part, of in parts.items()]
        claims = judge.judge_each(self.id, {"With background the mean": {"with background": settles(trains)}})
        return Evaluation(rows, claims, [_average(trains)])


def _average(trains: list[Train]) -> Series:
    curves = [one.moving_average() for one in trains]
    shortest = min(one.size for one in curves)
    mean = np.mean([one[:shortest] for one in curves], axis=0)
    x = [float(place + MOVING) for place in range(shortest)]
    return Series("moving average", {}, "bursts", "", "segments a burst", "", x, mean.round(4).tolist())


def settles(trains: list[Train]) -> list[Part]:
    """Judge: the last quarter is as the third, and below the first rounds."""
    third, last = (np.array([one.quarter_mean(quarter) for one in trains]) for quarter in (2, 3))
    first = np.array([one.first_mean() for one in trains])
    change = 100 * (last - third) / float(third.mean())
    return [
        judge.equivalence_part("last quarter over third", change, 5.0, "%"),
        judge.paired_part("last quarter minus first rounds", last, first, "below", "segments"),
    ]
