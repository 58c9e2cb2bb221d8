"""Rate of one flow on a lossy link, and cost of delayed ACKs, compared with the square-root law and ns-2."""

from __future__ import annotations

import math
from collections.abc import Mapping

from optcp.scenarios.run import Run
from optcp.study import Study
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp_papers.evidence.variants import VARIANTS

SCENARIO = "tcp-loss"
LOSSES = ("independent", "periodic")
ACKS = ("every-packet", "delayed")
STOPS_S = {"0.0001": 4000, "0.0003": 3000, "0.001": 2000, "0.003": 2000, "0.01": 2000}
"""Simulated seconds by probability: rarer losses need longer runs for the same number of losses."""
WARM_UP = 0.1
"""Share of a run that is warm-up."""
SEEDS = 20
PERIODIC_SEEDS = 3
"""Number of seeds for periodic losses, where only the phase of a clock is random."""
MSS_BYTES = 1000
ROUND_TRIP_S = 0.1 + (1040 + 40) * 8 / 1e9
"""Propagation delay both ways, and transmission times of a segment and of its ACK."""


def study(variant: str, settings: Mapping[str, str], loss: str, seeds: int) -> Study:
    """Return the study of one sender and kind of loss, over the probabilities."""
    probabilities = {
        p: {"parameters.probability": p, "parameters.interval": f"{WARM_UP * stop_s:g} s", "stop": f"{stop_s} s"}
        for p, stop_s in STOPS_S.items()
    }
    return Study(
        SCENARIO,
        {"variant": {variant: settings}, "loss": {loss: {"parameters.loss": loss}}, "p": probabilities},
        seeds=min(seeds, PERIODIC_SEEDS) if loss == "periodic" else seeds,
        title=f"{variant}, {loss} losses",
    )


def studies(seeds: int | None) -> Studies:
    """Return one study per variant, kind of ACK and kind of loss."""
    return {
        (variant, ack, loss): study(variant, {**settings, "parameters.ack": ack}, loss, seeds or SEEDS)
        for variant, settings in VARIANTS.items()
        for ack in ACKS
        for loss in LOSSES
    }


def window(run: Run) -> float:
    """Return rate times RTT, in segments."""
    stop_s = STOPS_S[run.cell["parameters.probability"]]
    received = int(run["goodput"]["bytes"][1:].sum())
    return received / MSS_BYTES / ((1 - WARM_UP) * stop_s) * ROUND_TRIP_S


def constant(run: Run) -> float:
    """Return rate times RTT times sqrt(p), in segments."""
    p = float(run.cell["parameters.probability"])
    if run.cell["parameters.loss"] == "periodic":
        p = 1 / round(1 / p)
    return window(run) * math.sqrt(p)


def find(done: Found) -> Figures:
    """Yield one constant per variant, kind of ACK, kind of loss and probability."""
    for (_, ack, _), runs in done.items():
        for key, ours in runs.each(constant).mean():
            yield {"variant": key["variant"], "loss": key["loss"], "ack": ack, "p": key["p"]}, ours


def cost(done: Found) -> Figures:
    """Yield the rate with an ACK for every segment, over the rate with delayed ACKs."""
    for (variant, ack, loss), every in done.items():
        if ack == "every-packet":
            yield from (every.each(constant) / done[variant, "delayed", loss].each(constant)).mean()


LOSS = Experiment(
    name="loss",
    title="Rate over a line that loses packets",
    value="rate * RTT * sqrt(p)",
    source=Runs(SCENARIO, studies, find),
    about=(
        "One greedy flow over a link of 1 Gb/s with an RTT of 100 ms, which holds 12 000 segments of 1000 bytes. "
        "Windows are ten to a few hundred segments, so only losses limit it. The queue and the receive window are "
        "unlimited. Data segments are lost, ACKs are not. The scenario is `tcp-loss`.",
        "The figure is in segments. `rate` is goodput, new in-order segments per second, after the first tenth of a "
        "run. Runs last 2000 to 4000 simulated seconds. `periodic` loses every n-th segment, with n the integer "
        "nearest to 1/p; p is then 1/n.",
        "The formula is the limit for small p, so it is compared with the smallest p only. The published figures "
        "state no statistical error. Where they are missed, the runs of ns-2.35 in this scenario show the reason.",
    ),
)

DELAYED_ACK = Experiment(
    name="delayed-ack",
    title="Cost of delayed ACKs",
    value="rate, every ACK / delayed",
    source=Runs(SCENARIO, studies, cost),
    about=(
        "The runs of the experiment `loss`. For each seed, the rate with an ACK for every segment is divided by the "
        "rate with delayed ACKs. The figure is the mean over the seeds. An ACK waits at most 200 ms in the profile "
        "`rfc`, 100 ms in `ns2-2.35`. A window that grows by one segment every second round trip gives the square "
        "root of two.",
        "Periodic losses lead to one cycle that repeats, in which small windows count in whole segments. In `rfc` at "
        "p = 0.01 each recovery of that cycle ends one segment below ssthresh, which makes the quotient an outlier. "
        "The rule is FlightSize and one segment (RFC 6582 section 3.2 step 3, option 1).",
    ),
)
