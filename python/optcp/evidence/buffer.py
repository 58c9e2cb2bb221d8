"""How much of a drop-tail link one flow fills, by the size of the buffer."""

from __future__ import annotations

from optcp import stats
from optcp.evidence.base import Experiment, Result, Row, Setting, cells, experiment, provenance
from optcp.evidence.variants import VARIANTS
from optcp.study import Study, execute

SCENARIO = "tcp-buffer"
BUFFERS = {"1/4": 25, "1/2": 50, "1": 100}
"""Packets, by the share of the 100 packets that the link and its round trip hold."""
SEEDS = 5
RATE_BPS = 8_000_000
SECONDS = 900
"""Of the 1000 simulated ones; the first 100 are cut off."""


@experiment
class Buffer(Experiment):
    """Utilisation by a single flow."""

    name = "buffer"
    title = "One flow and the buffer in front of its bottleneck"
    value = "share of the link"
    about = (
        "One greedy flow on a drop-tail link of 8 Mb/s with a base round trip of 100 ms: 100 packets of 1000 bytes, "
        "headers included. The buffer counts the packet in transmission. The share of the link's rate that data takes, "
        "headers and retransmissions included, from 100 s to 1000 s. The scenario is `tcp-buffer`.",
        "The given figures are of a world whose product of rate and round trip is not known. ns-2.35 on our world is "
        "the like-for-like comparison.",
    )

    def run(self, setting: Setting) -> Result:
        """One row a variant and buffer."""
        wanted = {
            variant.name: cells(
                SCENARIO,
                [[*variant.settings, ("parameters.buffer", f"{packets} packets")] for packets in BUFFERS.values()],
                f"buffer: {variant.name}",
            )
            for variant in VARIANTS
        }
        seeds = tuple(range(1, 1 + (setting.seeds or SEEDS)))
        tasks = [Study(study, seeds=seeds) for study in wanted.values()]
        done = dict(zip(wanted, execute(tasks, setting.root, setting.jobs, setting.progress), strict=True))
        rows: list[Row] = []
        for variant, study in done.items():
            found: list[list[float]] = [[] for _ in BUFFERS]
            for _, runs in study:
                for values, run in zip(found, runs, strict=True):
                    load = run.series["load"]
                    sent = int(load["bytes"][load["ports"].index("R->D"), 1:].sum())
                    values.append(8 * sent / SECONDS / RATE_BPS)
            for share, values in zip(BUFFERS, found, strict=True):
                rows.append(self.row({"variant": variant, "buffer": share}, stats.mean(values)))
        return self.result(rows, provenance(SCENARIO, done))
