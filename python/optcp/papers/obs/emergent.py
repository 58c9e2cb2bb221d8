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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from optcp import stats
from optcp.papers.assume import Assumed, overrides, positive
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.model import Series
from optcp.papers.obs.goodput import RECOVERIES
from optcp.papers.obs.lossless import LOSSLESS
from optcp.papers.obs.paper import DIRECTION, PAPER, SCENARIO, Cell, goodput_mbps, transfers
from optcp.papers.obs.rows import curves
from optcp.papers.over import intervals_of
from optcp.papers.verdict import row
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.model import Key, Row
    from optcp.study import Done, RunData

RUNS = 60
QUICK_RUNS = 1
CORE = SCENARIO.with_name("obs-emergent.toml")
CONTENTION, INDEPENDENT = "contention", "independent"
METRICS = ("goodput_mbps", "segments_per_burst")
TIMERS_S = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Those of the paper's figures at which a flow alone sends bursts of different lengths, and one beyond."""
POINT_S = 1e-3
"""Where further kinds of contention are compared."""
ALIKE, BEHIND = "one offset", "others ahead"
LADDER = (0.0, 0.5, 1.0, 2.0)
"""Steps of the probabilities of independent losses, as multiples of the centre."""
LENGTHS = ((1, 1), (2, 9), (10, 43), (44, 44))
"""Segments of a burst, from and to: one, what the lower timers gather, what the higher do, a window."""

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
    """One cell.

    Attributes
    ----------
    cross
        A key of CROSS.
    timer_s
        Assembly timer of the file's edge nodes.
    recovery
        "reno" or "sack".
    """

    cross: str
    timer_s: float
    recovery: str

    def key(self) -> Key:
        """Of its rows."""
        return {"timer_s": self.timer_s, "recovery": self.recovery, "cross": self.cross}

    def contention(self) -> dict[str, str]:
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
        return {**Cell(self.timer_s, "no", "none", self.recovery).settings(), "bursts": f"[{{ {entry} }}]"}


_BEHIND_DATA = (0.0005, 0.0005, 0.0008, 0.001, 0.0018, 0.003, 0.003)
CENTRE = {
    (cross, timer): (0.001, 0.001) for cross in CROSS for timer in (TIMERS_S if cross == ALIKE else (POINT_S,))
} | {(BEHIND, timer): (data, 0.0005) for timer, data in zip(TIMERS_S, _BEHIND_DATA, strict=True)}
"""About how likely a burst of data and one of ACKs are lost, by kind of contention and timer: the ladder's centre."""
CELLS = (
    *(Way(cross, timer, recovery) for cross in (ALIKE, BEHIND) for recovery in RECOVERIES for timer in TIMERS_S),
    *(Way(cross, POINT_S, "sack") for cross in CROSS if cross not in (ALIKE, BEHIND)),
)
PATHS = tuple(dict.fromkeys(way.alone() for way in CELLS))
"""Each once: several kinds of contention have the same centre."""


class Column:
    """Of what a run over the core gives: places in its row."""

    GOODPUT, BURSTS, LOST, ACK_BURSTS, ACKS_LOST, LOST_AFTER_LOST, WITH_SEGMENTS, SEGMENTS = range(8)
    LENGTHS = 8
    """From here on bursts, lost ones, and segments in all of them, by length."""


