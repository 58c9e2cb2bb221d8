"""The rate of one flow over a line that loses packets, against the square-root law and ns-2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from optcp import stats
from optcp.evidence.base import Experiment, Result, Row, Setting, cells, experiment, provenance
from optcp.evidence.variants import VARIANTS
from optcp.study import Study, execute

if TYPE_CHECKING:
    from optcp.study import Done, Grid

SCENARIO = "tcp-loss"
LOSSES = ("independent", "periodic")
ACKS = ("every-packet", "delayed")
STOPS_S = {"0.0001": 4000, "0.0003": 3000, "0.001": 2000, "0.003": 2000, "0.01": 2000}
"""Simulated seconds by probability: rarer losses need longer runs for as many of them."""
WARM_UP = 0.1
"""Share of a run that is cut off at its start."""
SEEDS = 20
PERIODIC_SEEDS = 3
"""Nothing but a clock's phase is random there."""
MSS_BYTES = 1000
ROUND_TRIP_S = 0.1 + (1040 + 40) * 8 / 1e9
"""Propagation both ways, and the transmission of a segment and of its ACK."""

Key = dict[str, str]


def studies() -> dict[str, Grid]:
    """One study for each variant, kind of loss and kind of ACK; its branches are the probabilities."""
    found = {}
    for variant in VARIANTS:
        for ack in ACKS:
            for loss in LOSSES:
                name = f"{variant.name}, {ack}, {loss}"
                common = [*variant.settings, ("parameters.ack", ack), ("parameters.loss", loss)]
                settings = [
                    [
                        *common,
                        ("parameters.probability", probability),
                        ("parameters.interval", f"{WARM_UP * stop_s:g} s"),
                        ("stop", f"{stop_s} s"),
                    ]
                    for probability, stop_s in STOPS_S.items()
                ]
                found[name] = cells(SCENARIO, settings, f"loss: {name}")
    return found


def run_studies(setting: Setting) -> dict[str, Done]:
    """Run them all."""
    wanted = studies()
    tasks = [Study(study, seeds=tuple(range(1, 1 + seeds_of(name, setting)))) for name, study in wanted.items()]
    return dict(zip(wanted, execute(tasks, setting.root, setting.jobs, setting.progress), strict=True))


def seeds_of(study: str, setting: Setting) -> int:
    """How many runs a cell of a study has."""
    wanted = setting.seeds or SEEDS
    return min(wanted, PERIODIC_SEEDS) if study.endswith("periodic") else wanted


def keys(name: str) -> list[Key]:
    """The key of each branch of a study."""
    variant, ack, loss = name.split(", ")
    return [{"variant": variant, "loss": loss, "ack": ack, "p": probability} for probability in STOPS_S]


def constants(name: str, done: Done) -> list[list[float]]:
    """Rate times round trip times sqrt(p), in segments: for each branch one value a seed."""
    found: list[list[float]] = [[] for _ in STOPS_S]
    for _, runs in done:
        for values, run, (probability, stop_s) in zip(found, runs, STOPS_S.items(), strict=True):
            p = float(probability)
            if name.endswith("periodic"):
                p = 1 / round(1 / p)
            received = int(run.series["goodput"]["bytes"][0, 1:].sum())
            rate = received / MSS_BYTES / ((1 - WARM_UP) * stop_s)
            values.append(rate * ROUND_TRIP_S * math.sqrt(p))
    return found


@experiment
class Loss(Experiment):
    """Constants of the square-root law, by kind of loss and probability."""

    name = "loss"
    title = "Rate over a line that loses packets"
    value = "rate * RTT * sqrt(p)"
    about = (
        "One greedy flow over a link of 1 Gb/s and a round trip of 100 ms, which holds 12 000 segments of 1000 bytes: "
        "with windows of ten to a few hundred segments only the losses limit it. The queue and the receiver's window "
        "are unlimited. Data segments are lost, ACKs are not. The scenario is `tcp-loss`.",
        "The figure is in segments. `rate` is goodput, new segments in order a second, after the first tenth of a run. "
        "Runs last 2000 to 4000 simulated seconds. `periodic` loses every n-th segment, n the whole number nearest to "
        "1/p, and p is then 1/n.",
        "The formula is the limit of small p, so it stands beside the smallest p only. The given figures state no "
        "chance error; where they are missed, the runs of ns-2.35 on this world tell whose it is.",
    )

    def run(self, setting: Setting) -> Result:
        """One row a variant, kind of ACK, kind of loss and probability."""
        done = run_studies(setting)
        rows: list[Row] = []
        for name, study in done.items():
            for key, values in zip(keys(name), constants(name, study), strict=True):
                rows.append(self.row(key, stats.mean(values)))
        return self.result(rows, provenance(SCENARIO, done))
