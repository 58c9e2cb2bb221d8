"""Extension of the paper: losses from contention, compared with independent losses of the same mean.

# Model

The paper's file is sent alone over two networks. In the core of burst switches, bursts of other edge nodes contend with
the file's bursts. On the reference path, each burst is lost independently with the share that was lost in the core, in
both directions.

# References

The file and its path are the same as in section IV. If all bursts reserve equally early and the others are Poisson, the
losses follow Erlang's formula B.

# Parameters

`CROSS`: traffic of the others and operation of the core. `CENTRE`: approximate loss probability of each.

# Limitations

Independent losses are simulated at a ladder of probabilities around `CENTRE`. Goodput at the observed mean is
interpolated between its steps, and clamped to its ends. ACKs have their own centre times the same step.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.assume import Assumed, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, runs_of
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Row, Run, Series, Settings, StudyResult, intervals_of, row
from optcp.stats import resampling
from optcp_papers.obs.lossless import OBSERVE
from optcp_papers.obs.paper import (
    DIRECTION,
    PAPER,
    RECOVERIES,
    SCENARIO,
    curves,
    goodput_mbps,
    grid,
    numbers,
    segments_per_burst,
    settings,
)

Column = NDArray[np.float64]


RUNS = 60
"""On both sides."""
QUICK_RUNS = 1
CORE = SCENARIO.with_name("obs-emergent.toml")
CONTENTION, INDEPENDENT = "contention", "independent"
TIMERS_S = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Timers of the paper's figures at which a flow alone sends bursts of different lengths, and one beyond."""
POINT_S = 1e-3
"""Timer at which further kinds of contention are compared."""
ALIKE, BEHIND = "one offset", "others ahead"
LADDER = (0.0, 0.5, 1.0, 2.0)
"""Steps of the independent loss probabilities, as multiples of the centre."""
LENGTHS = {"1": (1, 1), "2 to 9": (2, 9), "10 to 43": (10, 43), "44": (44, 44)}
"""Classes of segments per burst: one, typical of lower timers, typical of higher timers, and a window."""
ORDER = {"goodput_mbps": 0, "difference_pct": 1, "segments_per_burst": 2}
"""Order of rows; losses come last."""
SHOWN = {
    "goodput_mbps": ("goodput", "Mb/s"),
    "segments_per_burst": ("segments per burst", ""),
    "difference_pct": ("difference", "%"),
}
"""Curves over the timer: label and unit."""
NOTE = (
    "`difference_pct`: goodput with contention relative to independent losses of the same observed mean. "
    "Its interval, and that of the independent goodput, resample files, losses and goodput together."
)

WORLD = (
    Assumed("access_mbps", 100.0, positive, "parameters.access"),
    Assumed("wavelength_mbps", 1000.0, positive, "parameters.wavelength"),
    Assumed("path_delay_ms", 50.0, positive, "parameters.path_delay"),
    Assumed("profile", "opnet-11", str, "tcp.file.profile"),
)
"""Assumptions of both networks. The load of the others is in CROSS, because it depends on the kind of contention."""


def _assembled(process: str, **more: Any) -> Settings:  # noqa: ANN401 - what a scenario has
    """Return other traffic with packets of 1250 B, assembled for 10 ms, with at most ten in a burst of 100 us."""
    source = {"process": process, "size": "1250 B", **more}
    return {
        "bursts": [
            {"path": ["E", "S", "T", "F"], "assembly": "timer", "timer": "$timer"},
            {"path": ["C", "S", "T", "D"], "assembly": "hybrid", "timer": "10 ms", "size": "12.5 kB"},
        ],
        "traffic": [{"group": "there", "path": ["C", "D"], **source}, {"group": "back", "path": ["D", "C"], **source}],
    }


