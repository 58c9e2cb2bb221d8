"""The study of the slides' first set-up, which `slides/queues`, `slides/goodput` and `slides/traces` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.papers.assume import Assumed, built_in, ns2_world, overrides
from optcp.papers.base import Exhibit, over_switch_delays
from optcp.papers.slides import sources
from optcp.papers.slides.sources import Scale
from optcp.papers.windows import bytes_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.slides.sources import FirstCluster
    from optcp.study import Done, Grid, RunData

PAPER = (
    "C. Develder, D. Colle, P. Van Heuven, S. Van den Berghe, M. Pickavet, P. Demeester: "
    "Influence of Recovery Time on TCP Behaviour (slides)"
)
PAPER_RUNS = 1
SEEDS, QUICK_SEEDS = 80, 10
DELTA_MS = (0, 50, 1000)
CLASSES = ("switched", "fixed")
FAILURE_S, REPAIR_S, END_S = 10.0, 20.0, 30.0
ACCESS = ("A->L0", "C->L4")
"""The access link of each class, in the order of ``CLASSES``."""
MERGE_PORT = "L5->L2"
"""Where the switched flows join the fixed ones while the link is down."""
PORTS = (*ACCESS, "L1->L2", MERGE_PORT)
DEAD_LINK = ("L1->L2", "L2->L1")
STEP_S = 0.1
"""Interval of the load, queue and window curves."""
READING = "ns2-2001"
SEEDS_NOTE = (
    "The slides show one run. The means are over start times; 80 of them, because even 40 runs without an exception "
    "cannot put a share significantly above 95 %, which one of the claims asks for."
)
_SCENARIO = Path(__file__).with_name("scenarios") / "slides-first.toml"

ASSUMED = (
    *ns2_world(access_share=0.8, link_delay_ms=10.0),
    built_in("backup", "L1-L5-L2, one link more"),
    Assumed("start", "uniform(0.1 s, 2.1 s)", str, lambda value: [("parameters.start", str(value))]),
)


class First(Exhibit):
    """An exhibit of the shared study: subclasses say what they make of it."""

    paper = PAPER
    paper_runs = PAPER_RUNS
    assumed = ASSUMED

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study; its branches are the switch delays."""
        settings = overrides(ASSUMED, chosen)
        return {"5+5": over_switch_delays(_SCENARIO, settings, DELTA_MS, "slides, first set-up", options)}

    def seeds(self, study: str, size: Size) -> int:
        """How many start times."""
        del study
        return size.of(SEEDS, QUICK_SEEDS)

    @staticmethod
    def example(done: Mapping[str, Done]) -> list[RunData]:
        """The runs of the first seed, one a delay: the one run that a slide shows."""
        _, runs = next(iter(done["5+5"]))
        return runs


@dataclass(frozen=True)
class Measured:
    """What the exhibits need of the study; first axis: seeds, second: ``DELTA_MS``.

    Attributes
    ----------
    scale
        Segments and round trips of the world.
    goodput
        In-order bytes, int64[seeds, deltas, classes, intervals of 10 ms].
    goodput_step_s
        That interval.
    load
        Bytes transmitted, int64[seeds, deltas, PORTS, intervals of 100 ms].
    queue
        Mean packets at a port, the one in transmission included, float64 of the same shape.
    cwnd
        Mean congestion window of a class' sources at the end of each 100 ms, in segments,
        float64[seeds, deltas, classes, intervals].
    first_merge_drop_s
        From the switch to the first packet dropped at the merge port; to the repair where there is none.
    first_fixed_loss_s
        From the failure to the first data packet that a fixed flow loses; to the repair where there is none.
    dead_link_drops
        Packets lost on the failed link, int64[seeds, deltas, classes].
    clusters
        The overflows of the merge port, object[seeds, deltas].
    retransmissions_per_rtt
        The most that a source's first recovery after the failure sends within one round trip, int64[seeds, deltas].
    longest_recovery_s
        The longest of the sources' first recoveries after the failure, float64[seeds, deltas].
    timed_out
        Switched sources whose timer expires in (10 s, 12 s], int64[seeds, deltas].
    back_s
        From the failure until a switched source has delivered at its old rate for 0.5 s, mean over the sources,
        float64[seeds, deltas].
    """

    scale: Scale
    goodput: NDArray[np.int64]
    goodput_step_s: float
    load: NDArray[np.int64]
    queue: NDArray[np.float64]
    cwnd: NDArray[np.float64]
    first_merge_drop_s: NDArray[np.float64]
    first_fixed_loss_s: NDArray[np.float64]
    dead_link_drops: NDArray[np.int64]
    clusters: list[list[FirstCluster]]
    retransmissions_per_rtt: NDArray[np.int64]
    longest_recovery_s: NDArray[np.float64]
    timed_out: NDArray[np.int64]
    back_s: NDArray[np.float64]

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return int(self.goodput.shape[0])

    def bytes_in(self, start_s: float, end_s: float) -> NDArray[np.int64]:
        """Goodput in (start, end], int64[seeds, deltas, classes]; both ends are multiples of 10 ms."""
        return bytes_between(self.goodput, self.goodput_step_s, start_s, end_s)

    def coarse(self) -> NDArray[np.int64]:
        """Goodput in intervals of 100 ms, int64[seeds, deltas, classes, intervals]."""
        step = round(STEP_S / self.goodput_step_s)
        count = self.goodput.shape[-1] // step
        result: NDArray[np.int64] = (
            self.goodput[..., : count * step].reshape(*self.goodput.shape[:-1], count, step).sum(-1)
        )
        return result


