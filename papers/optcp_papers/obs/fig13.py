"""Figure 13: moving average of segments per burst with background traffic."""

from collections.abc import Mapping

import numpy as np

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, Samples, Series, Setup, judge, rows, runs_of
from optcp_papers.obs.goodput import percent
from optcp_papers.obs.paper import PAPER, PAPER_RUNS, QUICK_RUNS, WORLD
from optcp_papers.obs.trains import MOVING, NAME, first_mean, listed_bursts, quarter_mean, trains


def find(found: Found) -> Findings:
    """Return means of parts of the transfer, the moving average over all files, and the claim."""
    files = found.only.once(trains)
    means = parts_of(files)
    measured = [
        row for part, mean in means.items() for row in rows({"segments_per_burst": mean.mean()}, key={"part": part})
    ]
    return Findings(measured, {"burst-size-settles": {"with background": settles(means)}}, [moving_average(files)])


def parts_of(files: Samples) -> dict[str, Cells]:
    """Return the mean segments per burst in parts of the transfer."""
    return {
        "first rounds": files.per_seed(first_mean),
        "third quarter": files.per_seed(lambda train: quarter_mean(train, 2)),
        "last quarter": files.per_seed(lambda train: quarter_mean(train, 3)),
    }


def moving_average(files: Samples) -> Series:
    """Return the mean segments of 50 consecutive bursts up to each burst, averaged over all files."""
    curves = [np.convolve(train, np.full(MOVING, 1 / MOVING), mode="valid") for train in files.values]
    shortest = min(curve.size for curve in curves)
    mean = np.mean([curve[:shortest] for curve in curves], axis=0)
    x = [float(place + MOVING) for place in range(shortest)]
    return Series("moving average", {}, "bursts", "", "segments per burst", "", x, mean.round(4).tolist())


def settles(means: Mapping[str, Cells]) -> list[Part]:
    """Judge: the last quarter equals the third, and is below the first rounds."""
    first, third, last = means.values()
    return [
        judge.equivalence_part("last quarter over third", percent(last, third), 5.0, "%"),
        judge.paired_part("last quarter minus first rounds", last, first, "below", "segments"),
    ]


FIG13 = Exhibit(
    "obs/fig13",
    "Moving average of the segments a burst beside other traffic",
    "section IV.B, Fig. 13",
    Setup(
        PAPER,
        1,
        lambda chosen, options: {NAME: listed_bursts(chosen, options)},
        runs_of(PAPER_RUNS, QUICK_RUNS),
        WORLD,
    ),
    find,
)