_AHEAD = {"parameters.ahead": "500 us"}
CROSS: dict[str, Settings] = {
    ALIKE: {},
    BEHIND: {**_AHEAD, "parameters.erlangs": 0.03},
    "others ahead, horizon": {**_AHEAD, "parameters.erlangs": 0.015, "parameters.scheduling": "horizon"},
    "one offset, no conversion": {"parameters.erlangs": 0.001, "parameters.conversion": "none"},
    "one offset, assembled": _assembled("poisson", rate="6.5 Mbps"),
    "one offset, assembled, self-similar": _assembled(
        "fractal-renewal", rate="650 packets/s", hurst=0.7, onset="100 ms"
    ),
}
"""Settings of the core's scenario by kind of contention. Loads are chosen so that about one burst in 1000 is lost."""


class Way(NamedTuple):
    """Kind of contention, assembly timer of the file's edge nodes, and "reno" or "sack"."""

    cross: str
    timer_s: float
    recovery: str

    def key(self) -> Key:
        """Return the key of its rows."""
        return {"timer_s": self.timer_s, "recovery": self.recovery, "cross": self.cross}

    def settings(self) -> Settings:
        """Return the settings of the core's scenario."""
        timer = {"parameters.timer": f"{round(1e6 * self.timer_s)} us", "parameters.recovery": self.recovery}
        return {**timer, **CROSS[self.cross]}

    def alone(self) -> Alone:
        """Return the independent losses for comparison."""
        return Alone(*CENTRE[self.cross, self.timer_s], self.timer_s, self.recovery)


class Alone(NamedTuple):
    """Paper's path with independent losses.

    Attributes
    ----------
    data, acks
        Loss probability of a burst of data and of ACKs at step 1 of the ladder.
    timer_s, recovery
        Assembly timer and recovery, as in :class:`Way`.
    """

    data: float
    acks: float
    timer_s: float
    recovery: str

    def settings(self, step: float) -> Settings:
        """Return the settings of the paper's scenario at a step of the ladder."""
        data, acks = (round(step * share, 6) for share in (self.data, self.acks))
        losses = {"loss_probability": data, "reverse": {"loss_probability": acks}}
        entry = {"link": ["E", "F"], "assembly": "timer", "timer": "$timer", "offset": "$offset", **losses}
        return {**settings(self.timer_s, "no", "none", self.recovery), "bursts": [entry]}


_BEHIND_DATA = (0.0005, 0.0005, 0.0008, 0.001, 0.0018, 0.003, 0.003)
CENTRE = {
    (cross, timer): (0.001, 0.001) for cross in CROSS for timer in (TIMERS_S if cross == ALIKE else (POINT_S,))
} | {(BEHIND, timer): (data, 0.0005) for timer, data in zip(TIMERS_S, _BEHIND_DATA, strict=True)}
"""Centres of the ladders: approximate loss probability of data and of ACKs, by kind of contention and timer."""


def text(cell: Way | Alone) -> str:
    """Return the name of a combination on an axis."""
    return ", ".join(map(str, cell))


_CELLS = (
    *(Way(cross, timer, recovery) for cross in (ALIKE, BEHIND) for recovery in RECOVERIES for timer in TIMERS_S),
    *(Way(cross, POINT_S, "sack") for cross in CROSS if cross not in (ALIKE, BEHIND)),
)
WAYS = {text(way): way for way in _CELLS}
PATHS = {text(path): path for path in (way.alone() for way in _CELLS)}
"""Paths of the independent losses. There are fewer, because several kinds of contention have the same centre."""
CORE_AXES = (Axis("way", tuple(WAYS)),)
LADDER_AXES = (Axis("path", tuple(PATHS)), numbers("step", LADDER))
COUNT = Axis(
    "count",
    (
        *("bursts", "lost", "ack bursts", "acks lost", "lost after lost", "with segments", "segments"),
        *(f"{what} of {length}" for length in LENGTHS for what in ("bursts", "lost", "segments")),
    ),
)
"""Counters of a run over the core: of data unless stated otherwise, and by length."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids of the core with contention, and of the paper's path with each step of the ladder."""
    core = functools.partial(grid, f"obs/emergent, {CONTENTION}", scenario=CORE, world=WORLD)
    ladder = functools.partial(grid, f"obs/emergent, {INDEPENDENT}", world=WORLD)
    observe = {"parameters.offset": "20 us", "observe": OBSERVE}
    return {
        CONTENTION: core([CORE_AXES], lambda way: WAYS[way].settings(), {}, chosen, options),
        INDEPENDENT: ladder([LADDER_AXES], lambda path, step: PATHS[path].settings(step), observe, chosen, options),
    }


