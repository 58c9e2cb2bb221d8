"""First experiment of the slides, which `slides/queues`, `slides/goodput` and `slides/traces` share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.papers.assume import Assumed, built_in, ns2_world, overrides
from optcp.papers.kit import Axis, Cells, Chosen, Found, Grid, Options, Run, Setup, StudyResult, runs_of
from optcp_papers.slides import sources
from optcp_papers.slides.sources import Scale

PAPER = (
    "C. Develder, D. Colle, P. Van Heuven, S. Van den Berghe, M. Pickavet, P. Demeester: "
    "Influence of Recovery Time on TCP Behaviour (slides)"
)
PAPER_RUNS = 1
SEEDS, QUICK_SEEDS = 80, 10
DELTA_MS = (0, 50, 1000)
DELAYS = {delta: {"parameters.switch_delay": f"{delta} ms"} for delta in DELTA_MS}
CLASSES = ("switched", "fixed")
FAILURE_S, REPAIR_S, END_S = 10.0, 20.0, 30.0
ACCESS = ("A->L0", "C->L4")
"""Access link of each class, in the order of ``CLASSES``."""
MERGE_PORT = "L5->L2"
"""Port at which the switched flows join the fixed ones while the link is down."""
PORTS = (*ACCESS, "L1->L2", MERGE_PORT)
DEAD_LINK = ("L1->L2", "L2->L1")
STEP_S = 0.1
"""Interval of the load, queue and window curves, in s."""
SEEDS_NOTE = (
    "The slides show one run. The means are over 80 start times, because even 40 runs without an exception "
    "cannot put a share significantly above 95 %, which one of the claims requires."
)
OVERFLOWS = ("first", "second")
SCENARIO = Path(__file__).with_name("scenarios") / "slides-first.toml"

ASSUMED = (
    *ns2_world(access_share=0.8, link_delay_ms=10.0),
    built_in("backup", "L1-L5-L2, one link more"),
    Assumed("start", "uniform(0.1 s, 2.1 s)", str, "parameters.start"),
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over the switch delays."""
    return {"5+5": options.grid(SCENARIO, overrides(ASSUMED, chosen), {"delta_ms": DELAYS}, "slides, first set-up")}


SETUP = Setup(PAPER, PAPER_RUNS, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED)


@dataclass(frozen=True)
class World:
    """Results that the experiments need, over ``delta_ms``.

    Attributes
    ----------
    scale
        Segment size and RTTs of the scenario.
    goodput
        In-order bytes over ``group`` (``CLASSES``) and ``time`` in steps of 10 ms.
    load, queue
        Transmitted bytes, and mean packets including the one in transmission, over ``port`` (``PORTS``) and ``time``.
    cwnd
        Mean congestion window of the sources of a class in segments, over ``group`` and ``time``.
    first_merge_drop_s
        Time from the switchover to the first packet dropped at the merge port, or to the repair if there is none.
    first_fixed_loss_s
        Time from the failure to the first data packet that a fixed flow loses, or to the repair if there is none.
    dead_link_drops
        Number of packets lost on the failed link, over ``group``.
    both_classes
        Whether the first overflow of the merge port dropped packets of both classes.
    lost_per_source
        Packets lost in an overflow of the merge port per source that lost any, over ``overflow`` (``OVERFLOWS``);
        undefined without an overflow.
    retransmissions_per_rtt
        Maximum number of retransmissions within one RTT, over the first recovery of each source after the failure.
    longest_recovery_s
        Maximum duration of the first recoveries after the failure.
    timed_out
        Number of switched sources with an RTO in (10 s, 12 s].
    back_s
        Time from the failure until a switched source has delivered at its old rate for 0.5 s, mean over the sources.
    """

    scale: Scale
    goodput: Cells
    load: Cells
    queue: Cells
    cwnd: Cells
    first_merge_drop_s: Cells
    first_fixed_loss_s: Cells
    dead_link_drops: Cells
    both_classes: Cells
    lost_per_source: Cells
    retransmissions_per_rtt: Cells
    longest_recovery_s: Cells
    timed_out: Cells
    back_s: Cells


def world(found: Found) -> World:
    """Return the results, which the experiments share."""
    return found.only.once(Measure(Scale.of(found.chosen)))


@dataclass(frozen=True)
class Measure:
    """Evaluation of the runs, called by ``StudyResult.once``; equal for equal scales."""

    scale: Scale

    def __call__(self, done: StudyResult) -> World:
        """Evaluate the runs; packets are read once, one run at a time."""
        by_seed = [
            [of_sources(self.scale, run, delta / 1000) for run, delta in zip(runs, DELTA_MS, strict=True)]
            for _, runs in done
        ]
        load, queue = done["load"].cells().part(port=PORTS), done["queue"].cells("mean_packets").part(port=PORTS)
        group = Axis("group", CLASSES)
        further = {
            "cwnd": (group, load.axis("time")),
            "dead_link_drops": (group,),
            "lost_per_source": (Axis("overflow", OVERFLOWS),),
        }
        of_runs = {
            name: done.cells(np.array([[run[name] for run in runs] for runs in by_seed]), further.get(name, ()), name)
            for name in by_seed[0][0]
        }
        return World(self.scale, done["goodput"].cells().part(group=CLASSES), load, queue, **of_runs)


def of_sources(scale: Scale, run: Run, delta_s: float) -> dict[str, Any]:
    """Return the results of a run's packets and senders, by the attributes of :class:`World`."""
    packets, senders = sources.packets(run), sources.senders(run, scale.segment_bytes)
    switched, fixed = (packets.flows_of(name) for name in CLASSES)
    dropped = packets.dropped & (packets.time_s > FAILURE_S - 1e-9)
    merge = dropped & packets.at((MERGE_PORT,)) & (packets.time_s <= REPAIR_S)
    dead = dropped & packets.at(DEAD_LINK)
    of_fixed = np.isin(packets.flow, fixed)
    overflows = sources.clusters(packets.time_s[merge], packets.flow[merge], switched, scale.full_round_trip_s)
    none = [np.nan] * (len(OVERFLOWS) - len(overflows.lost_per_source))
    episodes = sources.first_recoveries(senders, packets, FAILURE_S, REPAIR_S)
    return {
        "cwnd": [senders.mean_window(flows, STEP_S, END_S) for flows in (switched, fixed)],
        "first_merge_drop_s": first_after_s(packets.time_s, merge, FAILURE_S + delta_s),
        "first_fixed_loss_s": first_after_s(packets.time_s, dropped & of_fixed & ~packets.ack, FAILURE_S),
        "dead_link_drops": [int((dead & ~of_fixed).sum()), int((dead & of_fixed).sum())],
        "both_classes": overflows.both_classes,
        "lost_per_source": [*overflows.lost_per_source, *none],
        "retransmissions_per_rtt": max((episode.most_within(scale.round_trip_s) for episode in episodes), default=0),
        "longest_recovery_s": max((episode.length_s for episode in episodes), default=0.0),
        "timed_out": sum(senders.timed_out(flow, FAILURE_S, FAILURE_S + 2) for flow in switched),
        "back_s": float(np.mean([sources.back_after_s(packets, flow, FAILURE_S, END_S) for flow in switched])),
    }


def first_after_s(time_s: NDArray[np.float64], which: NDArray[np.bool_], since_s: float) -> float:
    """Return the seconds from a time to the first event at or after it, or to the repair if there is none."""
    later = time_s[which & (time_s >= since_s - 1e-9) & (time_s < REPAIR_S)]
    return (float(later[0]) if later.size else REPAIR_S) - since_s