@exhibit
class Emergent(Exhibit):
    """The paper's files where bursts of others take the wavelengths."""

    id = "obs/emergent"
    title = "Goodput with losses from contention against independent ones of the same mean"
    paper = PAPER
    where = "beyond the paper"
    paper_runs = None
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The core; and the paper's path with each step of the ladder."""
        same = overrides(WORLD, chosen)
        alone = [("parameters.offset", "20 us"), ("observe", dict(LOSSLESS)["observe"])]
        return {
            name: Grid.of_cells(
                scenario,
                cells,
                [*same, *more],
                title=f"{self.id}, {name}",
                digest=options.digest,
                fork=options.fork,
            )
            for name, scenario, cells, more in (
                (CONTENTION, CORE, [way.contention() for way in CELLS], []),
                (INDEPENDENT, SCENARIO, [path.settings(step) for path in PATHS for step in LADDER], alone),
            )
        }

    def seeds(self, study: str, size: Size) -> int:
        """As many files on both sides."""
        del study
        return size.of(RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Goodput, losses and their bunches by cell, and losses by the length of bursts."""
        del chosen
        core, ladder = done[CONTENTION].once(_contention), done[INDEPENDENT].once(_independent)
        goodput: list[Row] = []
        segments: list[Row] = []
        gaps: list[Row] = []
        losses: list[Row] = []
        for place, way in enumerate(CELLS):
            found, steps = core[:, place], ladder[:, PATHS.index(way.alone())]
            centre = way.alone().data
            sides = {
                CONTENTION: (stats.mean(found[:, Column.GOODPUT]), ratio(found, Column.SEGMENTS, Column.WITH_SEGMENTS)),
                INDEPENDENT: tuple(independent(found, steps[..., kind], centre) for kind in (0, 1)),
            }
            for side, values in sides.items():
                for rows, metric, value in zip((goodput, segments), METRICS, values, strict=True):
                    rows.append(row({**way.key(), "losses": side}, metric, None, value, ""))
            gaps.append(row(way.key(), "difference_pct", None, difference(found, steps[..., 0], centre), ""))
            losses += _loss_rows(way, found)
        by_length = [_by_length(cross, core) for cross in (ALIKE, BEHIND)]
        series = [
            *curves([one for one in goodput if one.key["cross"] in (ALIKE, BEHIND)], "goodput", "Mb/s"),
            *curves([one for one in segments if one.key["cross"] in (ALIKE, BEHIND)], "segments a burst", ""),
            *curves([one for one in gaps if one.key["cross"] in (ALIKE, BEHIND)], "difference", "%"),
            *(curve for _, curve in by_length),
        ]
        note = (
            "`difference_pct`: goodput with contention over that with independent losses at the same measured mean. "
            "Its interval, and that of the independent goodput, resample files, losses and goodput together."
        )
        return Evaluation(
            [*goodput, *gaps, *segments, *losses, *(one for rows, _ in by_length for one in rows)], [], series, [note]
        )


def _loss_rows(way: Way, found: NDArray[np.float64]) -> list[Row]:
    """Shares of bursts that were lost; how much likelier a burst is lost behind a lost one than any."""
    shares = {
        "data": ratio(found, Column.LOST, Column.BURSTS),
        "acks": ratio(found, Column.ACKS_LOST, Column.ACK_BURSTS),
    }
    rows = [
        row({**way.key(), "direction": direction}, "loss_pct", None, share.times(100), "")
        for direction, share in shares.items()
    ]
    if not found[:, Column.LOST].sum():
        return rows
    return [*rows, row(way.key(), "lost_after_lost_ratio", None, bunching(found), "")]


def ratio(found: NDArray[np.float64], part: int, whole: int) -> stats.Interval:
    """Share of all files together, with its interval over files."""

    def share(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = mean[:, part] / mean[:, whole]
        return result

    estimate, samples = stats.bootstrap(found, share)
    return stats.percentile(samples, estimate, found.shape[0])


def bunching(found: NDArray[np.float64]) -> stats.Interval:
    """Share of lost bursts that the next one follows, over the share of all bursts: 1 where losses are independent."""

    def times(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        lost = np.maximum(mean[:, Column.LOST], np.finfo(np.float64).tiny)
        result: NDArray[np.float64] = (mean[:, Column.LOST_AFTER_LOST] / lost) / (lost / mean[:, Column.BURSTS])
        return result

    estimate, samples = stats.bootstrap(found, times)
    return stats.percentile(samples, estimate, found.shape[0])


def independent(found: NDArray[np.float64], steps: NDArray[np.float64], centre: float) -> stats.Interval:
    """What independent losses of the measured mean give, with the interval of measurement and ladder together.

    Parameters
    ----------
    found
        What the runs over the core give, shape (files, columns).
    steps
        Goodput, or segments a burst, at each step of the ladder, shape (files, steps).
    centre
        Probability at the step 1.
    """
    table = np.column_stack([found, steps])
    estimate, samples = stats.bootstrap(table, lambda mean: _at_measured(mean, centre))
    return stats.percentile(samples, estimate, found.shape[0])


def difference(found: NDArray[np.float64], steps: NDArray[np.float64], centre: float) -> stats.Interval:
    """How much more goodput contention leaves than :func:`independent` losses do, in per cent, from the same."""

    def percent(mean: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = 100 * (mean[:, Column.GOODPUT] / _at_measured(mean, centre) - 1)
        return result

    estimate, samples = stats.bootstrap(np.column_stack([found, steps]), percent)
    return stats.percentile(samples, estimate, found.shape[0])


def _at_measured(mean: NDArray[np.float64], centre: float) -> NDArray[np.float64]:
    step = mean[:, Column.LOST] / mean[:, Column.BURSTS] / centre
    return between(step, mean[:, -len(LADDER) :])


def between(step: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Goodput, or segments a burst, between the steps of the ladder.

    The time of a file and its number of bursts grow about evenly with the losses, so the polynomial goes through what
    is inverse to them (Lagrange's form).
    """
    at = np.clip(step, LADDER[0], LADDER[-1])
    inverse = np.zeros_like(at)
    for place, own in enumerate(LADDER):
        others = [other for other in LADDER if other != own]
        weight = np.prod([(at - other) / (own - other) for other in others], axis=0)
        inverse = inverse + weight / values[:, place]
    return 1 / inverse


def _by_length(cross: str, core: NDArray[np.float64]) -> tuple[list[Row], Series]:
    """Shares of lost bursts by the segments in them, over all timers and both senders; the curve has their means."""
    own = core[:, [place for place, way in enumerate(CELLS) if way.cross == cross]].sum(axis=1)
    rows, x = [], []
    for place, (least, most) in enumerate(LENGTHS):
        bursts, lost, segments = (Column.LENGTHS + 3 * place + kind for kind in range(3))
        if own[:, bursts].sum():
            key: Key = {"cross": cross, "segments": f"{least} to {most}" if most > least else f"{least}"}
            rows.append(row(key, "loss_pct", None, ratio(own, lost, bursts).times(100), ""))
            x.append(round(float(own[:, segments].sum() / own[:, bursts].sum()), 4))
    y, ci95 = [one.value for one in rows], intervals_of(rows)
    return rows, Series("loss", {"cross": cross}, "segments in a burst", "", "bursts lost", "%", x, y, ci95)


def _contention(done: Done) -> NDArray[np.float64]:
    """Shape (files, cells, columns)."""
    return np.array([[measure(run) for run in runs] for _, runs in done])


def _independent(done: Done) -> NDArray[np.float64]:
    """Goodput in Mb/s and segments a burst, shape (files, paths, steps, 2)."""
    return transfers(done).reshape(-1, len(PATHS), len(LADDER), 2)


def measure(run: RunData) -> list[float]:
    """What a run over the core gives, in the order of Column."""
    rows = run.series["bursts"]
    there = rows["port"] == list(rows["ports"]).index(DIRECTION)
    lost, segments = rows["lost"][there], rows["segments"][there]
    acks_lost = rows["lost"][~there]
    carrying = segments > 0
    found = [
        goodput_mbps(run),
        lost.size,
        lost.sum(),
        acks_lost.size,
        acks_lost.sum(),
        (lost[:-1] & lost[1:]).sum(),
        carrying.sum(),
        segments.sum(),
    ]
    for least, most in LENGTHS:
        own = (segments >= least) & (segments <= most)
        found += [own.sum(), lost[own].sum(), segments[own].sum()]
    return [float(value) for value in found]
