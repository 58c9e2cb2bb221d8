"""The bursts that a fast flow's window travels in, round by round: what figures 11 to 13 are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.papers.base import Exhibit
from optcp.papers.model import Series
from optcp.papers.obs.paper import (
    DIRECTION,
    PAPER,
    PAPER_RUNS,
    PS,
    QUICK_RUNS,
    WINDOW,
    WORLD,
    Cell,
    study,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.study import Done, Grid, RunData

TIMER_S = 1e-2
"""With which the flow is a fast one."""
NAME = "transfers"
SLOW_START = 1 + 1 + 2 + 4 + 8 + 16 + 32
"""Packets until the window is full: the one that opens the connection, then windows that double."""
MOVING = 50
"""Bursts in a moving average."""
FIRST_ROUNDS = 5
BURSTS = '[{ name = "bursts", kind = "bursts" }]'
PACKETS = '[{ name = "bursts", kind = "bursts" }, { name = "packets", kind = "packets", groups = ["file"] }]'
LISTED = "one file, packet by packet"
SHOWN_S = {"beginning": (0.0, 1.5), "end": (-1.5, 0.0)}
"""What a packet trace shows, in seconds from the first packet, or from the last one."""


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
    paper_runs = 1
    assumed = WORLD
    background = "yes"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One cell."""
        title = f"obs, trains, background {self.background}"
        return {NAME: transfers(title, self.background, BURSTS, chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """As many files as in the other figures with background; alone nothing is random but the start."""
        del study
        return size.of(PAPER_RUNS, QUICK_RUNS) if self.background == "yes" else 1


def transfers(title: str, background: str, observe: str, chosen: Mapping[str, Value], options: Options) -> Grid:
    """One cell without losses."""
    settings = (("parameters.loss_probability", "0"), ("observe", observe))
    return study(title, [Cell(TIMER_S, background)], settings, chosen, options)


def trains(done: Done) -> list[Train]:
    """The train of each file."""
    return [train(run) for _, runs in done for run in runs]


def rounds(train: Train) -> Series:
    """Bursts in each round at full window."""
    counts = train.by_round()
    x = [float(place) for place in range(1, counts.size + 1)]
    return Series("bursts a round", {}, "round at full window", "", "bursts", "", x, [float(one) for one in counts])


def sent(done: Done) -> NDArray[np.int64]:
    """When each data segment of the first file was sent, in ps, and its number, shape (n, 2)."""
    packets = next(runs[0].series["packets"] for _, runs in done)
    there = packets["event"] == list(packets["events"]).index("sent")
    return np.column_stack([packets["time_ps"][there].astype(np.int64), packets["seq"][there].astype(np.int64)])


def packet_trace(sent: NDArray[np.int64]) -> list[Series]:
    """Segment numbers over the time since the first packet, of the beginning and of the end of a file."""
    at_s = (sent[:, 0] - sent[0, 0]) / PS
    found = []
    for part, (first_s, last_s) in SHOWN_S.items():
        origin_s = 0.0 if part == "beginning" else float(at_s[-1])
        there = (at_s >= origin_s + first_s) & (at_s <= origin_s + last_s)
        x, y = at_s[there].round(6).tolist(), [float(number) for number in sent[there, 1]]
        found.append(Series("sent", {"part": part}, "time since the first packet", "s", "segment", "", x, y))
    return found
