"""Figure 10: histograms of the segments of a flow per burst."""

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Cells, Grid, Key, Options, Part, Series, judge
from optcp_papers.obs.lossless import LOSSLESS
from optcp_papers.obs.paper import (
    ACK_TIMER,
    BACKGROUND,
    BESIDE,
    PAPER,
    QUICK_RUNS,
    WINDOW,
    WORLD,
    bursts_by_size,
    delayed_key,
    grid,
    mean_size,
    ms,
    numbers,
    settings,
)

PAPER_RUNS = 500
"""Files, section IV.B."""
MEDIUM_S, FAST_S = 1e-3, 1e-2
"""Timers with which the paper's flow is a medium and a fast one."""
AXES = (BESIDE, ACK_TIMER, numbers("timer_s", (MEDIUM_S, FAST_S)))
KINDS = ("exact", "tick")
NOTE = "Panel (h) of the figure repeats the caption of (e). As the eighth combination it must be the fast flow."


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid with a combination per panel and kind of delayed-ACK timer."""
    return {"histograms": grid("obs fig10", [AXES], settings, LOSSLESS, chosen, options)}


def find(found: Found) -> Findings:
    """Return mean and histogram of each combination, and the claims."""
    bursts = found.only.once(bursts_by_size)
    means = rows({"segments_per_burst": mean_size(bursts).mean()}, key=delayed_key)
    claims = {
        "alone-fills-bursts": {"no delayed ACK": whole_trains(bursts.at(background="no", ack_timer="none"))},
        "delayed-ack-breaks-up": {
            kind: breaks_up(bursts.at(background="no", ack_timer=kind, timer_s=FAST_S)) for kind in KINDS
        },
        "background-thins-bursts": {kind: fewer(bursts, kind) for kind in KINDS},
    }
    return Findings(means, claims, [histogram(mean.key, bursts) for mean in means], [NOTE])


def pct(bursts: Cells) -> NDArray[np.float64]:
    """Return the share of bursts of all files by number of segments from 0, in %."""
    counts = bursts.values.sum(axis=0)
    return np.concatenate([[0.0], 100 * counts / counts.sum()])


def even_pct(bursts: Cells) -> float:
    """Return the share of bursts with an even number of segments, in %."""
    return float(pct(bursts)[::2].sum())


def histogram(key: Key, bursts: Cells) -> Series:
    """Return the histogram of one combination."""
    share = pct(bursts.at(**{axis.name: key[axis.name] for axis in AXES}))
    drawn = np.flatnonzero(share)
    x, y = drawn.astype(np.float64).tolist(), [round(item, 4) for item in share[drawn].tolist()]
    return Series("histogram", key, "segments of the flow in a burst", "", "share of bursts", "%", x, y)


def whole_trains(bursts: Cells) -> list[Part]:
    """Judge: more than 90 % of the bursts carry 8 or 9 segments at 1 ms, and the whole window at 10 ms."""
    medium = float(pct(bursts.at(timer_s=MEDIUM_S))[8:10].sum())
    fast = float(pct(bursts.at(timer_s=FAST_S))[WINDOW])
    return [
        judge.exact_part(f"1 ms: {medium:.1f} % of the bursts carry 8 or 9", medium > 90),
        judge.exact_part(f"10 ms: {fast:.1f} % carry {WINDOW}", fast > 90),
    ]


def breaks_up(fast: Cells) -> list[Part]:
    """Judge: at 10 ms two segments are the most or second most frequent size, and even sizes prevail."""
    share, even = pct(fast), even_pct(fast)
    place = int((share > share[2]).sum()) + 1
    return [
        judge.exact_part(f"2 segments: {share[2]:.1f} % of the bursts, place {place}", place <= 2 and share[2] > 10),
        judge.exact_part(f"even sizes: {even:.1f} %", even > 60),
    ]


def fewer(bursts: Cells, kind: str) -> list[Part]:
    """Judge: fewer segments per burst with background at both timers and ACK modes; even sizes with delayed ACKs."""
    parts, means = [], mean_size(bursts)
    for timer in (MEDIUM_S, FAST_S):
        for ack in ("none", kind):
            alone, beside = (means.at(timer_s=timer, background=item, ack_timer=ack) for item in BACKGROUND)
            text = f"{ms(timer)}, delayed ACK {ack}: with minus without"
            parts.append(judge.paired_part(text, beside, alone, "below", "segments"))
        even = even_pct(bursts.at(timer_s=timer, background="yes", ack_timer=kind))
        parts.append(judge.exact_part(f"{ms(timer)}: even sizes {even:.1f} %", even > 80))
    return parts


FIG10 = Exhibit(
    "obs/fig10",
    "Histograms of the segments of a flow a burst",
    "section IV.B, Fig. 10",
    Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_RUNS), WORLD),
    find,
)