def find(found: Found) -> Findings:
    """Return goodput, losses and their bunching, and losses by burst length."""
    core, ladder = found.done[CONTENTION], found.done[INDEPENDENT]
    goodput, counts = core.once(goodput_mbps), core.once(counted)
    steps, burst_steps = ladder.once(goodput_mbps), ladder.once(segments_per_burst)
    rows = []
    for name, way in WAYS.items():
        own, path = (goodput.at(way=name), counts.at(way=name)), text(way.alone())
        measured = intervals(*own, steps.at(path=path), burst_steps.at(path=path), way.alone().data)
        rows += [row({**way.key(), **more}, metric, None, interval, "") for metric, more, interval in measured]
    rows.sort(key=lambda item: ORDER.get(item.metric, len(ORDER)))
    series = []
    for metric, what in SHOWN.items():
        series += curves(
            [item for item in rows if item.metric == metric and item.key["cross"] in (ALIKE, BEHIND)], *what
        )
    for cross in (ALIKE, BEHIND):
        by_length, curve = by_lengths(cross, counts)
        rows += by_length
        series.append(curve)
    return Findings(rows, {}, series, [NOTE])


def intervals(
    goodput: Cells, counts: Cells, steps: Cells, burst_steps: Cells, centre: float
) -> list[tuple[str, Key, stats.Interval]]:
    """Return the results of a combination: metric, additional key of its row, and value.

    Parameters
    ----------
    goodput, counts
        Goodput and counters of the runs over the core.
    steps, burst_steps
        Goodput and segments per burst with independent losses, over ``step``.
    centre
        Probability at step 1.
    """
    result: list[tuple[str, Key, stats.Interval]] = [
        ("goodput_mbps", {"losses": CONTENTION}, stats.mean(goodput.values)),
        ("goodput_mbps", {"losses": INDEPENDENT}, independent(counts, steps, centre)),
        ("difference_pct", {}, difference(goodput, counts, steps, centre)),
        ("segments_per_burst", {"losses": CONTENTION}, ratio(counts, "segments", "with segments")),
        ("segments_per_burst", {"losses": INDEPENDENT}, independent(counts, burst_steps, centre)),
        ("loss_pct", {"direction": "data"}, ratio(counts, "lost", "bursts").times(100)),
        ("loss_pct", {"direction": "acks"}, ratio(counts, "acks lost", "ack bursts").times(100)),
    ]
    if counts.at(count="lost").values.any():
        result.append(("lost_after_lost_ratio", {}, bunching(counts)))
    return result


def counted(done: StudyResult) -> Cells:
    """Return the counters of every run over the core."""
    return done.each(count, COUNT)


def count(run: Run) -> list[int]:
    """Return the counters ``COUNT`` of one run."""
    rows = run["bursts"]
    there = rows.is_("port", DIRECTION)
    lost, segments = rows["lost"][there], rows["segments"][there]
    acks_lost = rows["lost"][~there]
    again = lost[:-1] & lost[1:]
    result = [lost.size, lost.sum(), acks_lost.size, acks_lost.sum(), again.sum(), (segments > 0).sum(), segments.sum()]
    for least, most in LENGTHS.values():
        own = (segments >= least) & (segments <= most)
        result += [own.sum(), lost[own].sum(), segments[own].sum()]
    return result


