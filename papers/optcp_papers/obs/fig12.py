"""Figure 12: with background traffic the window of a fast flow breaks up into several bursts."""

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
    """Return files with a list of bursts, and one with a packet trace."""
    listed = transfers("obs, trains, one file", "yes", PACKETS, chosen, options)
    return {NAME: listed_bursts(chosen, options), LISTED: listed}


def find(found: Found) -> Findings:
    """Return the bursts in the first round and in the last half, and the claim."""
    files = found.done[NAME].once(trains)
    measured = [
        *rows({"bursts_per_round": files.per_seed(first).mean()}, key={"rounds": "first"}),
        *rows({"bursts_per_round": files.per_seed(late).mean()}, key={"rounds": "last half"}),
    ]
    claims = {"background-breaks-trains": {"with background": breaks_up(files)}}
    return Findings(measured, claims, [rounds(files.values[0]), *packet_trace(found.done[LISTED].once(sent))])


def first(train: Train) -> float:
    """Return the number of bursts in the first full round."""
    return float(by_round(train)[0])


def late(train: Train) -> float:
    """Return the mean number of bursts per round in the last half."""
    counts = by_round(train)
    return float(counts[counts.size // 2 :].mean())


def breaks_up(files: Samples) -> list[Part]:
    """Judge: one burst in the first round of most files, more than two per round in the last half."""
    whole, mean = files.per_seed(first).values == 1, files.per_seed(late).values
    return [
        judge.share_part("one burst in the first full round", float(whole.sum()), whole.size, 0.5),
        judge.paired_part("bursts per round in the last half, minus 2", mean, np.full_like(mean, 2.0), "above", ""),
    ]


FIG12 = Exhibit(
    "obs/fig12",
    "Bursts of a fast flow beside other traffic",
    "section IV.B, Fig. 12",
    Setup(PAPER, 1, grids, runs_of(PAPER_RUNS, QUICK_RUNS, {LISTED: 1}), WORLD),
    find,
)
