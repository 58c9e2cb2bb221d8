"""Figure 11: how the train of a fast flow's window stays whole alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.obs.paper import PS, SEGMENT_BYTES, WINDOW
from optcp.papers.obs.trains import (
    LISTED,
    PACKETS,
    SLOW_START,
    Train,
    Trains,
    packet_trace,
    rounds,
    sent,
    trains,
    transfers,
)
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid


@exhibit
class Fig11(Trains):
    """One file alone: its packets and its bursts."""

    id = "obs/fig11"
    title = "Packets and bursts of a single fast flow"
    where = "section IV.B, Fig. 11"
    background = "no"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One file, packet by packet."""
        return {LISTED: transfers("obs, trains, alone", "no", PACKETS, chosen, options)}

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Bursts a round, and the claim."""
        one = done[LISTED].once(trains)[0]
        listed = done[LISTED].once(sent)
        window_s = WINDOW * 8 * SEGMENT_BYTES / (float(chosen["access_mbps"]) * 1e6)
        rows = [row({}, "bursts_per_round", None, stats.mean([float(one.by_round().mean())]), "")]
        claims = judge.judge_each(self.id, {"window-in-one-burst": {"alone": stays_whole(one, listed[:, 0], window_s)}})
        return Evaluation(rows, claims, [rounds(one), *packet_trace(listed)])


def stays_whole(one: Train, sent_ps: NDArray[np.int64], window_s: float) -> list[Part]:
    """Judge: one burst in more than 90 % of the rounds, sent within the time that a window takes on the access link."""
    counts = one.by_round()
    share = 100 * float((counts == 1).mean())
    full = sent_ps[SLOW_START:]
    by_round = full[: full.size // WINDOW * WINDOW].reshape(-1, WINDOW)
    longest = float((by_round[:, -1] - by_round[:, 0]).max() / PS)
    return [
        judge.exact_part(f"one burst in {share:.1f} % of {counts.size} rounds", share > 90),
        judge.exact_part(f"a round is sent in {1e3 * longest:.2f} ms of {1e3 * window_s:.2f}", longest <= window_s),
    ]