def measure(chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Measured:
    """Reduce the study's stored runs; the exhibits share the result."""
    return done["5+5"].once(_Reduction(Scale.of(chosen)))


@dataclass(frozen=True)
class _Reduction:
    """What ``Done.once`` calls: equal for equal worlds, unlike a closure."""

    scale: Scale

    def __call__(self, done: Done) -> Measured:
        return _measure(self.scale, done)


def _measure(scale: Scale, done: Done) -> Measured:
    """Reduce the stored runs, one seed at a time."""
    cells = [
        [_measure_run(scale, run, delta / 1000) for run, delta in zip(runs, DELTA_MS, strict=True)] for _, runs in done
    ]

    def column(name: str) -> NDArray[np.float64]:
        return np.array([[cell[name] for cell in row] for row in cells])

    def whole(name: str) -> NDArray[np.int64]:
        return column(name).astype(np.int64)

    return Measured(
        scale=scale,
        goodput=whole("goodput"),
        goodput_step_s=cells[0][0]["goodput_step_s"],
        load=whole("load"),
        queue=column("queue"),
        cwnd=column("cwnd"),
        first_merge_drop_s=column("first_merge_drop_s"),
        first_fixed_loss_s=column("first_fixed_loss_s"),
        dead_link_drops=whole("dead_link_drops"),
        clusters=[[cell["clusters"] for cell in row] for row in cells],
        retransmissions_per_rtt=whole("retransmissions_per_rtt"),
        longest_recovery_s=column("longest_recovery_s"),
        timed_out=whole("timed_out"),
        back_s=column("back_s"),
    )


def _measure_run(scale: Scale, run: RunData, delta_s: float) -> dict[str, Any]:
    goodput, load, queue = (run.series[name] for name in ("goodput", "load", "queue"))
    packets, senders = sources.packets(run), sources.senders(run, scale.segment_bytes)
    switched, fixed = (packets.flows_of(name) for name in CLASSES)
    dropped = packets.dropped & (packets.time_s > FAILURE_S - 1e-9)
    merge = dropped & packets.at((MERGE_PORT,)) & (packets.time_s <= REPAIR_S)
    dead = dropped & packets.at(DEAD_LINK)
    of_fixed = np.isin(packets.flow, fixed)
    episodes = sources.first_recoveries(senders, packets, FAILURE_S, REPAIR_S)
    return {
        "goodput": goodput["bytes"][[goodput["groups"].index(name) for name in CLASSES]].astype(np.int64),
        "goodput_step_s": float(goodput["interval_s"]),
        "load": load["bytes"][[load["ports"].index(port) for port in PORTS]].astype(np.int64),
        "queue": queue["mean_packets"][[queue["ports"].index(port) for port in PORTS]],
        "cwnd": [senders.mean_window(flows, STEP_S, END_S) for flows in (switched, fixed)],
        "first_merge_drop_s": _first(packets.time_s, merge, FAILURE_S + delta_s),
        "first_fixed_loss_s": _first(packets.time_s, dropped & of_fixed & ~packets.ack, FAILURE_S),
        "dead_link_drops": [int((dead & ~of_fixed).sum()), int((dead & of_fixed).sum())],
        "clusters": sources.clusters(packets.time_s[merge], packets.flow[merge], switched, scale.full_round_trip_s),
        "retransmissions_per_rtt": max((episode.most_within(scale.round_trip_s) for episode in episodes), default=0),
        "longest_recovery_s": max((episode.length_s for episode in episodes), default=0.0),
        "timed_out": sum(senders.timed_out(flow, FAILURE_S, FAILURE_S + 2) for flow in switched),
        "back_s": float(np.mean([sources.back_after_s(packets, flow, FAILURE_S, END_S) for flow in switched])),
    }


def _first(time_s: NDArray[np.float64], which: NDArray[np.bool_], since_s: float) -> float:
    """Seconds from an instant to the first event at or after it; to the repair where there is none."""
    later = time_s[which & (time_s >= since_s - 1e-9) & (time_s < REPAIR_S)]
    return (float(later[0]) if later.size else REPAIR_S) - since_s
