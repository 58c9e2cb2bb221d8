"""Utilisation of a drop-tail link by one flow, by buffer size."""

from __future__ import annotations

from optcp.study import Study
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp_papers.evidence.variants import VARIANTS

SCENARIO = "tcp-buffer"
BUFFERS = {"1/4": 25, "1/2": 50, "1": 100}
"""Buffer in packets, by its share of the 100 packets that the link holds per RTT."""
SEEDS = 5
RATE_BPS = 8_000_000
SECONDS = 900
"""Measured seconds: 1000 without the first 100."""


def studies(seeds: int | None) -> Studies:
    """Return every variant with every buffer."""
    buffers = {share: {"parameters.buffer": f"{packets} packets"} for share, packets in BUFFERS.items()}
    return {"all": Study(SCENARIO, {"variant": VARIANTS, "buffer": buffers}, seeds=seeds or SEEDS)}


def find(done: Found) -> Figures:
    """Return the utilisation by a single flow."""
    sent = done["all"]["load"].between("100 s", "1000 s").at(port="R->D")
    return (8 * sent / SECONDS / RATE_BPS).mean()


BUFFER = Experiment(
    name="buffer",
    title="One flow and the buffer in front of its bottleneck",
    value="share of the link",
    source=Runs(SCENARIO, studies, find),
    about=(
        "One greedy flow on a drop-tail link of 8 Mb/s with a base RTT of 100 ms: 100 packets of 1000 bytes, "
        "including headers. The buffer includes the packet in transmission. The figure is the share of the link rate "
        "that data use, including headers and retransmissions, from 100 s to 1000 s. The scenario is `tcp-buffer`.",
        "The product of rate and RTT of the published figures is not known. ns-2.35 in our scenario is the "
        "like-for-like comparison.",
    ),
)
