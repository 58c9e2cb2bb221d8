"""Figure 12: how the train of a fast flow's window breaks up beside other traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.obs.trains import LISTED, NAME, PACKETS, Train, Trains, packet_trace, rounds, sent, trains, transfers
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid


@exhibit
class Fig12(Trains):
    """Files beside other traffic: in how many bursts the rounds travel."""

    id = "obs/fig12"
    title = "Bursts of a fast flow beside other traffic"
    where = "section IV.B, Fig. 12"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """Files whose bursts are listed, and one of which every packet is."""
        listed = transfers("obs, trains, one file", "yes", PACKETS, chosen, options)
        return {**super().studies(chosen, options), LISTED: listed}

    def seeds(self, study: str, size: Size) -> int:
        """A packet trace is of one file."""
        return 1 if study == LISTED else super().seeds(study, size)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Bursts in the first round and in the last half, and the claim."""
        del chosen
        files = done[NAME].once(trains)
        first, late = _first_and_late(files)
        rows = [
            row({"rounds": "first"}, "bursts_per_round", None, stats.mean(first), ""),
            row({"rounds": "last half"}, "bursts_per_round", None, stats.mean(late), ""),
        ]
        claims = judge.judge_each(self.id, {"background-breaks-trains": {"with background": breaks_up(files)}})
        return Evaluation(rows, claims, [rounds(files[0]), *packet_trace(done[LISTED].once(sent))])


def _first_and_late(files: list[Train]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    counts = [one.by_round() for one in files]
    late = [one[one.size // 2 :].mean() for one in counts]
    return np.array([float(one[0]) for one in counts]), np.array(late, dtype=np.float64)


def breaks_up(files: list[Train]) -> list[Part]:
    """Judge: one burst in the first round of most files, more than two a round in the last half."""
    first, late = _first_and_late(files)
    return [
        judge.share_part("one burst in the first full round", float((first == 1).sum()), first.size, 0.5),
        judge.paired_part("bursts a round in the last half, minus 2", late, np.full_like(late, 2.0), "above", ""),
    ]
