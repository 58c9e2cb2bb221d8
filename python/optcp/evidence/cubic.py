"""CUBIC's average window over a line that loses packets, against RFC 9438 and Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import stats
from optcp.evidence.base import Experiment, Result, Row, Setting, cells, experiment, provenance
from optcp.evidence.loss import LOSSES, MSS_BYTES, PERIODIC_SEEDS, ROUND_TRIP_S, SCENARIO, STOPS_S, WARM_UP
from optcp.study import Study, execute

if TYPE_CHECKING:
    from optcp.study import Done, Grid

SEEDS = 5
CUBIC = ("tcp.long.congestion", "cubic")
SENDERS: dict[str, list[tuple[str, str]]] = {
    "rfc cubic": [("parameters.profile", "rfc"), ("parameters.recovery", "sack"), CUBIC],
    "linux-6": [("parameters.profile", "linux-6"), ("parameters.recovery", "sack"), ("parameters.ack", "delayed")],
}
"""Settings of the scenario by sender; the second is the profile as it is, but for what the scenario sets."""


def studies() -> dict[str, Grid]:
    """One study for each sender and kind of loss; its branches are the probabilities."""
    found = {}
    for sender, chosen in SENDERS.items():
        for loss in LOSSES:
            settings = [
                [
                    *chosen,
                    ("parameters.loss", loss),
                    ("parameters.probability", probability),
                    ("parameters.interval", f"{WARM_UP * stop_s:g} s"),
                    ("stop", f"{stop_s} s"),
                ]
                for probability, stop_s in STOPS_S.items()
            ]
            found[f"{sender}, {loss}"] = cells(SCENARIO, settings, f"cubic: {sender}, {loss}")
    return found


def windows(done: Done) -> list[list[float]]:
    """Rate times round trip in segments: for each branch one value a seed."""
    found: list[list[float]] = [[] for _ in STOPS_S]
    for _, runs in done:
        for values, run, stop_s in zip(found, runs, STOPS_S.values(), strict=True):
            received = int(run.series["goodput"]["bytes"][0, 1:].sum())
            values.append(received / MSS_BYTES / ((1 - WARM_UP) * stop_s) * ROUND_TRIP_S)
    return found


@experiment
class Cubic(Experiment):
    """CUBIC's response function, by kind of loss and probability."""

    name = "cubic"
    title = "CUBIC over a line that loses packets"
    value = "rate * RTT"
    digits = 1
    about = (
        "The world of `loss`: one greedy flow, a round trip of 100 ms, losses alone limit it. The figure is in "
        "segments: goodput times round trip. `rfc cubic` is the profile `rfc` with SACK and CUBIC, an ACK for every "
        "segment; `linux-6` is the profile with its delayed ACKs, but for the segment size and ssthresh that the "
        "scenario sets.",
        "RFC 9438's response function is the average window for losses at even distances. Goodput stays below it, by "
        "what a recovery costs: a round trip of 8 segments without growth in a cycle of 100 at p = 0.01. The average "
        "of cwnd itself is within 10 % of it at every p (the test `the_average_window_of_cubic_is_that_of_the_rfc` in "
        "`crates/tcp/tests/response.rs`). Independent losses of the same probability give more, as they do for Reno.",
        "The figures of Linux state no chance error, and not whether they are of goodput or of cwnd; its `about 200` "
        "stands as 190 to 210.",
    )

    def run(self, setting: Setting) -> Result:
        """One row a sender, kind of loss and probability."""
        wanted = studies()
        seeds = setting.seeds or SEEDS
        tasks = [
            Study(
                study, seeds=tuple(range(1, 1 + (min(seeds, PERIODIC_SEEDS) if name.endswith("periodic") else seeds)))
            )
            for name, study in wanted.items()
        ]
        done = dict(zip(wanted, execute(tasks, setting.root, setting.jobs, setting.progress), strict=True))
        rows: list[Row] = []
        for name, study in done.items():
            sender, loss = name.split(", ")
            for probability, values in zip(STOPS_S, windows(study), strict=True):
                rows.append(self.row({"variant": sender, "loss": loss, "p": probability}, stats.mean(values)))
        return self.result(rows, provenance(SCENARIO, done))
