"""Figure 12: how the train of a fast flow's window breaks up beside other traffic."""

import numpy as np

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Part, Samples, Setup, judge, rows, runs_of
from optcp_papers.obs.paper import PAPER, PAPER_RUNS, QUICK_RUNS, WORLD
from optcp_papers.obs.trains import (
    LISTED,
    NAME,
    PACKETS,
    Train,
    by_round,
    listed_bursts,
    packet_trace,
    rounds,
    sent,
    trains,
    transfers,
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Files whose bursts are listed, and one of which every packet is."""
    listed = transfers("obs, trains, one file", "yes", PACKETS, chosen, options)
    return {NAME: listed_bursts(chosen, options), LISTED: listed}


def find(found: Found) -> Findings:
    """Bursts in the first round and in the last half, and the claim."""
    files = found.done[NAME].once(trains)
    measured = [
        *rows({"bursts_per_round": files.per_seed(first).mean()}, key={"rounds": "first"}),
        *rows({"bursts_per_round": files.per_seed(late).mean()}, key={"rounds": "last half"}),
    ]
    claims = {"background-breaks-trains": {"with background": breaks_up(files)}}
    return Findings(measured, claims, [rounds(files.values[0]), *packet_trace(found.done[LISTED].once(sent))])


def first(train: Train) -> float:
    """Bursts in the first full round."""
    return float(by_round(train)[0])


def late(train: Train) -> float:
    """Mean bursts a round in the last half."""
    counts = by_round(train)
    return float(counts[counts.size // 2 :].mean())


def breaks_up(files: Samples) -> list[Part]:
    """Judge: one burst in the first round of most files, more than two a round in the last half."""
    whole, mean = files.per_seed(first).values == 1, files.per_seed(late).values
    return [
        judge.share_part("one burst in the first full round", float(whole.sum()), whole.size, 0.5),
        judge.paired_part("bursts a round in the last half, minus 2", mean, np.full_like(mean, 2.0), "above", ""),
    ]


FIG12 = Exhibit(
    "obs/fig12",
    "Bursts of a fast flow beside other traffic",
    "section IV.B, Fig. 12",
    Setup(PAPER, 1, grids, runs_of(PAPER_RUNS, QUICK_RUNS, {LISTED: 1}), WORLD),
    find,
)
