"""Experiment of section 5, which Figs 7 and 8 and Table 3 share: how fast protection should switch."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from optcp.papers.assume import Assumed, overrides
from optcp.papers.kit import (
    Cells,
    Choices,
    Chosen,
    Found,
    Grid,
    Options,
    Plausible,
    Setup,
    StudyResult,
    defined,
    runs_of,
)
from optcp_papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS, SOURCES, WINDOW_S, world

DELTA_MS = (0, 50, 250, 500, 1000)
DELAYS = {delta: {"parameters.switch_delay": f"{delta} ms"} for delta in DELTA_MS}
CLASSES = ("switched", "fixed")
READINGS = ("100+100", "10+10")
END_S = 10.0
FAILING_LINK = ("L1->L2", "L2->L1")
MERGE_PORT = "L5->L6"
READINGS_NOTE = (
    "The paper states 100 flows per class (100+100); the spread of its Table 3 suggests about 10 (10+10). "
    "Both interpretations are shown."
)
SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section5.toml"


def flow_readings(text: str) -> str:
    """Parse interpretations of the flow count, such as ``10+10,100+100``."""
    readings = [part.strip() for part in text.split(",")]
    for reading in readings:
        match = re.fullmatch(r"([1-9]\d*)\+([1-9]\d*)", reading)
        if not match or match[1] != match[2] or int(match[1]) % SOURCES:
            raise ValueError(
                f"expected flows per class, the same for both and a multiple of the {SOURCES} sources, "
                "for example 10+10 or 10+10,100+100"
            )
    return ", ".join(dict.fromkeys(readings))


ASSUMED = (
    *world(access_share=0.9),
    # Each interpretation becomes its own grid.
    Assumed(
        "flows",
        ", ".join(READINGS),
        flow_readings,
        plausible=Plausible(
            Choices(("10+10", "20+20", "50+50", "100+100")),
            "100 are stated; the spread of Table 3 suggests about 10",
        ),
    ),
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per interpretation of the flow count, over the switch delays."""

    def make_grid(reading: str) -> Grid:
        per_source = int(reading.partition("+")[0]) // SOURCES
        settings = {**overrides(ASSUMED, chosen), "parameters.flows_per_source": per_source}
        return options.grid(SCENARIO, settings, {"delta_ms": DELAYS}, f"gmpls section 5, {reading} flows")

    return {reading: make_grid(reading) for reading in str(chosen["flows"]).split(", ")}


SETUP = Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, 20, {"10+10": (PAPER_RUNS, 40)}), ASSUMED)


@dataclass(frozen=True)
class World:
    """Results of one interpretation of the flow count, over ``delta_ms``.

    Attributes
    ----------
    goodput
        Bytes per interval, over ``group`` (``CLASSES``) and ``time``.
    load_bps
        Load of L1->L2 in (3 s, 5 s], without axes: before the failure all combinations are equal.
    backbone_drops
        Number of packets dropped at backbone ports after 3 s and before 5 s. The failure itself drops packets at
        5 s, which are not counted.
    dead_link_drops, merge_drops
        Number of packets dropped at L1-L2 (both directions) and at L5->L6 in (5 s, 6.5 s].
    first_merge_drop_s
        Time from the switchover to the first drop at L5->L6; undefined without such a drop.
    both_classes_drop
        Whether both classes lose packets at L5->L6 within 200 ms of the switchover.
    """

    goodput: Cells
    load_bps: Cells
    backbone_drops: Cells
    dead_link_drops: Cells
    merge_drops: Cells
    first_merge_drop_s: Cells
    both_classes_drop: Cells

    @functools.cached_property
    def good(self) -> Cells:
        """Total goodput in the window of equation 5, in bytes."""
        return self.goodput.between(*WINDOW_S).total("group")

    @functools.cached_property
    def ratio(self) -> Cells:
        """Goodput ratio f(delta) = Good(delta) / Good(0) (equation 5)."""
        return defined(
            self.good / self.good.at(delta_ms=0),
            "a run without any goodput in (5 s, 6.5 s] at delta = 0: f(delta) has no meaning",
        )


def measure(done: StudyResult) -> World:
    """Evaluate the runs of an interpretation; the experiments share the result (``StudyResult.once``)."""
    drops, switch_s = done["drops"], [FAILURE_S + delta / 1000 for delta in DELTA_MS]

    def both(group: str) -> Cells:
        until = [instant + 0.2 for instant in switch_s]
        return drops.count(after=switch_s, until=until, port=MERGE_PORT, group=group) > 0

    start_s, end_s = WINDOW_S
    load = done["load"].between(3.0, FAILURE_S).at(port=FAILING_LINK[0], delta_ms=0)
    first = drops.first(after=switch_s, port=MERGE_PORT).each(lambda values: values - switch_s, "s")
    return World(
        goodput=done["goodput"].cells(),
        load_bps=load * 8 / (FAILURE_S - 3.0),
        backbone_drops=drops.count(
            after=3.0, before=FAILURE_S, port=lambda port: re.fullmatch(r"L\d+->L\d+", port) is not None
        ),
        dead_link_drops=drops.count(after=start_s, until=end_s, port=FAILING_LINK),
        merge_drops=drops.count(after=start_s, until=end_s, port=MERGE_PORT),
        first_merge_drop_s=first,
        both_classes_drop=both(CLASSES[0]) * both(CLASSES[1]),
    )


def worlds(found: Found) -> dict[str, World]:
    """Return the results of each interpretation of the flow count."""
    return {reading: done.once(measure) for reading, done in found.done.items()}
