"""Beyond the paper: bursts that leave by size, or by timer or size, whichever comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.obs.goodput import RECOVERIES
from optcp.papers.obs.lossless import LOSSLESS
from optcp.papers.obs.paper import (
    BACKGROUND,
    PAPER,
    SEGMENT_BYTES,
    WORLD,
    Cell,
    study_of,
    transfers,
)
from optcp.papers.obs.rows import frozen, rows_of
from optcp.papers.over import Axis, curves_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.model import Key, Row, Series
    from optcp.study import Done, Grid

RUNS = 50
QUICK_RUNS = 2
NAME = "transfers"
SIZES = (1, 2, 4, 9, 22, 44, 88)
"""Bytes with which a burst leaves, in full segments; 44 are a window."""
TIMERS_S = (1e-3, 1e-2)
"""Of hybrid assembly; with which the paper's flow is a medium and a fast one."""


class Way(NamedTuple):
    """One cell.

    Attributes
    ----------
    timer_s
        Of hybrid assembly; 0 where the size alone decides.
    size
        In full segments.
    background
        "yes" or "no".
    recovery
        "reno" or "sack".
    """

    timer_s: float
    size: int
    background: str
    recovery: str

    @property
    def assembly(self) -> str:
        """Name of the policy."""
        return "hybrid" if self.timer_s else "size"

    def settings(self) -> dict[str, str]:
        """What makes the scenario this cell."""
        timer = f', timer = "{round(1e6 * self.timer_s)} us"' if self.timer_s else ""
        entry = (
            f'link = ["E", "F"], assembly = "{self.assembly}", size = "{self.size * SEGMENT_BYTES} B"{timer}, '
            'offset = "$offset", loss_probability = "$loss_probability"'
        )
        cell = Cell(self.timer_s or TIMERS_S[0], self.background, "none", self.recovery)
        return {**cell.settings(), "bursts": f"[{{ {entry} }}]"}

    def key(self) -> Key:
        """Of its rows."""
        return {
            "size_segments": self.size,
            "assembly": self.assembly,
            "timer_s": self.timer_s,
            "background": self.background,
            "recovery": self.recovery,
        }


def _cells() -> tuple[Way, ...]:
    hybrid = [
        Way(timer, size, background, recovery)
        for timer in TIMERS_S
        for background in BACKGROUND
        for recovery in RECOVERIES
        for size in SIZES
    ]
    return (*hybrid, *(Way(0, size, "yes", recovery) for recovery in RECOVERIES for size in SIZES))


CELLS = _cells()


@exhibit
class Assembly(Exhibit):
    """The paper's files over assemblers that know a size."""

    id = "obs/assembly"
    title = "Goodput and segments a burst with assembly by size and hybrid assembly"
    paper = PAPER
    where = "beyond the paper"
    paper_runs = None
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One branch a cell, with the paper's loss probability."""
        settings = {**dict(LOSSLESS), "parameters.loss_probability": "0.001"}
        return {NAME: study_of(self.id, [cell.settings() for cell in CELLS], list(settings.items()), chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """Half of the paper's files."""
        del study
        return size.of(RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Goodput and segments a burst by cell."""
        del chosen
        found = done[NAME].once(transfers)
        keys = [frozen(cell.key()) for cell in CELLS]
        goodput = rows_of("goodput_mbps", {key: found[:, place, 0] for place, key in enumerate(keys)})
        segments = rows_of("segments_per_burst", {key: found[:, place, 1] for place, key in enumerate(keys)})
        series = [*_curves(goodput, "goodput", "Mb/s"), *_curves(segments, "segments a burst", "")]
        note = (
            "Both directions have the same assembly, so that 37 ACKs of 40 B count as one segment. By size alone a "
            "flow without background would wait for its timer with each window's end: left out. `timer_s` 0: none."
        )
        return Evaluation([*goodput, *segments], [], series, [note])


def _curves(rows: list[Row], label: str, unit: str) -> list[Series]:
    """One curve over the size for all rows that differ in it alone."""
    return curves_over(rows, "size_segments", Axis("size of a burst", "segments"), Axis(label, unit))
