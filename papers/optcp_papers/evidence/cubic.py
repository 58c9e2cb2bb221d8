"""Average window of CUBIC on a lossy link, compared with RFC 9438 and Linux."""

from __future__ import annotations

from optcp_papers.evidence import loss
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies

SEEDS = 5
SENDERS = {
    "rfc cubic": {"parameters.profile": "rfc", "parameters.recovery": "sack", "tcp.long.congestion": "cubic"},
    "linux-6": {"parameters.profile": "linux-6", "parameters.recovery": "sack", "parameters.ack": "delayed"},
}
"""Scenario settings by sender; the second is the profile, except for keys that the scenario sets."""


def studies(seeds: int | None) -> Studies:
    """Return one study per sender and kind of loss."""
    return {
        (sender, kind): loss.study(sender, settings, kind, seeds or SEEDS)
        for sender, settings in SENDERS.items()
        for kind in loss.LOSSES
    }


def find(done: Found) -> Figures:
    """Yield the response function: one figure per sender, kind of loss and probability."""
    for runs in done.values():
        yield from runs.each(loss.window).mean()


CUBIC = Experiment(
    name="cubic",
    title="CUBIC over a line that loses packets",
    value="rate * RTT",
    digits=1,
    source=Runs(loss.SCENARIO, studies, find),
    about=(
        "The scenario of `loss`: one greedy flow with an RTT of 100 ms that only losses limit. The figure is in "
        "segments: goodput times RTT. `rfc cubic` is the profile `rfc` with SACK and CUBIC, with an ACK for every "
        "segment. `linux-6` is the profile with its delayed ACKs, except for the segment size and ssthresh that the "
        "scenario sets.",
        "RFC 9438's response function is the average window for losses at even distances. Goodput stays below it by "
        "the cost of recovery: a round trip of 8 segments without growth in a cycle of 100 at p = 0.01. The average "
        "of cwnd itself is within 10 % of it at every p (test `average_window_of_cubic_matches_the_rfc` in "
        "`crates/tcp/tests/response.rs`). Independent losses of the same probability give more, as they do for Reno.",
        "The figures of Linux state no statistical error. It is unknown whether they are of goodput or of cwnd. Their "
        "`about 200` is shown as 190 to 210.",
    ),
)
