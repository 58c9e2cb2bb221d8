"""The study of section 6, which Figs 10 to 14 and Tables 4 and 5 share: a backup path that is longer by d."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import optcp
from optcp import stats
from optcp.errors import RunFailed
from optcp.papers import curve, judge
from optcp.papers.assume import built_in, overrides
from optcp.papers.base import Exhibit
from optcp.papers.gmpls.over_time import mean_goodput
from optcp.papers.gmpls.paper import FAILURE_S, PAPER, PAPER_RUNS, PS, WINDOW_S, world
from optcp.papers.verdict import row
from optcp.papers.windows import bytes_between
from optcp.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.papers.model import Claim, Key, Row, Series
    from optcp.study import Done

D_MS = (1, 2, 10, 20, 50, 100)
"""Propagation delay of the span L1-L4-L5-L2; that of L1-L2, which it replaces, is 1 ms."""
DELTA_MS = (5, 10, 20, 50, 100)
END_S = 10.0
SHOWN_FROM_S = 4.0
MEAN_RTT_MS = 120
"""Section 6.1. It is that of a mean access delay of 55 ms and five links of 1 ms, both ways."""
LOST_NOTE = "The figure is lost from the text: nothing is printed to compare with, only what the text says of it."
WHY_CHANGED = "The world was changed by --set, so it is not the one that the paper's values are compared with."
GRID = "d x delta"
QUICK_SEEDS = 16

SCENARIO = Path(optcp.__file__).parent / "scenarios" / "gmpls-section6.toml"

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
) -> Study:
    """Branches for pairs of d and delta in milliseconds; the same seeds draw the same in every study made here."""
    branches = [{**backup(d), "parameters.switch_delay": f"{delta} ms"} for d, delta in cells]
    base = [*overrides(ASSUMED, chosen), *settings]
    return Study.of_cells(SCENARIO, branches, base, title=title, digest=options.digest, fork=options.fork)


class Section6(Exhibit):
    """An exhibit of the shared study: subclasses say what they make of it."""

    paper = PAPER
    paper_runs = PAPER_RUNS
    assumed = ASSUMED

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Study]:
        """The 30 branches that all exhibits of section 6 share."""
        cells = [(d, delta) for d in D_MS for delta in DELTA_MS]
        return {GRID: study(chosen, options, "gmpls section 6", cells)}

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150, fewer for a quick look."""
        del study
        return size.of(PAPER_RUNS, QUICK_SEEDS)

    def context(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Context:
        """What tables and judgements need."""
        access_bps = float(chosen["access_share"]) * float(chosen["backbone_bps"])
        changed = self.changed(chosen)
        return Context(
            done[GRID].once(measure), access_bps, float(chosen["backbone_bps"]), str(chosen["profile"]), changed
        )


@dataclass(frozen=True)
class Measured:
    """What the exhibits need of the study.

    Attributes
    ----------
    interval_s
        T of equation 4.
    goodput
        Bytes, int64[seeds, d, delta, intervals]; interval i is (i T, (i + 1) T].
    failing_link_load_bps
        Load of L1->L2 in (3 s, 5 s], float64[seeds] (before the failure all branches are one world).
    backbone_drops
        Packets dropped at backbone ports after 3 s and before 5 s, int64[seeds].
    """

    interval_s: float
    goodput: NDArray[np.int64]
    failing_link_load_bps: NDArray[np.float64]
    backbone_drops: NDArray[np.int64]

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return int(self.goodput.shape[0])

    def good(self, start_s: float = WINDOW_S[0], end_s: float = WINDOW_S[1]) -> NDArray[np.int64]:
        """Bytes in (start, end], by default the window of equation 5, int64[seeds, d, delta]."""
        return bytes_between(self.goodput, self.interval_s, start_s, end_s)

    @property
    def ratio(self) -> NDArray[np.float64]:
        """f(d, delta) = Good(d, delta) / Good(1 ms, delta), float64[seeds, d, delta]."""
        return over_first(self.good())

    @property
    def best_share(self) -> NDArray[np.float64]:
        """How much of a seed each d wins by the most goodput, float64[seeds, d, delta]; ties share equally."""
        total = self.good()
        wins = total == total.max(axis=1, keepdims=True)
        result: NDArray[np.float64] = wins / wins.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True)
class Context:
    """What tables and judgements need.

    Attributes
    ----------
    measured
        The study.
    access_bps, backbone_bps
        Rate of the access links and of the backbone.
    profile
        How TCP behaves: the reading under which claims are judged.
    changed
        Whether ``--set`` changed the world.
    """

    measured: Measured
    access_bps: float
    backbone_bps: float
    profile: str
    changed: bool

    def judge(self, exhibit: str, judges: Mapping[str, Callable[[Context], list[Part]]]) -> list[Claim]:
        """Judge every statement about an exhibit; see :func:`optcp.papers.judge.judge_all`."""
        return judge.judge_all(exhibit, judges, {self.profile: self})

    def curves(self, d: int, delta: int) -> NDArray[np.float64]:
        """The curves of one cell, by indices, from the failure to the end, for the rule CURVE."""
        return curve.curves(self.measured.goodput[:, d, delta], FAILURE_S, END_S)

    def access_pct(self, start_s: float = WINDOW_S[0], end_s: float = WINDOW_S[1]) -> NDArray[np.float64]:
        """Goodput in (start, end] in per cent of what the access links could carry, float64[seeds, d, delta]."""
        result: NDArray[np.float64] = (
            100 * 8 * self.measured.good(start_s, end_s) / ((end_s - start_s) * self.access_bps)
        )
        return result

    def goodput_series(self, d: int, delta: int) -> Series:
        """Mean goodput of one cell over time in per cent of the access bandwidth, by indices."""
        measured = self.measured
        cell = measured.goodput[:, d, delta]
        return mean_goodput(
            cell,
            measured.interval_s,
            self.access_bps,
            {"d_ms": D_MS[d], "delta_ms": DELTA_MS[delta]},
            (SHOWN_FROM_S, END_S),
        )

    def curve_rows(self, d: int, delta: int) -> list[Row]:
        """Dip and settling time of one cell by the rule CURVE, by indices, with bootstrap intervals."""
        key: Key = {"d_ms": D_MS[d], "delta_ms": DELTA_MS[delta]}
        rows = []
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
