"""Linux's TCP over a link that fails, recorded at 250 and 1000 Hz, compared with the profile ``linux-6``."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from optcp.data.axes import Axis
from optcp.scenarios.run import Run
from optcp.stats import Interval
from optcp.stats.quantiles import sample_quantile
from optcp_papers.evidence import kernel, outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp_papers.evidence.kernel_worlds import MSS_BYTES, World, worlds

NAME = "outages"
NAME_1000_HZ = "outages-1000-hz"
RUNS = {NAME: outside.DATA / "kernel_outages.json", NAME_1000_HZ: outside.DATA / "kernel_outages_1000_hz.json"}
"""Recordings of each experiment."""
SOURCES = {NAME: kernel.SOURCE, NAME_1000_HZ: "Linux 6.1, 1000 Hz"}
SEEDS = 10
"""Number of seeds: the clocks of both hosts are random, and with BBR the start of its gain cycle."""
STEP_S = 0.1
"""Interval of recorded windows."""
AFTER_S = 1.0
"""Time after the stall whose windows are averaged."""
DIGITS = {
    "stall (s)": 3,
    "new ACK (s)": 3,
    "completion (s)": 3,
    "retransmissions": 0,
    "cwnd before": 0,
    "cwnd after": 0,
}
"""Number of decimals of each figure, in the order of :meth:`Did.figures`."""


@dataclass(frozen=True)
class Did:
    """Behaviour of a flow, simulated or recorded; times in seconds from its first data.

    Attributes
    ----------
    stall_s
        Start and end of the longest time without an ACK of new data that ends after the first outage begins.
    cwnd
        Congestion window in segments, every :data:`STEP_S`.
    """

    stall_s: tuple[float, float]
    completion_s: float | None
    retransmissions: int
    cwnd: tuple[int, ...]

    def figures(self) -> list[float]:
        """Return the compared figures, NaN if undefined (:data:`DIGITS`)."""
        begin, end = self.stall_s
        before = self.cwnd[max(0, int(begin / STEP_S) - 1)] if self.cwnd else np.nan
        first = int(end / STEP_S)
        after = self.cwnd[first : first + round(AFTER_S / STEP_S)]
        mean = float(np.mean(after)) if after else np.nan
        completion = np.nan if self.completion_s is None else self.completion_s
        return [end - begin, end, completion, self.retransmissions, before, mean]


def recorded(name: str, control: str, experiment: str = NAME) -> list[Did]:
    """Return each repetition of a set-up."""
    runs = kernel.recorded(RUNS[experiment])["runs"].get(name, {}).get(control, [])
    return [
        Did(tuple(run["stall_s"]), run["completion_s"], run["retransmissions"], tuple(run["cwnd"])) for (run,) in runs
    ]


def simulated(run: Run, world: World) -> Did:
    """Return the behaviour of a run."""
    (flow,) = world.flows
    did = kernel.measured(run, kernel.GROUPS[0], world)
    begin = round((did.begin_s + flow.start_s) * 1e12)
    packets = run["packets"]
    time, seq = packets["time_ps"], packets["seq"]
    acked = (packets["event"] == "acked") & (time > begin)
    highest = np.maximum.accumulate(np.where(acked, seq, 0))
    new = acked & (np.diff(highest, prepend=0) > 0) & (seq > 1)
    ends = np.array([begin, *time[new]])
    failed = int(min(outage.start_s for outage in world.outages) * 1e12)
    stalls = [pair for pair in itertools.pairwise(ends) if pair[1] > failed]
    stall = max(stalls, key=lambda pair: pair[1] - pair[0])
    sender = run["sender"]
    grid = begin + np.arange(1, int((did.completion_s or 0) / STEP_S) + 1) * int(STEP_S * 1e12)
    windows = sender["cwnd_bytes"][np.searchsorted(sender["time_ps"], grid, side="right") - 1] // MSS_BYTES
    return Did(
        stall_s=(float(stall[0] - begin) / 1e12, float(stall[1] - begin) / 1e12),
        completion_s=did.completion_s,
        retransmissions=did.retransmissions,
        cwnd=tuple(map(int, windows)),
    )


def studies(experiment: str, seeds: int | None) -> Studies:
    """Return one study per set-up, over the congestion controls."""
    return kernel.studies_of(worlds(experiment), seeds or SEEDS)


def find(experiment: str, done: Found) -> Figures:
    """Yield median and range of each figure, with the range of the kernel."""
    for name, runs in done.items():
        world = worlds(experiment)[name]

        def figures(run: Run, world: World = world) -> list[float]:
            return simulated(run, world).figures()

        cells = runs.each(figures, Axis("quantity", tuple(DIGITS)))
        for control in kernel.controls(world):
            repetitions = [did.figures() for did in recorded(name, control, experiment)]
            for number, quantity in enumerate(DIGITS):
                ours = np.asarray(cells.at(control=control, quantity=quantity))
                theirs = [repetition[number] for repetition in repetitions]
                if theirs and np.all(np.isfinite(theirs)) and np.all(np.isfinite(ours)):
                    key = {**kernel.case(world, name, 0, control), "quantity": quantity}
                    range_of_runs = Interval(
                        sample_quantile(ours, 0.5), float(ours.min()), float(ours.max()), ours.size
                    )
                    yield key, range_of_runs, kernel.beside(key, theirs, DIGITS, SOURCES[experiment])


OUTAGES = Experiment(
    name=NAME,
    title="Linux's own TCP after an outage",
    value="ours (median)",
    interval="range of runs",
    digits=3,
    source=Runs("kernel_outages.toml", functools.partial(studies, NAME), functools.partial(find, NAME)),
    about=(
        "The profile `linux-6` with CUBIC, Reno and BBR after outages of 10 ms to 10 s, compared with Linux 6.18. The "
        "outages begin in slow start, with a full queue, in recovery or in congestion avoidance. They concern one "
        "direction or both, with or without a longer or shorter backup path, and some happen twice in a row. "
        "`papers/optcp_papers/evidence/data/kernel_outages.toml` describes the set-ups. They were recorded three times "
        "each, like the set-ups of [Linux's own TCP](#linuxs-own-tcp). `kernel_outages.json` holds every repetition.",
        "The stall is the longest time without an ACK of new data that ends after the outage begins. Its end is the "
        "column `new ACK (s)`. Times count from the first data. Windows are in segments. `before` is the last window "
        "0.1 s or more before the stall, and `after` the mean of the second after it, every 0.1 s. The timers of both "
        "hosts tick at random phases, in the kernel and here, so repetitions differ. Ours is the median of ten runs "
        "with their range. The kernel's range is in parentheses.",
    ),
)

OUTAGES_1000_HZ = Experiment(
    name=NAME_1000_HZ,
    title="Linux at 1000 Hz after an outage",
    value="ours (median)",
    interval="range of runs",
    digits=3,
    source=Runs(
        "kernel_outages_1000_hz.toml", functools.partial(studies, NAME_1000_HZ), functools.partial(find, NAME_1000_HZ)
    ),
    about=(
        "The profile `linux-6` with a `tick` of 1 ms, compared with Linux 6.1 at 1000 Hz. In the set-ups `fq-...`, "
        "the queue discipline `fq` of the sender paces each flow. CUBIC and Reno have the pacing `window` there. "
        "`papers/optcp_papers/evidence/data/kernel_outages_1000_hz.toml` describes the set-ups, "
        "`tools/recorders/kernel_uml.py` records them, and `kernel_outages_1000_hz.json` holds every repetition.",
        "That kernel runs as a process with simulated time, so packets arrive within 2 us of their time. Its five "
        "repetitions start at different phases of its clock. The figures are defined as in [Linux's own TCP after an "
        "outage](#linuxs-own-tcp-after-an-outage).",
    ),
)