def pooled(statistic: Callable[..., Column], *columns: Cells) -> stats.Interval:
    """Return a statistic of the means over all files, with its interval over files.

    Parameters
    ----------
    statistic
        Function from the means of each column, shape (k,), to an array of shape (k,).
    columns
        Cells with at most one axis; each value of the axis is a column.
    """
    table = np.column_stack([column.values for column in columns])
    estimate, samples = resampling.bootstrap(table, lambda mean: statistic(*mean.T))
    return resampling.percentile(samples, estimate, len(table))


def ratio(counts: Cells, part: str, whole: str) -> stats.Interval:
    """Return a ratio of counters over all files."""
    return pooled(np.divide, counts.at(count=part), counts.at(count=whole))


def bunching(counts: Cells) -> stats.Interval:
    """Return P(burst lost | previous one lost) / P(burst lost), which is 1 for independent losses."""

    def times(lost: Column, bursts: Column, again: Column) -> Column:
        lost = np.maximum(lost, np.finfo(np.float64).tiny)
        return (again / lost) / (lost / bursts)

    return pooled(times, *(counts.at(count=item) for item in ("lost", "bursts", "lost after lost")))


def independent(counts: Cells, steps: Cells, centre: float) -> stats.Interval:
    """Return the result of independent losses at the observed mean, with the joint interval of losses and ladder.

    Parameters
    ----------
    counts
        Counters of the runs over the core.
    steps
        Goodput, or segments per burst, over ``step``.
    centre
        Probability at step 1.
    """
    lost, bursts = (counts.at(count=item) for item in ("lost", "bursts"))
    return pooled(lambda lost, bursts, *steps: between(lost / bursts / centre, steps), lost, bursts, steps)


def difference(goodput: Cells, counts: Cells, steps: Cells, centre: float) -> stats.Interval:
    """Return the goodput with contention relative to :func:`independent` losses, in %, from the same resamples."""

    def percent(goodput: Column, lost: Column, bursts: Column, *steps: Column) -> Column:
        return 100 * (goodput / between(lost / bursts / centre, steps) - 1)

    return pooled(percent, goodput, *(counts.at(count=item) for item in ("lost", "bursts")), steps)


def between(step: Column, values: Sequence[Column]) -> Column:
    """Interpolate goodput, or segments per burst, between the steps of the ladder.

    The time of a file and its number of bursts grow almost linearly with the losses. The polynomial therefore
    interpolates the inverse values (Lagrange's form).
    """
    at = np.clip(step, LADDER[0], LADDER[-1])
    inverse = np.zeros_like(at)
    for own, value in zip(LADDER, values, strict=True):
        others = [other for other in LADDER if other != own]
        weight = np.prod([(at - other) / (own - other) for other in others], axis=0)
        inverse = inverse + weight / value
    return 1 / inverse


def by_lengths(cross: str, counts: Cells) -> tuple[list[Row], Series]:
    """Return shares of lost bursts by their segments, over all timers and both senders; the curve has their means."""
    own = functools.reduce(operator.add, [counts.at(way=name) for name, way in WAYS.items() if way.cross == cross])
    rows, x = [], []
    for length in LENGTHS:
        bursts, segments = (own.at(count=f"{what} of {length}").values.sum() for what in ("bursts", "segments"))
        if bursts:
            share = ratio(own, f"lost of {length}", f"bursts of {length}").times(100)
            rows.append(row({"cross": cross, "segments": length}, "loss_pct", None, share, ""))
            x.append(round(float(segments / bursts), 4))
    y, ci95 = [item.value for item in rows], intervals_of(rows)
    return rows, Series("loss", {"cross": cross}, "segments in a burst", "", "bursts lost", "%", x, y, ci95)


EMERGENT = Exhibit(
    "obs/emergent",
    "Goodput with losses from contention against independent ones of the same mean",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), WORLD),
    find,
)
