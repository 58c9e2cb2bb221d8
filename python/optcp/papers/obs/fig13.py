"""Figure 13: the moving average of segments a burst beside other traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.trains import MOVING, NAME, Train, Trains, trains
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.judge import Part
    from optcp.study import Done


@exhibit
class Fig13(Trains):
    """The same files: the moving average of segments a burst."""

    id = "obs/fig13"
    title = "Moving average of the segments a burst beside other traffic"
    where = "section IV.B, Fig. 13"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Means of parts of the transfer, the moving average over all files, and the claim."""
        del chosen
        files = done[NAME].once(trains)
        parts = {
            "first rounds": [one.first_mean() for one in files],
            "third quarter": [one.quarter_mean(2) for one in files],
            "last quarter": [one.quarter_mean(3) for one in files],
        }
        rows = [row({"part": part}, "segments_per_burst", None, stats.mean(of), "") for part, of in parts.items()]
        claims = judge.judge_each(self.id, {"burst-size-settles": {"with background": settles(files)}})
        return Evaluation(rows, claims, [_average(files)])


def _average(files: list[Train]) -> Series:
    curves = [one.moving_average() for one in files]
    shortest = min(one.size for one in curves)
    mean = np.mean([one[:shortest] for one in curves], axis=0)
    x = [float(place + MOVING) for place in range(shortest)]
    return Series("moving average", {}, "bursts", "", "segments a burst", "", x, mean.round(4).tolist())


def settles(files: list[Train]) -> list[Part]:
    """Judge: the last quarter is as the third, and below the first rounds."""
    third, last = (np.array([one.quarter_mean(quarter) for one in files]) for quarter in (2, 3))
    first = np.array([one.first_mean() for one in files])
    change = 100 * (last - third) / float(third.mean())
    return [
        judge.equivalence_part("last quarter over third", change, 5.0, "%"),
        judge.paired_part("last quarter minus first rounds", last, first, "below", "segments"),
    ]
