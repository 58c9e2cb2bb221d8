"""Figure 10: histograms of the segments of a flow that a burst carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.papers import judge
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.lossless import LOSSLESS
from optcp.papers.obs.paper import ACKS, BACKGROUND, PAPER, QUICK_RUNS, WINDOW, WORLD, Cell, histogram, study
from optcp.papers.obs.rows import frozen, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.study import Done, Grid

NAME = "histograms"
PAPER_RUNS = 500
"""Files, section IV.B."""
MEDIUM_S, FAST_S = 1e-3, 1e-2
"""The timers with which the paper's flow is a medium and a fast one."""
CELLS = tuple(Cell(timer, background, ack) for background in BACKGROUND for ack in ACKS for timer in (MEDIUM_S, FAST_S))
KINDS = ("exact", "tick")


@dataclass(frozen=True)
class Sizes:
    """The bursts of a cell that carry segments.

    Attributes
    ----------
    bursts
        How many carry so many segments, by file and number of segments from 0; shape (files, most + 1).
    """

    bursts: NDArray[np.int64]

    def means(self) -> NDArray[np.float64]:
        """Mean segments a burst, one a file."""
        mean: NDArray[np.float64] = (self.bursts * np.arange(self.bursts.shape[1])).sum(axis=1) / self.bursts.sum(
            axis=1
        )
        return mean

    def pct(self) -> NDArray[np.float64]:
        """Share of the bursts of all files, in per cent, by number of segments."""
        share: NDArray[np.float64] = 100 * self.bursts.sum(axis=0) / self.bursts.sum()
        return share

    def even_pct(self) -> float:
        """Share of bursts with an even number of segments, in per cent."""
        return float(self.pct()[::2].sum())


@exhibit
class Fig10(Exhibit):
    """Files over a lossless network with the timers of a medium and a fast flow."""

    id = "obs/fig10"
    title = "Histograms of the segments of a flow a burst"
    paper = PAPER
    where = "section IV.B, Fig. 10"
    paper_runs = PAPER_RUNS
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study, with a branch a panel and kind of delayed-ACK timer."""
        return {NAME: study("obs fig10", CELLS, LOSSLESS, chosen, options)}

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 500 files."""
        del study
        return size.of(PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The mean and the histogram of each cell, and the claims."""
        del chosen
        found = done[NAME].once(_sizes)
        rows = rows_of("segments_per_burst", {frozen(cell.delayed_key()): one.means() for cell, one in found.items()})
        judges = {
            "alone-fills-bursts": {"no delayed ACK": whole_trains(found)},
            "delayed-ack-breaks-up": {kind: breaks_up(found, kind) for kind in KINDS},
            "background-thins-bursts": {kind: fewer(found, kind) for kind in KINDS},
        }
        series = [_series(cell, one) for cell, one in found.items()]
        note = "Panel (h) of the figure repeats the caption of (e); as the eighth combination it is the fast flow."
        return Evaluation(rows, judge.judge_each(self.id, judges), series, [note])


def _sizes(done: Done) -> dict[Cell, Sizes]:
    by_cell: list[list[NDArray[np.int64]]] = [[] for _ in CELLS]
    for _, runs in done:
        for place, run in enumerate(runs):
            sizes, bursts = histogram(run)
            by_cell[place].append(np.bincount(sizes, bursts, minlength=WINDOW + 1).astype(np.int64))
    return {cell: Sizes(_stacked(files)) for cell, files in zip(CELLS, by_cell, strict=True)}


def _stacked(files: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    most = max(one.size for one in files)
    return np.stack([np.pad(one, (0, most - one.size)) for one in files])


def _series(cell: Cell, one: Sizes) -> Series:
    pct = one.pct()
    drawn = np.flatnonzero(pct)
    return Series(
        "histogram",
        cell.delayed_key(),
        "segments of the flow in a burst",
        "",
        "share of bursts",
        "%",
        [float(size) for size in drawn],
        [round(float(pct[size]), 4) for size in drawn],
    )


def whole_trains(found: Mapping[Cell, Sizes]) -> list[Part]:
    """Judge: 8 or 9 segments at 1 ms, and the whole window at 10 ms, in more than 90 % of the bursts."""
    medium = float(found[Cell(MEDIUM_S, "no")].pct()[8:10].sum())
    fast = float(found[Cell(FAST_S, "no")].pct()[WINDOW])
    return [
        judge.exact_part(f"1 ms: {medium:.1f} % of the bursts carry 8 or 9", medium > 90),
        judge.exact_part(f"10 ms: {fast:.1f} % carry {WINDOW}", fast > 90),
    ]


def breaks_up(found: Mapping[Cell, Sizes], kind: str) -> list[Part]:
    """Judge: two segments are the most or second most frequent, and even sizes prevail, at 10 ms."""
    fast = found[Cell(FAST_S, "no", kind)]
    pct = fast.pct()
    place = int((pct > pct[2]).sum()) + 1
    return [
        judge.exact_part(f"2 segments: {pct[2]:.1f} % of the bursts, place {place}", place <= 2 and pct[2] > 10),
        judge.exact_part(f"even sizes: {fast.even_pct():.1f} %", fast.even_pct() > 60),
    ]


def fewer(found: Mapping[Cell, Sizes], kind: str) -> list[Part]:
    """Judge: fewer segments a burst with background at both timers and both ACK modes; even sizes with delayed ACKs."""
    parts = []
    for timer in (MEDIUM_S, FAST_S):
        for ack in ("none", kind):
            alone, beside = (found[Cell(timer, background, ack)].means() for background in BACKGROUND)
            text = f"{1e3 * timer:g} ms, delayed ACK {ack}: with minus without"
            parts.append(judge.paired_part(text, beside, alone, "below", "segments"))
        even = found[Cell(timer, "yes", kind)].even_pct()
        parts.append(judge.exact_part(f"{1e3 * timer:g} ms: even sizes {even:.1f} %", even > 80))
    return parts
