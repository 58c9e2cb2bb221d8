"""Bursts that carry a fast flow's window, by round, for figures 11 to 13."""

import functools

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Chosen, Grid, Options, Samples, Series, Settings, StudyResult
from optcp_papers.obs.paper import DIRECTION, PS, WINDOW, grid, settings

Train = NDArray[np.float64]


TIMER_S = 1e-2
"""Timer with which the flow is a fast one."""
NAME = "transfers"
SLOW_START = 1 + 1 + 2 + 4 + 8 + 16 + 32
"""Packets until the window is full: the packet that opens the connection, then windows that double."""
MOVING = 50
"""Number of bursts in a moving average."""
FIRST_ROUNDS = 5
BURSTS: list[Settings] = [{"name": "bursts", "kind": "bursts"}]
PACKETS: list[Settings] = [*BURSTS, {"name": "packets", "kind": "packets", "groups": ["file"]}]
LISTED = "one file, packet by packet"
SHOWN_S = {"beginning": (0.0, 1.5), "end": (-1.5, 0.0)}
"""Time ranges of a packet trace, in s from the first packet, or from the last one."""


def transfers(title: str, background: str, observe: list[Settings], chosen: Chosen, options: Options) -> Grid:
    """Return one combination without losses and delayed ACKs."""
    cell = functools.partial(settings, TIMER_S, background)
    return grid(title, [()], cell, {"parameters.loss_probability": "0", "observe": observe}, chosen, options)


def listed_bursts(chosen: Chosen, options: Options) -> Grid:
    """Return files with background traffic and a list of all bursts."""
    return transfers("obs, trains, background yes", "yes", BURSTS, chosen, options)


def trains(done: StudyResult) -> Samples:
    """Return the number of segments in each burst of a file that carries any, in order."""
    table, run = done.rows("bursts")
    there = table.is_("port", DIRECTION) & (table.numbers("segments") > 0)
    result = np.empty(len(done.seeds), dtype=object)
    for file in range(len(result)):
        result[file] = table.numbers("segments")[there & (run == file)]
    return Samples(result, (), done.seeds, "segments")


def by_round(train: Train) -> NDArray[np.int64]:
    """Return the number of bursts that carry segments of each round: 44 packets each, from the first full window."""
    ends = np.cumsum(train)
    edges = np.arange(SLOW_START, ends[-1] - WINDOW + 1, WINDOW)
    first = np.searchsorted(ends, edges, side="right")
    last = np.searchsorted(ends - train, edges + WINDOW, side="left")
    result: NDArray[np.int64] = last - first
    return result


def quarter_mean(train: Train, quarter: int) -> float:
    """Return the mean segments per burst in a quarter of the bursts, from 0."""
    return float(np.array_split(train, 4)[quarter].mean())


def first_mean(train: Train) -> float:
    """Return the mean segments per burst over the first rounds at full window."""
    return FIRST_ROUNDS * WINDOW / float(by_round(train)[:FIRST_ROUNDS].sum())


def rounds(train: Train) -> Series:
    """Return the bursts in each round at full window."""
    counts = by_round(train).astype(np.float64)
    x = np.arange(1.0, counts.size + 1).tolist()
    return Series("bursts per round", {}, "round at full window", "", "bursts", "", x, counts.tolist())


def sent(done: StudyResult) -> NDArray[np.int64]:
    """Return time in ps and number of each data segment of the first file, shape (n, 2)."""
    table, run = done.rows("packets")
    there = table.is_("event", "sent") & (run == 0)
    return np.column_stack([table.numbers(name)[there].astype(np.int64) for name in ("time_ps", "seq")])


def packet_trace(sent: NDArray[np.int64]) -> list[Series]:
    """Return segment numbers over the time since the first packet, for the start and the end of a file."""
    at_s = (sent[:, 0] - sent[0, 0]) / PS
    result = []
    for part, (first_s, last_s) in SHOWN_S.items():
        origin_s = 0.0 if part == "beginning" else float(at_s[-1])
        there = (at_s >= origin_s + first_s) & (at_s <= origin_s + last_s)
        x, y = at_s[there].round(6).tolist(), [float(number) for number in sent[there, 1]]
        result.append(Series("sent", {"part": part}, "time since the first packet", "s", "segment", "", x, y))
    return result
