"""Figure 11: a fast flow alone sends each window in one burst."""

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Part, Setup, judge, once, row
from optcp_papers.obs.paper import PAPER, PS, SEGMENT_BYTES, WINDOW, WORLD
from optcp_papers.obs.trains import (
    LISTED,
    PACKETS,
    SLOW_START,
    Train,
    by_round,
    packet_trace,
    rounds,
    sent,
    trains,
    transfers,
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one file alone with a packet trace."""
    return {LISTED: transfers("obs, trains, alone", "no", PACKETS, chosen, options)}


def find(found: Found) -> Findings:
    """Return the bursts per round trip, and the claim."""
    train, listed = found.only.once(trains).values[0], found.only.once(sent)
    window_s = WINDOW * 8 * SEGMENT_BYTES / (found.number("access_mbps") * 1e6)
    mean = row({}, "bursts_per_round", None, stats.mean([float(by_round(train).mean())]), "")
    claims = {"window-in-one-burst": {"alone": stays_whole(train, listed[:, 0], window_s)}}
    return Findings([mean], claims, [rounds(train), *packet_trace(listed)])


def stays_whole(train: Train, sent_ps: NDArray[np.int64], window_s: float) -> list[Part]:
    """Judge: more than 90 % of the rounds have one burst, sent within the transmission time on the access link."""
    counts = by_round(train)
    share = 100 * float((counts == 1).mean())
    full = sent_ps[SLOW_START:]
    windows = full[: full.size // WINDOW * WINDOW].reshape(-1, WINDOW)
    longest = float((windows[:, -1] - windows[:, 0]).max() / PS)
    return [
        judge.exact_part(f"one burst in {share:.1f} % of {counts.size} rounds", share > 90),
        judge.exact_part(f"a round is sent in {1e3 * longest:.2f} ms of {1e3 * window_s:.2f}", longest <= window_s),
    ]


FIG11 = Exhibit(
    "obs/fig11",
    "Packets and bursts of a single fast flow",
    "section IV.B, Fig. 11",
    Setup(PAPER, 1, grids, once, WORLD),
    find,
)
