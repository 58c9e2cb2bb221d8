"""Beyond the paper: losses that come from contention, against independent ones of the same mean.

# Models

The paper's file alone, once over a core of burst switches where bursts of other edge nodes meet the file's, and once
over a path that loses each burst with the share that was lost there, in both directions.

# Source

The file and its path are those of section IV. Where all bursts reserve equally early and the others are Poisson, what
is lost is Erlang's formula B.

# Parameters

`CROSS`: what the others send and how the core works. `CENTRE`: about what each loses.

# Limits

The independent losses are a ladder of probabilities around `CENTRE`, and goodput at the measured mean is interpolated
between its steps; outside the ladder its end is taken. ACKs have the centre of their own times the same step.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from optcp import stats
from optcp.axes import Axis
from optcp.papers.assume import Assumed, positive
from optcp.papers.exhibit import Exhibit, Findings, Setup, runs_of
from optcp.papers.model import Series
from optcp.papers.obs.lossless import OBSERVE
from optcp.papers.obs.paper import (
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
from optcp.papers.over import intervals_of
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from optcp.cells import Cells
    from optcp.papers.base import Options
    from optcp.papers.exhibit import Chosen, Found
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid, RunData

    Column = NDArray[np.float64]

Cell = TypeVar("Cell", bound="tuple[Any, ...]")

RUNS = 60
"""On both sides."""
QUICK_RUNS = 1
CORE = SCENARIO.with_name("obs-emergent.toml")
CONTENTION, INDEPENDENT = "contention", "independent"
TIMERS_S = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Those of the paper's figures at which a flow alone sends bursts of different lengths, and one beyond."""
POINT_S = 1e-3
"""Where further kinds of contention are compared."""
ALIKE, BEHIND = "one offset", "others ahead"
LADDER = (0.0, 0.5, 1.0, 2.0)
"""Steps of the probabilities of independent losses, as multiples of the centre."""
LENGTHS = {"1": (1, 1), "2 to 9": (2, 9), "10 to 43": (10, 43), "44": (44, 44)}
"""Segments of a burst, from and to: one, what the lower timers gather, what the higher do, a window."""
NOTE = (
    "`difference_pct`: goodput with contention over that with independent losses at the same measured mean. "
    "Its interval, and that of the independent goodput, resample files, losses and goodput together."
)

WORLD = (
    Assumed("access_mbps", 100.0, positive, lambda value: [("parameters.access", f"{value:g} Mbps")]),
    Assumed("wavelength_mbps", 1000.0, positive, lambda value: [("parameters.wavelength", f"{value:g} Mbps")]),
    Assumed("path_delay_ms", 50.0, positive, lambda value: [("parameters.path_delay", f"{value:g} ms")]),
    Assumed("profile", "opnet-11", str, lambda value: [("tcp.file.profile", str(value))]),
)
"""What both sides share. The others' load is in CROSS, since it belongs to the kind of contention."""


def _assembled(process: str) -> dict[str, str]:
    """Others whose packets of 1250 B are gathered for 10 ms, at most ten in a burst of 100 us."""
    bursts = (
        '[{ path = ["E", "S", "T", "F"], assembly = "timer", timer = "$timer" }, '
        '{ path = ["C", "S", "T", "D"], assembly = "hybrid", timer = "10 ms", size = "12.5 kB" }]'
    )
    rest = f'process = {process}, size = "1250 B"'
    ways = (("there", '["C", "D"]'), ("back", '["D", "C"]'))
    traffic = ", ".join(f'{{ group = "{group}", path = {path}, {rest} }}' for group, path in ways)
    return {"bursts": bursts, "traffic": f"[{traffic}]"}


