"""The background traffic as measured: its Hurst parameter, packets a second, and size of a packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import _core, stats
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.paper import PAPER, WORLD, study_of
from optcp.papers.printed import tables
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.study import Done, Grid

NAME = "background"
RUNS = 20
"""An estimate has a standard error of 0.03; their mean a fifth of that."""
QUICK_RUNS = 5
SLOTS = 8192
SLOT_MS = 250
"""Longer than the onset of self-similarity, 100 ms: estimates need that."""
GROUP = "there"


@exhibit
class Background(Exhibit):
    """The sources of one direction alone, counted by the second."""

    id = "obs/background"
    title = "The background traffic: Hurst parameter, rate and sizes"
    paper = PAPER
    where = "section IV.A"
    paper_runs = None
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The background without the file."""
        interval = f'groups = ["{GROUP}"], interval = "{SLOT_MS} ms"'
        settings = {
            "flows": "[]",
            "end_with_flows": "false",
            "stop": f"{SLOTS * SLOT_MS} ms",
            "observe": f'[{{ name = "background", kind = "datagrams", {interval} }}]',
        }
        return {NAME: study_of(self.id, [{}], list(settings.items()), chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """Enough for a mean with an interval of 0.02."""
        del study
        return size.of(RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Estimates over the seeds against what is printed, and each seed's."""
        del chosen
        found = done[NAME].once(measure)
        printed = tables("obs")
        rows = [
            row({}, "hurst", printed["background_hurst"], stats.mean(found[:, 0]), WHY_HURST),
            row({}, "packets_per_s", printed["background_packets_per_s"], stats.mean(found[:, 2]), WHY_MEAN),
            row({}, "packet_bits", printed["background_mean_packet_bits"], stats.mean(found[:, 3]), WHY_BITS),
        ]
        seeds = [float(seed) for seed in done[NAME].seeds]
        intervals = [(round(h - 1.96 * error, 4), round(h + 1.96 * error, 4)) for h, error in found[:, :2].tolist()]
        hurst = Series("hurst", {}, "seed", "", "Hurst parameter", "", seeds, found[:, 0].round(4).tolist(), intervals)
        note = (
            f"Local Whittle estimates from {SLOTS} counts of {SLOT_MS} ms, one a seed in `series` with its asymptotic "
            "interval; the row's interval is over the seeds."
        )
        return Evaluation(rows, [], [hurst], [note])


WHY_HURST = "Estimates of a superposition of renewal processes approach H from above as slots grow."
WHY_MEAN = "Long-range dependence: means over an hour still scatter."
WHY_BITS = "Sizes below 40 B and above 1500 B are not drawn."


def measure(done: Done) -> NDArray[np.float64]:
    """Hurst parameter, its standard error, packets a second and bits a packet, one row a seed."""
    found = []
    for _, (run,) in done:
        rows = run.series["background"]
        counts = rows["sent_packets"].astype(np.float64).reshape(-1)
        estimate = _core.hurst(counts)
        if estimate is None:
            raise ValueError(f"seed {run.seed}: too few packets for an estimate")
        bits = 8 * float(rows["sent_bytes"].sum()) / float(counts.sum())
        found.append(
            (
                estimate["local_whittle"],
                estimate["standard_error"],
                float(counts.sum()) / (SLOTS * SLOT_MS / 1000),
                bits,
            )
        )
    return np.array(found, dtype=np.float64)
