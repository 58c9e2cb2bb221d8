"""The study of section 5, which Figs 7 and 8 and Table 3 share: how fast a protection switch should be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.errors import RunFailed
from optcp.papers.assume import Assumed, overrides
from optcp.papers.base import over_switch_delays
from optcp.papers.gmpls.paper import FAILURE_S, PAPER_RUNS, PS, SOURCES, WINDOW_S, world
from optcp.papers.plausible import Choices, Plausible
from optcp.papers.windows import bytes_between, shares_of_wins

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.study import Done, Grid, RunData

DELTA_MS = (0, 50, 250, 500, 1000)
CLASSES = ("switched", "fixed")
READINGS = ("100+100", "10+10")
QUICK_SEEDS = {"100+100": 20, "10+10": 40}

END_S = 10.0
FAILING_LINK = ("L1->L2", "L2->L1")
MERGE_PORT = "L5->L6"

_SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section5.toml"


def _flows(text: str) -> str:
    readings = [part.strip() for part in text.split(",")]
    for reading in readings:
        match = re.fullmatch(r"([1-9]\d*)\+([1-9]\d*)", reading)
        if not match or match[1] != match[2] or int(match[1]) % SOURCES:
            raise ValueError(
                f"expected flows a class, the same for both and a multiple of the {SOURCES} sources, "
                "for example 10+10 or 10+10,100+100"
            )
    return ", ".join(dict.fromkeys(readings))


ASSUMED = (
    *world(access_share=0.9),
    # The interpretations become studies of their own, see studies().
    Assumed(
        "flows",
        ", ".join(READINGS),
        _flows,
        lambda _: [],
        Plausible(
            Choices(("10+10", "20+20", "50+50", "100+100")),
            "100 are stated; the spread of Table 3 points to about 10",
        ),
    ),
)


def studies(chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
    """One study an interpretation of the flow count; the branches are the switch delays."""
    base = overrides(ASSUMED, chosen)
    found = {}
    for reading in str(chosen["flows"]).split(", "):
        per_source = int(reading.partition("+")[0]) // SOURCES
        settings = [*base, ("parameters.flows_per_source", str(per_source))]
        title = f"gmpls section 5, {reading} flows"
        found[reading] = over_switch_delays(_SCENARIO, settings, DELTA_MS, title, options)
    return found


def seeds(reading: str, size: Size) -> int:
    """How many seeds: the paper's 150, fewer for a quick look."""
    return size.of(PAPER_RUNS, QUICK_SEEDS.get(reading, 20))


@dataclass(frozen=True)
class Measured:
    """What the exhibits need of the study; first axis: seeds, second: ``DELTA_MS``.

    Attributes
    ----------
    interval_s
        T of equation 4.
    goodput
        Bytes, int64[seeds, deltas, classes, intervals]; interval i is (i T, (i + 1) T].
    failing_link_load_bps
        Load of L1->L2 in (3 s, 5 s], float64[seeds] (before the failure all branches are one world).
    backbone_drops
        Packets dropped at backbone ports after 3 s and before 5 s, int64[seeds, deltas]: what the failure itself drops
        at 5 s sharp is not "before the failure".
    dead_link_drops, merge_drops
        Packets dropped at L1-L2 (both directions) and at L5->L6 in (5 s, 6.5 s], int64[seeds, deltas].
    first_merge_drop_s
        From the switch to the first drop at L5->L6, float64[seeds, deltas]; to the end of the run where there is none.
    no_merge_drop
        Where there is none, bool[seeds, deltas].
    both_classes_drop
        Whether both classes lose packets at L5->L6 within 200 ms of the switch, bool[seeds, deltas].
    """

    interval_s: float
    goodput: NDArray[np.int64]
    failing_link_load_bps: NDArray[np.float64]
    backbone_drops: NDArray[np.int64]
    dead_link_drops: NDArray[np.int64]
    merge_drops: NDArray[np.int64]
    first_merge_drop_s: NDArray[np.float64]
    no_merge_drop: NDArray[np.bool_]
    both_classes_drop: NDArray[np.bool_]

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return int(self.goodput.shape[0])

    def bytes_in(self, start_s: float, end_s: float) -> NDArray[np.int64]:
        """Bytes in (start, end], int64[seeds, deltas, classes]; both ends are multiples of T."""
        return bytes_between(self.goodput, self.interval_s, start_s, end_s)

    @property
    def ratio(self) -> NDArray[np.float64]:
        """f(delta) = Good(delta) / Good(0) by equation 5, float64[seeds, deltas]."""
        total = self.bytes_in(*WINDOW_S).sum(axis=-1)
        if not total[:, 0].all():
            raise RunFailed("a run without any goodput in (5 s, 6.5 s] at delta = 0: f(delta) has no meaning")
        result: NDArray[np.float64] = total / total[:, :1]
        return result

    @property
    def best_share(self) -> NDArray[np.float64]:
        """How much of a seed each delta wins by the most goodput, float64[seeds, deltas]; ties share equally."""
        return shares_of_wins(self.bytes_in(*WINDOW_S).sum(axis=-1))