_AHEAD = {"parameters.ahead": "500 us"}
_FRACTAL = '"fractal-renewal", rate = "650 packets/s", hurst = 0.7, onset = "100 ms"'
CROSS: dict[str, dict[str, str]] = {
    ALIKE: {},
    BEHIND: {**_AHEAD, "parameters.erlangs": "0.03"},
    "others ahead, horizon": {**_AHEAD, "parameters.erlangs": "0.015", "parameters.scheduling": "horizon"},
    "one offset, no conversion": {"parameters.erlangs": "0.001", "parameters.conversion": "none"},
    "one offset, assembled": _assembled('"poisson", rate = "6.5 Mbps"'),
    "one offset, assembled, self-similar": _assembled(_FRACTAL),
}
"""Kinds of contention: the settings of the core's scenario. Loads are such that about one burst in 1000 is lost."""


class Way(NamedTuple):
    """One cell: a kind of contention, the assembly timer of the file's edge nodes, and "reno" or "sack"."""

    cross: str
    timer_s: float
    recovery: str

    def key(self) -> Key:
        """Of its rows."""
        return {"timer_s": self.timer_s, "recovery": self.recovery, "cross": self.cross}

    def settings(self) -> dict[str, str]:
        """What makes the core's scenario this cell."""
        timer = {"parameters.timer": f"{round(1e6 * self.timer_s)} us", "parameters.recovery": self.recovery}
        return {**timer, **CROSS[self.cross]}

    def alone(self) -> Alone:
        """The independent losses that it is compared with."""
        return Alone(*CENTRE[self.cross, self.timer_s], self.timer_s, self.recovery)


class Alone(NamedTuple):
    """The paper's path with independent losses.

    Attributes
    ----------
    data, acks
        How likely a burst of data and one of ACKs are lost at step 1 of the ladder.
    timer_s, recovery
        As in Way.
    """

    data: float
    acks: float
    timer_s: float
    recovery: str

    def settings(self, step: float) -> dict[str, str]:
        """What makes the paper's scenario this path, at a step of the ladder."""
        entry = (
            'link = ["E", "F"], assembly = "timer", timer = "$timer", offset = "$offset", '
            f"loss_probability = {step * self.data:.6f}, reverse = {{ loss_probability = {step * self.acks:.6f} }}"
        )
        return {**settings(self.timer_s, "no", "none", self.recovery), "bursts": f"[{{ {entry} }}]"}


_BEHIND_DATA = (0.0005, 0.0005, 0.0008, 0.001, 0.0018, 0.003, 0.003)
CENTRE = {
    (cross, timer): (0.001, 0.001) for cross in CROSS for timer in (TIMERS_S if cross == ALIKE else (POINT_S,))
} | {(BEHIND, timer): (data, 0.0005) for timer, data in zip(TIMERS_S, _BEHIND_DATA, strict=True)}
"""About how likely a burst of data and one of ACKs are lost, by kind of contention and timer: the ladder's centre."""


def named(cells: Iterable[Cell]) -> dict[str, Cell]:
    """Cells that are no grid, as values of one axis: each once, by its name there."""
    return {", ".join(map(str, cell)): cell for cell in cells}


WAYS = named(
    [
        *(Way(cross, timer, recovery) for cross in (ALIKE, BEHIND) for recovery in RECOVERIES for timer in TIMERS_S),
        *(Way(cross, POINT_S, "sack") for cross in CROSS if cross not in (ALIKE, BEHIND)),
    ]
)
PATHS = named(way.alone() for way in WAYS.values())
"""Fewer: several kinds of contention have the same centre."""
CORE_AXES = (Axis("way", tuple(WAYS)),)
LADDER_AXES = (Axis("path", tuple(PATHS)), numbers("step", LADDER))
COUNT = Axis(
    "count",
    (
        *("bursts", "lost", "ack bursts", "acks lost", "lost after lost", "with segments", "segments"),
        *(f"{what} of {length}" for length in LENGTHS for what in ("bursts", "lost", "segments")),
    ),
)
"""What is counted in a run over the core: of data where nothing else is said, and by length."""


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """The core, where bursts of others take the wavelengths; and the paper's path with each step of the ladder."""
    core = functools.partial(grid, f"obs/emergent, {CONTENTION}", scenario=CORE, world=WORLD)
    ladder = functools.partial(grid, f"obs/emergent, {INDEPENDENT}", world=WORLD)
    observe = {"parameters.offset": "20 us", "observe": OBSERVE}
    return {
        CONTENTION: core([CORE_AXES], lambda way: WAYS[way].settings(), {}, chosen, options),
        INDEPENDENT: ladder([LADDER_AXES], lambda path, step: PATHS[path].settings(step), observe, chosen, options),
    }


