"""The study of section 7, which Figs 15 and 16, Table 6 and the text share: what follows the repair of the link."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.errors import RunFailed
from optcp.papers import judge
from optcp.papers.assume import built_in, overrides
from optcp.papers.gmpls import section
from optcp.papers.gmpls.paper import PAPER_RUNS, PS, REPAIR_S, world
from optcp.papers.gmpls.section import Cells, Section
from optcp.papers.gmpls.section6 import D_MS, backup
from optcp.papers.printed import tables
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.judge import Part
    from optcp.papers.model import Key
    from optcp.study import Done, RunData

STRATEGIES = ("none", "electrical", "optical", "optical exact")
"""What follows the repair: "optical" is what the paper's simulations did, "optical exact" the rule behind it."""
REVERT = {"none": "none", "electrical": "electrical", "optical": "optical-emulated", "optical exact": "optical"}
"""What the scenario file calls them."""
NONE, ELECTRICAL, OPTICAL, EXACT = range(len(STRATEGIES))

DELTA_MS = 5
WINDOW_S = (10.0, 11.5)
"""The window of Figs 15 and 16 and of Table 6."""
END_S = 12.0
GRID = "d x strategy"
LOST_NOTE = "The figure is lost from the text: nothing is printed to compare with, only what the text says of it."
OPTICAL_NOTE = (
    '"optical" is the emulation that the paper\'s simulations used: at the repair both directions switch back, and one '
    "propagation delay of L1-L2 later the last link of the backup fails in each. "
    '"optical exact" discards from the first packet on the restored path on.'
)

SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section7.toml"

ASSUMED = (
    *world(access_share=0.8),
    built_in("backup", "d split evenly over L1-L4, L4-L5 and L5-L2"),
    built_in("switch_delay_ms", str(DELTA_MS)),
)

PLACES = ("A->L0", "L2->L3", "L1->L0", "L3->B", "elsewhere", "discarded at L2", "discarded at L1")
"""Where packets are lost after the repair: ports whose queue is full, and what the merging nodes do not take."""


def study(
    chosen: Mapping[str, Value],
    options: Options,
    title: str,
    cells: Sequence[tuple[int, str]],
    settings: Sequence[tuple[str, str]] = (),
) -> Grid:
    """Branches for pairs of d in milliseconds and strategy; the same seeds draw the same in every study made here."""
    branches = [{**backup(d), "parameters.revert": REVERT[strategy]} for d, strategy in cells]
    base = [*overrides(ASSUMED, chosen), ("parameters.switch_delay", f"{DELTA_MS} ms"), *settings]
    return Grid.of_cells(SCENARIO, branches, base, title=title, digest=options.digest, fork=options.fork)