def measure(done: Done) -> Measured:
    """Reduce the stored runs, one seed at a time. Every exhibit of section 5 shares the result (``Done.once``)."""
    rows = [[_measure_run(run, delta / 1000) for run, delta in zip(runs, DELTA_MS, strict=True)] for _, runs in done]
    _, first = next(iter(done))

    def column(name: str) -> NDArray[Any]:
        return np.array([[cell[name] for cell in row] for row in rows])

    return Measured(
        interval_s=float(first[0].series["goodput"]["interval_s"]),
        goodput=column("goodput").astype(np.int64),
        failing_link_load_bps=column("load_bps")[:, 0],
        backbone_drops=column("backbone_drops"),
        dead_link_drops=column("dead_link_drops"),
        merge_drops=column("merge_drops"),
        first_merge_drop_s=column("first_merge_drop_s"),
        no_merge_drop=column("no_merge_drop"),
        both_classes_drop=column("both_classes_drop"),
    )


def _measure_run(run: RunData, delta_s: float) -> dict[str, Any]:
    goodput, load, drops = (run.series[name] for name in ("goodput", "load", "drops"))
    time_s = drops["time_ps"] / PS
    ports, groups = np.array(drops["ports"]), np.array(drops["groups"])
    backbone = np.array([re.fullmatch(r"L\d+->L\d+", port) is not None for port in ports])
    switch_s = FAILURE_S + delta_s
    window = _within(drops["time_ps"], *WINDOW_S)
    at_merge = _at(drops["port"], ports, (MERGE_PORT,))
    after = at_merge & (drops["time_ps"] > round(switch_s * PS))
    soon = at_merge & _within(drops["time_ps"], switch_s, switch_s + 0.2)
    first = time_s[after][0] if after.any() else END_S
    # What the failure itself drops, it drops at 5 s sharp: that is no longer before it.
    before_failure = (drops["time_ps"] > 3 * PS) & (drops["time_ps"] < round(FAILURE_S * PS))
    before = slice(round(3.0 / load["interval_s"]), round(5.0 / load["interval_s"]))
    return {
        "goodput": goodput["bytes"][[goodput["groups"].index(name) for name in CLASSES]],
        "load_bps": float(load["bytes"][load["ports"].index(FAILING_LINK[0]), before].sum()) * 8 / 2.0,
        "backbone_drops": int(np.sum(before_failure & _flags(backbone, drops["port"]))),
        "dead_link_drops": int(np.sum(window & _at(drops["port"], ports, FAILING_LINK))),
        "merge_drops": int(np.sum(window & at_merge)),
        "first_merge_drop_s": float(first) - switch_s,
        "no_merge_drop": not after.any(),
        "both_classes_drop": set(CLASSES) <= set(groups[drops["group"][soon]].tolist()),
    }


def _within(time_ps: NDArray[np.uint64], start_s: float, end_s: float) -> NDArray[np.bool_]:
    """Which instants lie in (start, end]."""
    return (time_ps > round(start_s * PS)) & (time_ps <= round(end_s * PS))


def _flags(of_port: NDArray[np.bool_], port: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Look a property of ports up for each drop; a run without ports has no drops."""
    return of_port[port] if of_port.size else np.zeros(port.shape, dtype=bool)


def _at(port: NDArray[np.uint32], ports: NDArray[np.str_], names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which drops happened at one of the named ports."""
    return _flags(np.isin(ports, names), port)
