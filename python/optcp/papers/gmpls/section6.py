"""The study of section 6, which Figs 10 to 14 and Tables 4 and 5 share: a backup path that is longer by d."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.errors import RunFailed
from optcp.papers import curve
from optcp.papers.assume import built_in, overrides
from optcp.papers.gmpls import section
from optcp.papers.gmpls.paper import FAILURE_S, PS, WINDOW_S, world
from optcp.papers.gmpls.section import Cells, Section
from optcp.papers.verdict import row
from optcp.papers.windows import shares_of_wins
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Key, Row
    from optcp.study import Done

D_MS = (1, 2, 10, 20, 50, 100)
"""Propagation delay of the span L1-L4-L5-L2; that of L1-L2, which it replaces, is 1 ms."""
DELTA_MS = (5, 10, 20, 50, 100)
END_S = 10.0
MEAN_RTT_MS = 120
"""Section 6.1. It is that of a mean access delay of 55 ms and five links of 1 ms, both ways."""
LOST_NOTE = "The figure is lost from the text: nothing is printed to compare with, only what the text says of it."
WHY_CHANGED = "The world was changed by --set, so it is not the one that the paper's values are compared with."
GRID = "d x delta"

SCENARIO = Path(__file__).with_name("scenarios") / "gmpls-section6.toml"

ASSUMED = (
    *world(access_share=0.8),
    built_in("backup", "d split evenly over L1-L4, L4-L5 and L5-L2"),
)


def steps(values: Sequence[int]) -> list[str]:
    """Names of delays in milliseconds, for evidence."""
    return [f"{value} ms" for value in values]


def backup(d_ms: int) -> dict[str, str]:
    """The settings that make the backup's span d long: a third of it a link, what is left over in the middle."""
    whole = d_ms * PS // 1000
    outer = whole // 3
    return {"parameters.outer_delay": f"{outer} ps", "parameters.middle_delay": f"{whole - 2 * outer} ps"}


def delta_rtt_pct(d_ms: int) -> float:
    """How much longer the mean round trip over the backup is, in per cent."""
    return 100 * 2 * (d_ms - 1) / MEAN_RTT_MS


def study(
    chosen: Mapping[str, Value],
    options: Options,
    title: str,
    cells: Sequence[tuple[int, int]],
    settings: Sequence[tuple[str, str]] = (),
) -> Grid:
    """Branches for pairs of d and delta in milliseconds; the same seeds draw the same in every study made here."""
    branches = [{**backup(d), "parameters.switch_delay": f"{delta} ms"} for d, delta in cells]
    base = [*overrides(ASSUMED, chosen), *settings]
    return Grid.of_cells(SCENARIO, branches, base, title=title, digest=options.digest, fork=options.fork)


class Section6(Section):
    """An exhibit of the shared study: subclasses say what they make of it."""

    assumed = ASSUMED
    quick_seeds = 16

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The 30 branches that all exhibits of section 6 share."""
        cells = [(d, delta) for d in D_MS for delta in DELTA_MS]
        return {GRID: study(chosen, options, "gmpls section 6", cells)}

    def context(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Context:
        """What tables and judgements need."""
        return Context.of(done[GRID].once(measure), chosen, self.changed(chosen))


@dataclass(frozen=True)
class Measured(Cells):
    """What the exhibits need of the study; axes of the goodput: seeds, d, delta, intervals.

    Attributes
    ----------
    failing_link_load_bps
        Load of L1->L2 in (3 s, 5 s], float64[seeds] (before the failure all branches are one world).
    backbone_drops
        Packets dropped at backbone ports after 3 s and before 5 s, int64[seeds].
    """

    window_s = WINDOW_S
    failing_link_load_bps: NDArray[np.float64]
    backbone_drops: NDArray[np.int64]

    @property
    def ratio(self) -> NDArray[np.float64]:
        """f(d, delta) = Good(d, delta) / Good(1 ms, delta), float64[seeds, d, delta]."""
        return over_first(self.good())

    @property
    def best_share(self) -> NDArray[np.float64]:
        """How much of a seed each d wins by the most goodput, float64[seeds, d, delta]; ties share equally."""
        return shares_of_wins(self.good())


class Context(section.Context[Measured]):
    """What tables and judgements need; cells are d and delta, by indices."""

    curve_s = (FAILURE_S, END_S)
    shown_s = (4.0, END_S)

    def key(self, *cell: int) -> Key:
        """Key of the rows and curves of one cell, by indices."""
        d, delta = cell
        return {"d_ms": D_MS[d], "delta_ms": DELTA_MS[delta]}

    def curve_rows(self, d: int, delta: int) -> list[Row]:
        """Dip and settling time of one cell by the rule CURVE, by indices, with bootstrap intervals."""
        key, rows = self.key(d, delta), []
        for metric, statistic in (("dip_pct", curve.dip_pct), ("settle_s", curve.back_s)):
            estimate, samples = stats.bootstrap(self.curves(d, delta), statistic)
            rows.append(row(key, metric, None, stats.percentile(samples, estimate, self.measured.seeds), ""))
        return rows


def over_first(good: NDArray[np.int64]) -> NDArray[np.float64]:
    """Goodput over that of the first d, of the same seed and delta; shape (seeds, d, ...).

    Raises
    ------
    RunFailed
        If a run of the first d has no goodput at all.
    """
    if not good[:, 0].all():
        raise RunFailed("a run without any goodput in the window at d = 1 ms: f(d) has no meaning")
    result: NDArray[np.float64] = good / good[:, :1]
    return result


def measure(done: Done) -> Measured:
    """Reduce the stored runs, one seed at a time. Every exhibit of section 6 shares the result (``Done.once``)."""
    goodput, load, drops = [], [], []
    interval_s = 0.0
    for _, runs in done:
        interval_s = float(runs[0].series["goodput"]["interval_s"])
        goodput.append([run.series["goodput"]["bytes"][0] for run in runs])
        before = runs[0].series["load"]
        first, last = (round(instant / before["interval_s"]) for instant in (3.0, 5.0))
        load.append(float(before["bytes"][before["ports"].index("L1->L2"), first:last].sum()) * 8 / 2.0)
        time_ps = runs[0].series["drops"]["time_ps"]
        # What the failure itself drops, it drops at 5 s sharp: that is no longer before it.
        drops.append(int(np.sum((time_ps > 3 * PS) & (time_ps < round(FAILURE_S * PS)))))
    shape = (len(goodput), len(D_MS), len(DELTA_MS), -1)
    return Measured(interval_s, np.array(goodput).astype(np.int64).reshape(shape), np.array(load), np.array(drops))