class Section7(Section):
    """An exhibit of the shared study: subclasses say what they make of it."""

    assumed = ASSUMED
    quick_seeds = 12

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The 24 branches that all exhibits of section 7 share."""
        cells = [(d, strategy) for d in D_MS for strategy in STRATEGIES]
        return {GRID: study(chosen, options, "gmpls section 7", cells, [("stop", f"{END_S:g} s")])}

    def context(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Context:
        """What tables and judgements need."""
        return Context.of(done[GRID].once(measure), chosen, self.changed(chosen))


@dataclass(frozen=True)
class Measured(Cells):
    """What the exhibits need of the study; axes of the goodput: seeds, d, strategies, intervals.

    Attributes
    ----------
    drops
        Packets lost in (10 s, 11.5 s], by ``PLACES``, int64[seeds, d, strategies, places].
    first_drops
        The same in (10 s, 10.5 s].
    overlap_drops
        The same in (10 s, 10 s + d + 200 ms].
    arriving_bytes
        What the backup's last port L5->L2 sent in (9 s, 10 s], float64[seeds, d].
    """

    window_s = WINDOW_S
    drops: NDArray[np.int64]
    first_drops: NDArray[np.int64]
    overlap_drops: NDArray[np.int64]
    arriving_bytes: NDArray[np.float64]

    def ratio(self, optical: int = OPTICAL) -> NDArray[np.float64]:
        """f(d) = Good(optical, d) / Good(electrical, d), float64[seeds, d]."""
        good = self.good()
        return optical_over_electrical(good[..., optical], good[..., ELECTRICAL])


class Context(section.Context[Measured]):
    """What tables and judgements need; cells are d and strategy, by indices."""

    curve_s = (REPAIR_S, END_S)
    shown_s = (9.0, END_S)

    def key(self, *cell: int) -> Key:
        """Key of the rows and curves of one cell, by indices."""
        d, strategy = cell
        return {"d_ms": D_MS[d], "strategy": STRATEGIES[strategy]}


def optical_over_electrical(optical: NDArray[np.int64], electrical: NDArray[np.int64]) -> NDArray[np.float64]:
    """Goodput of the optical over that of the electrical switch-back, seed by seed.

    Raises
    ------
    RunFailed
        If an electrical run has no goodput at all.
    """
    if not electrical.all():
        raise RunFailed("a run without any goodput in the window after an electrical switch-back: f(d) has no meaning")
    result: NDArray[np.float64] = optical / electrical
    return result


def better_share_parts(context: Context, lengths: Sequence[int]) -> list[Part]:
    """SHARE of runs in which optical is better against the printed one, for each d in milliseconds."""
    f, printed = context.measured.ratio(), tables("gmpls")["table6"]["opt_better_pct"]
    return [
        judge.printed_share_part(
            f"optical is better, d = {d} ms",
            int((f[:, D_MS.index(d)] > 1).sum()),
            context.measured.seeds,
            printed[D_MS.index(d)],
            PAPER_RUNS,
        )
        for d in lengths
    ]


def count_drops(run: RunData, end_s: float) -> list[int]:
    """Packets lost in (10 s, end], by ``PLACES``."""
    drops = run.series["drops"]
    time_ps = drops["time_ps"]
    late = (time_ps > round(REPAIR_S * PS)) & (time_ps <= round(end_s * PS))
    full = drops["reason"][late] == drops["reasons"].index("queue-full")
    ack, port = drops["ack"][late], drops["port"][late]
    names = drops["ports"]
    at = [int(np.sum(full & (port == names.index(place)))) for place in PLACES[:4]]
    # After the repair every link works: whatever else is lost, a node that does not merge has left.
    return [*at, int(full.sum()) - sum(at), int(np.sum(~full & ~ack)), int(np.sum(~full & ack))]


def measure(done: Done) -> Measured:
    """Reduce the stored runs, one seed at a time. Every exhibit of section 7 shares the result (``Done.once``)."""
    goodput, arriving = [], []
    drops: list[list[list[list[int]]]] = []
    interval_s = 0.0
    d_of_branch = [d for d in D_MS for _ in STRATEGIES]
    for _, runs in done:
        interval_s = float(runs[0].series["goodput"]["interval_s"])
        goodput.append([run.series["goodput"]["bytes"][0] for run in runs])
        ends = [(WINDOW_S[1], REPAIR_S + 0.5, REPAIR_S + d / 1000 + 0.2) for d in d_of_branch]
        drops.append([[count_drops(run, end) for end in of_run] for run, of_run in zip(runs, ends, strict=True)])
        loads = [run.series["load"] for run in runs[:: len(STRATEGIES)]]
        arriving.append([float(load["bytes"][load["ports"].index("L5->L2"), round(REPAIR_S) - 1]) for load in loads])
    shape = (len(goodput), len(D_MS), len(STRATEGIES))
    by_window = np.array(drops).reshape(*shape, 3, len(PLACES))
    return Measured(
        interval_s,
        np.array(goodput).astype(np.int64).reshape(*shape, -1),
        drops=by_window[..., 0, :],
        first_drops=by_window[..., 1, :],
        overlap_drops=by_window[..., 2, :],
        arriving_bytes=np.array(arriving),
    )
