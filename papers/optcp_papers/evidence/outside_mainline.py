"""BBR version 3 and Prague, recorded in Linux with the code of their authors, compared with ``bbr3`` and ``prague``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from optcp.data.axes import Axis
from optcp.scenarios.run import Run
from optcp.stats import Interval
from optcp.stats.quantiles import sample_quantile
from optcp.study import Study
from optcp_papers.evidence import kernel, outages, outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp_papers.evidence.kernel_worlds import BBR3, MSS_BYTES, PRAGUE, World, worlds

CONTROLS = {"bbr3-kernel": BBR3, "prague-kernel": PRAGUE}
"""Congestion control by experiment."""
RUNS = {name: outside.DATA / f"kernel_{control}.json" for name, control in CONTROLS.items()}
SOURCES = {"bbr3-kernel": "Linux 6.12 with BBR 3", "prague-kernel": "Linux 6.12 with Prague"}
SEEDS = 10
STEP_S = 0.1
SHARE_FROM_S, MARKS_FROM_S = 5.0, 2.0
"""Begin of the measured time, from the first data; it ends 0.2 s before the end of the recording."""
END_S = 0.2
SHARE, COMPLETION, STALL, NEW_ACK = "share", "completion (s)", "stall (s)", "new ACK (s)"
RETRANSMISSIONS, MAXIMUM = "retransmissions", "maximum cwnd"
MARKS, GOODPUT, WINDOW = "marks per s", "goodput (Mb/s)", "mean cwnd"
DIGITS = {
    SHARE: 3,
    COMPLETION: 3,
    STALL: 3,
    NEW_ACK: 3,
    RETRANSMISSIONS: 0,
    MAXIMUM: 0,
    MARKS: 0,
    GOODPUT: 2,
    WINDOW: 1,
}
"""Number of decimals of each figure."""
Series = dict[str, Sequence[float]]
"""Values every :data:`STEP_S` from the first data: acknowledged segments, window, and marks so far."""


def quantities(world: World) -> tuple[str, ...]:
    """Return the figures of a set-up."""
    if len(world.flows) > 1:
        return (SHARE,)
    if world.marks_above is not None:
        return (MARKS, GOODPUT, WINDOW)
    return (COMPLETION, *((STALL, NEW_ACK) if world.outages else ()), RETRANSMISSIONS, MAXIMUM)


def recorded(experiment: str, name: str) -> list[list[float]]:
    """Return the figures of each repetition."""
    world = worlds(experiment)[name]
    runs = kernel.recorded(RUNS[experiment])["runs"].get(name, {}).get(CONTROLS[experiment], [])
    return [[_recorded(world, run, quantity) for quantity in quantities(world)] for run in runs]


def _recorded(world: World, run: list[dict[str, Any]], quantity: str) -> float:
    values = {
        COMPLETION: run[0]["completion_s"],
        STALL: run[0]["stall_s"][1] - run[0]["stall_s"][0],
        NEW_ACK: run[0]["stall_s"][1],
        RETRANSMISSIONS: run[0]["retransmissions"],
        MAXIMUM: run[0]["maximum_cwnd"],
    }
    return float(values[quantity]) if quantity in values else _steady(world, run, quantity)


def _steady(world: World, flows: Sequence[Series], quantity: str) -> float:
    """Return a figure of long flows from their series."""
    begin = SHARE_FROM_S if quantity == SHARE else MARKS_FROM_S
    end = (world.until_s or 0) - END_S
    first, last = round(begin / STEP_S), round(end / STEP_S)

    def increase(series: Sequence[float]) -> float:
        return float(series[last - 1] - series[first - 1])

    acked = [increase(flow["acked"]) for flow in flows]
    if quantity == SHARE:
        return acked[0] / sum(acked)
    if quantity == MARKS:
        return increase(flows[0]["marked"]) / (end - begin)
    if quantity == GOODPUT:
        return acked[0] * MSS_BYTES * 8e-6 / (end - begin)
    return float(np.mean(flows[0]["cwnd"][first:last]))


def simulated(run: Run, world: World) -> list[float]:
    """Return the figures of a run."""
    if world.until_s:
        flows = [_series(run, group, world) for group, _ in zip(kernel.GROUPS, world.flows, strict=False)]
        return [_steady(world, flows, quantity) for quantity in quantities(world)]
    whole = kernel.measured(run, kernel.GROUPS[0], world)
    values: dict[str, float | None] = {
        COMPLETION: whole.completion_s,
        RETRANSMISSIONS: whole.retransmissions,
        MAXIMUM: whole.maximum_cwnd,
    }
    if world.outages:
        begin, end = outages.simulated(run, world).stall_s
        values |= {STALL: end - begin, NEW_ACK: end}
    return [np.nan if (value := values[quantity]) is None else value for quantity in quantities(world)]


def _series(run: Run, group: str, world: World) -> Series:
    """Return the series of a flow, as recorded for the kernel."""
    packets, sender = run["packets"], run["sender"]
    mine = packets["flow"] == f"{group}/sender/0"
    time, seq, event, ack = (packets[column][mine] for column in ("time_ps", "seq", "event", "ack"))
    data = ~ack & (seq > 0)
    begin = time[data & (event == "sent")][0]
    grid = begin + np.arange(1, int((world.until_s or 0) / STEP_S) + 1) * int(STEP_S * 1e12)
    acked, marked = event == "acked", data & (event == "marked")
    highest = np.maximum.accumulate(np.append(0, seq[acked] - 1))
    own = sender["flow"] == f"{group}/sender/0"
    windows = sender["cwnd_bytes"][own] / MSS_BYTES
    return {
        "acked": list(highest[np.searchsorted(time[acked], grid, side="right")]),
        "cwnd": list(windows[np.searchsorted(sender["time_ps"][own], grid, side="right") - 1]),
        "marked": list(np.searchsorted(time[marked], grid, side="right")),
    }


def studies(experiment: str, seeds: int | None) -> Studies:
    """Return one study per set-up."""
    control = CONTROLS[experiment]
    return {
        name: Study(
            kernel.scenario(world, control), {"control": {control: {"title": name}}}, seeds=seeds or SEEDS, title=name
        )
        for name, world in worlds(experiment).items()
    }


def find(experiment: str, done: Found) -> Figures:
    """Yield median and range of each figure, with the range of the kernel."""
    for name, runs in done.items():
        world = worlds(experiment)[name]

        def figures(run: Run, world: World = world) -> list[float]:
            return simulated(run, world)

        cells = runs.each(figures, Axis("quantity", quantities(world)))
        repetitions = recorded(experiment, name)
        for number, quantity in enumerate(quantities(world)):
            ours = np.asarray(cells.at(control=CONTROLS[experiment], quantity=quantity))
            key = {"world": name, "quantity": quantity}
            span = Interval(sample_quantile(ours, 0.5), float(ours.min()), float(ours.max()), ours.size)
            theirs = [repetition[number] for repetition in repetitions]
            yield key, span, kernel.beside(key, theirs, DIGITS, SOURCES[experiment])


def _experiment(name: str, title: str, *about: str) -> Experiment:
    file = f"kernel_{CONTROLS[name]}.toml"
    return Experiment(
        name=name,
        title=title,
        value="ours (median)",
        interval="range of runs",
        source=Runs(file, functools.partial(studies, name), functools.partial(find, name)),
        about=(
            f"`papers/optcp_papers/evidence/data/{file}` describes the set-ups. Linux 6.12 with the code of others ran "
            "as a process with simulated time at 250 Hz (`tools/recorders/queue_linux_build.sh`, `kernel_uml.py`). Its "
            "repetitions start at different phases of its clock. Ours is the median of ten runs with their range, and "
            "the kernel's range is in parentheses.",
            *about,
        ),
    )


BBR3_KERNEL = _experiment(
    "bbr3-kernel",
    "Google's BBR version 3",
    'The profile `linux-6` with `congestion = "bbr3"`, alone, after outages, and beside CUBIC. The share is a share of '
    "all acknowledged data, from 5 s on. Queues are 0.4, 1 and 4 times the product of rate and RTT. Linux waits until "
    "the window allows two segments, and sends them together, which OpTCP does not. In the set-ups `...-no-pairs` the "
    "kernel sends single segments too (`tcp_min_tso_segs` is 1). After the outage of 1 s, only ours measures the "
    "minimum RTT again, for 0.2 s, and completes later.",
)
PRAGUE_KERNEL = _experiment(
    "prague-kernel",
    "The L4S team's Prague",
    'One flow of the profile `linux-6` with `congestion = "prague"`. The queue marks above a number of packets. '
    "Figures are from 2 s on. The recorded kernel has no accurate ECN feedback: a DCTCP receiver reports marks, and "
    "the sender counts these reports.",
)