def find(found: Found) -> Findings:
    """Goodput, losses and their bunches by cell, and losses by the length of bursts."""
    core, ladder = found.done[CONTENTION], found.done[INDEPENDENT]
    counts, goodput = core.once(counted), core.once(goodput_mbps)
    steps = {"goodput_mbps": ladder.once(goodput_mbps), "segments_per_burst": ladder.once(segments_per_burst)}
    by_metric: dict[str, list[Row]] = {metric: [] for metric in steps}
    gaps: list[Row] = []
    losses: list[Row] = []
    for name, way in WAYS.items():
        own, own_goodput, centre = counts.at(way=name), goodput.at(way=name), way.alone().data
        beside = {metric: cells.at(path=", ".join(map(str, way.alone()))) for metric, cells in steps.items()}
        with_contention = {
            "goodput_mbps": stats.mean(own_goodput.values),
            "segments_per_burst": ratio(own, "segments", "with segments"),
        }
        for metric, rows in by_metric.items():
            without = independent(own, beside[metric], centre)
            for side, value in ((CONTENTION, with_contention[metric]), (INDEPENDENT, without)):
                rows.append(row({**way.key(), "losses": side}, metric, None, value, ""))
        gap = difference(own_goodput, own, beside["goodput_mbps"], centre)
        gaps.append(row(way.key(), "difference_pct", None, gap, ""))
        losses += loss_rows(way, own)
    by_length = [by_lengths(cross, counts) for cross in (ALIKE, BEHIND)]
    shown = {
        "goodput": ("Mb/s", by_metric["goodput_mbps"]),
        "segments a burst": ("", by_metric["segments_per_burst"]),
        "difference": ("%", gaps),
    }
    series = [
        curve
        for label, (unit, rows) in shown.items()
        for curve in curves([one for one in rows if one.key["cross"] in (ALIKE, BEHIND)], label, unit)
    ]
    rows = [*by_metric["goodput_mbps"], *gaps, *by_metric["segments_per_burst"], *losses]
    rows += [one for rows, _ in by_length for one in rows]
    return Findings(rows, {}, [*series, *(curve for _, curve in by_length)], [NOTE])


def counted(done: Done) -> Cells:
    """COUNT of every run over the core."""
    return done.each(count, COUNT)


def count(run: RunData) -> list[int]:
    """COUNT of one run."""
    rows = run.series["bursts"]
    there = rows["port"] == list(rows["ports"]).index(DIRECTION)
    lost, segments = rows["lost"][there], rows["segments"][there]
    acks_lost = rows["lost"][~there]
    again = lost[:-1] & lost[1:]
    found = [lost.size, lost.sum(), acks_lost.size, acks_lost.sum(), again.sum(), (segments > 0).sum(), segments.sum()]
    for least, most in LENGTHS.values():
        own = (segments >= least) & (segments <= most)
        found += [own.sum(), lost[own].sum(), segments[own].sum()]
    return found


def loss_rows(way: Way, counts: Cells) -> list[Row]:
    """Shares of bursts that were lost; how much likelier a burst is lost behind a lost one than any."""
    shares = {"data": ratio(counts, "lost", "bursts"), "acks": ratio(counts, "acks lost", "ack bursts")}
    rows = [
        row({**way.key(), "direction": direction}, "loss_pct", None, share.times(100), "")
        for direction, share in shares.items()
    ]
    if not counts.at(count="lost").values.any():
        return rows
    return [*rows, row(way.key(), "lost_after_lost_ratio", None, bunching(counts), "")]


