"""Congestion controls of Linux compared with a recorded kernel."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from optcp.data.axes import Axis
from optcp.scenarios.run import Run
from optcp.study import Study
from optcp_papers.evidence import outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies

SCENARIO = "tcp-controls"
SOURCE = "Linux 6.1, recorded"
RUNS = outside.DATA / "linux_uml_runs.json"
SEEDS = 5
MSS_BYTES = 1448
NONE_LOST = 100_000
"""Beyond every transfer."""
SYN_S = 0.1
"""RTT of the SYN, after which data start."""
DIGITS = {"completion (s)": 2, "first ssthresh (segments)": 0, "second ssthresh (segments)": 0}
"""Number of decimals of each recorded figure, in the order of :func:`measured`."""


@functools.cache
def recorded() -> dict[str, Any]:
    """Return the kernel's recordings."""
    return dict(json.loads(RUNS.read_text(encoding="utf-8")))


def settings(world: Mapping[str, Any], control: str) -> dict[str, str]:
    """Return scenario overrides for a recorded set-up."""
    pairs = {
        "congestion": control,
        "slow_start": "hystart" if control == "cubic" else "standard",
        "rate": f"{world['rate_mbps']} Mbps",
        "queue": f"{world['queue']} packets",
        "segments": f"{world['segments']} segments",
        "lost": str([1 + segment for segment, _ in world.get("lost", [])] or [NONE_LOST]),
    }
    if outage := world.get("outage_s"):
        pairs["down"], pairs["up"] = (f"{SYN_S + at:g} s" for at in outage)
    return {f"parameters.{name}": value for name, value in pairs.items()}


def measured(run: Run) -> list[float]:
    """Return the figures of a run: time from the first data to the ACK of the last, and the first thresholds."""
    segments = int(run.cell["parameters.segments"].removesuffix(" segments"))
    sent, acked = (run["packets"].where(event=event) for event in ("sent", "acked"))
    begin = sent["time_ps"][~sent["ack"] & (sent["seq"] > 0)][0]
    ends = acked["time_ps"][acked["seq"] > segments]
    completion = float(ends[0] - begin) / 1e12 if len(ends) else np.nan
    thresholds = np.floor(run["sender"]["ssthresh_bytes"] / MSS_BYTES)
    thresholds = thresholds[np.isfinite(thresholds)]
    changed = thresholds[np.insert(np.diff(thresholds) != 0, 0, values=True)] if len(thresholds) else thresholds
    return [completion, *changed.tolist(), np.nan, np.nan][: len(DIGITS)]


def beside(key: Mapping[str, str], values: Sequence[float]) -> outside.Figure:
    """Return the range of the repetitions, each plus or minus half a unit of its last digit."""
    low, high = (f"{value:.{DIGITS[key['figure']]}f}" for value in (min(values), max(values)))
    text = low if low == high else f"{low} to {high}"
    return outside.Figure(SOURCE, "controls", key, text, outside.printed_range(low)[0], outside.printed_range(high)[1])


def studies(seeds: int | None) -> Studies:
    """Return every recorded set-up and congestion control."""
    cases = {
        f"{world}, {control}": settings(recorded()["worlds"][world], control)
        for world, by_control in recorded()["runs"].items()
        for control in by_control
    }
    return {"all": Study(SCENARIO, {"case": cases}, seeds=seeds or SEEDS)}


def find(done: Found) -> Figures:
    """Yield each figure of a set-up and control that both the kernel and OpTCP have."""
    found = done["all"].each(measured, Axis("figure", tuple(DIGITS)))
    for at, ours in found.mean():
        world, control = at["case"].split(", ")
        key = {"world": world, "control": control, "figure": at["figure"]}
        place = list(DIGITS).index(at["figure"])
        theirs = [[run["completion_s"], *run["ssthresh"]] for run in recorded()["runs"][world][control]]
        if ours.n and all(len(run) > place for run in theirs):
            yield key, ours, beside(key, [run[place] for run in theirs])


CONTROLS = Experiment(
    name="controls",
    title="Congestion controls of Linux",
    value="ours",
    digits=2,
    source=Runs(SCENARIO, studies, find),
    about=(
        "One flow alone with the profile `linux-6`, after a SYN exchange, with each congestion control in turn; slow "
        "start is HyStart for CUBIC only. A kernel, Linux 6.1 as a process, sent the same segments over the same link "
        "in real time, three to nine times. `tools/recorders/linux_uml_runs.py` describes the method and contains the "
        "set-ups. Completion is measured from the first data to the ACK of the last. The receiver acknowledges every "
        "segment, like the recorded one. The scenario is `tcp-controls`.",
        "The recorded figure is the range of all repetitions. It is wide in `full-queue`, and for Illinois and "
        "Westwood+, where a millisecond decides: agreement there is weak evidence. Elsewhere most transfers of the "
        "kernel end one or two per cent later. Its RTTs may have been 1 to 2 ms longer, which was not measured.",
        "The kernel's clock for Westwood+ ticked every 10 ms; here it ticks every 4 ms, the kernel's own default. "
        "With ticks of 10 ms, the simulated ACKs of `one-loss` give the recorded threshold of 5 for most phases of "
        "the clock. The ACKs of `timeout` give 4 or 7 instead of 2. This is not explained, nor why CUBIC is faster "
        "after a timeout there and the others slower. Illinois interprets jitter as a queue; whether this slows it "
        "down in `growth` was not tested.",
        "H-TCP, Hybla, Veno, BIC, YeAH, NV, LP and CDG were recorded later, on a slower machine. Packets were late by "
        "0.3 to 0.5 ms on average, like the others. They were late by 1 ms and more in much of `full-queue`, and in "
        "`growth` when Hybla sends hundreds of segments together. That machine affects the figures there. Hybla's "
        "first windows, 4 and then 76 segments, show that its rho was 34 eighths, so the SYN took at least 106.25 ms. "
        "With such a delay its simulated threshold in `one-loss` is 272. Veno interprets 3 ms as three segments of "
        "103, which decides between 4/5 and a half in `growth`. CDG backs off at random: in runs with a first "
        "threshold of 14 it did at 20 segments, in its second round trip.",
        "In `timeout` the windows of every control of the kernel, including the earlier recordings, lag by 0.2 to 0.4 "
        "s. The kernel's second RTO fires later, and the window stays at two segments for one more round trip. This "
        "does not depend on the control, and explains the differences of H-TCP, BIC and YeAH.",
        "LP equals Reno in all recordings. The delay that it compares starts at random in the kernel, and exceeds its "
        "32 bits for seven of eight pairs of hosts. LP then never detects congestion. With timestamps that start at "
        "zero (`tcp_timestamps = 2`, not stored) the same kernel took 4.2 and 25.4 s for `no-loss`, and a minute for "
        "`timeout`. Its estimate of the other clock's rate makes it treat normal delays as congestion. Here LP "
        "follows its paper and yields to its own queue; it does not finish `full-queue` in 20 s.",
    ),
)