def pooled(statistic: Callable[..., Column], *columns: Cells) -> stats.Interval:
    """A statistic of the means over all files together, with its interval over files.

    Parameters
    ----------
    statistic
        From means of each column, shape (k,), to one number each.
    columns
        One or several each: with one axis its values.
    """
    table = np.column_stack([column.values for column in columns])
    estimate, samples = stats.bootstrap(table, lambda mean: statistic(*mean.T))
    return stats.percentile(samples, estimate, len(table))


def ratio(counts: Cells, part: str, whole: str) -> stats.Interval:
    """Share of all files together."""
    return pooled(np.divide, counts.at(count=part), counts.at(count=whole))


def bunching(counts: Cells) -> stats.Interval:
    """Share of lost bursts that the next one follows, over the share of all bursts: 1 where losses are independent."""

    def times(lost: Column, bursts: Column, again: Column) -> Column:
        lost = np.maximum(lost, np.finfo(np.float64).tiny)
        return (again / lost) / (lost / bursts)

    return pooled(times, *(counts.at(count=one) for one in ("lost", "bursts", "lost after lost")))


def independent(counts: Cells, steps: Cells, centre: float) -> stats.Interval:
    """What independent losses of the measured mean give, with the interval of measurement and ladder together.

    Parameters
    ----------
    counts
        Of runs over the core.
    steps
        Goodput, or segments a burst, over ``step``.
    centre
        Probability at the step 1.
    """
    lost, bursts = (counts.at(count=one) for one in ("lost", "bursts"))
    return pooled(lambda lost, bursts, *steps: between(lost / bursts / centre, steps), lost, bursts, steps)


def difference(goodput: Cells, counts: Cells, steps: Cells, centre: float) -> stats.Interval:
    """How much more goodput contention leaves than :func:`independent` losses do, in per cent, from the same."""

    def percent(goodput: Column, lost: Column, bursts: Column, *steps: Column) -> Column:
        return 100 * (goodput / between(lost / bursts / centre, steps) - 1)

    return pooled(percent, goodput, *(counts.at(count=one) for one in ("lost", "bursts")), steps)


def between(step: Column, values: Sequence[Column]) -> Column:
    """Goodput, or segments a burst, between the steps of the ladder.

    The time of a file and its number of bursts grow about evenly with the losses, so the polynomial goes through what
    is inverse to them (Lagrange's form).
    """
    at = np.clip(step, LADDER[0], LADDER[-1])
    inverse = np.zeros_like(at)
    for own, value in zip(LADDER, values, strict=True):
        others = [other for other in LADDER if other != own]
        weight = np.prod([(at - other) / (own - other) for other in others], axis=0)
        inverse = inverse + weight / value
    return 1 / inverse


def by_lengths(cross: str, counts: Cells) -> tuple[list[Row], Series]:
    """Shares of lost bursts by the segments in them, over all timers and both senders; the curve has their means."""
    own = functools.reduce(operator.add, [counts.at(way=name) for name, way in WAYS.items() if way.cross == cross])
    rows, x = [], []
    for length in LENGTHS:
        bursts, segments = (own.at(count=f"{what} of {length}").values.sum() for what in ("bursts", "segments"))
        if bursts:
            share = ratio(own, f"lost of {length}", f"bursts of {length}").times(100)
            rows.append(row({"cross": cross, "segments": length}, "loss_pct", None, share, ""))
            x.append(round(float(segments / bursts), 4))
    y, ci95 = [one.value for one in rows], intervals_of(rows)
    return rows, Series("loss", {"cross": cross}, "segments in a burst", "", "bursts lost", "%", x, y, ci95)


EMERGENT = Exhibit(
    "obs/emergent",
    "Goodput with losses from contention against independent ones of the same mean",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), WORLD),
    find,
)
