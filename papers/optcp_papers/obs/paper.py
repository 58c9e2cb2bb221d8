"""Network, parameter combinations and metrics that all experiments of the OBS paper share."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.papers import over
from optcp.papers.assume import Assumed, not_negative, overrides, positive, positive_int
from optcp.papers.exhibit import Chosen, key_value
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Row, RunFailed, Series, Settings, StudyResult, curves_over

PAPER = (
    "Ó. González de Dios, I. de Miguel, V. López: Performance evaluation of TCP over OBS considering background traffic"
)
SCENARIO = Path(__file__).with_name("scenarios") / "obs.toml"

PAPER_RUNS = 100
"""Number of files per point (section IV.C)."""
QUICK_RUNS = 5
TIMERS_S = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Assembly timers from the minimum of section IV.C to the maximum of its figures, three per decade."""
WINDOW = 44
"""Window in segments: 1460 B in 65535 B (table I)."""
SEGMENT_BYTES = 1500
"""On the wire."""
PS = 1_000_000_000_000
"""Picoseconds a second."""

ACKS = {"none": "every-packet", "exact": "delayed", "tick": "delayed-tick"}
"""Value of the scenario's ``ack`` by kind of delayed-ACK timer."""
BACKGROUND = ("no", "yes")
RECOVERIES = ("reno", "sack")
DIRECTION = "E->F"
"""Port whose bursts carry the file's segments."""

WORLD = (
    Assumed("access_mbps", 100.0, positive, "parameters.access"),
    Assumed("wavelength_mbps", 10_000.0, positive, "parameters.wavelength"),
    Assumed("offset_ms", 0.0, not_negative, "parameters.offset"),
    Assumed("access_delay_ms", 0.0, not_negative, "parameters.access_delay"),
    Assumed("path_delay_ms", 50.0, not_negative, "parameters.path_delay"),
    Assumed("onset_ms", 100.0, positive, "parameters.onset"),
    Assumed("smallest_bytes", 40, positive_int, "parameters.smallest"),
    Assumed("largest_bytes", 1500, positive_int, "parameters.largest"),
    Assumed("profile", "opnet-11", str, "tcp.file.profile"),
)
"""Unstated parameters. Figures 8 and 9, which would state some of them, are missing in the paper's text."""

TIMER = Axis("timer_s", tuple(map(str, TIMERS_S)))
"""Assembly timers."""
ACK_TIMER = Axis("ack_timer", tuple(ACKS))
BESIDE = Axis("background", BACKGROUND)
RECOVERY = Axis("recovery", RECOVERIES)


def numbers(name: str, values: Iterable[float]) -> Axis:
    """Return an axis of plain numbers."""
    return Axis(name, tuple(map(str, values)))


def settings(timer_s: float, background: str, ack_timer: str = "none", recovery: str = "reno") -> dict[str, Any]:
    """Return the scenario settings of one combination, with one value of each of the axes above."""
    chosen = {
        "parameters.timer": f"{round(1e6 * timer_s)} us",
        "parameters.ack": ACKS[ack_timer],
        "parameters.recovery": recovery,
    }
    return chosen if background == "yes" else {**chosen, "traffic": []}


Axes = tuple[Axis, ...]


def grid(
    title: str,
    products: Sequence[Axes],
    cell: Callable[..., Settings],
    more: Settings,
    chosen: Chosen,
    options: Options,
    *,
    only: NDArray[np.bool_] | None = None,
    scenario: Path = SCENARIO,
    world: tuple[Assumed, ...] = WORLD,
) -> Grid:
    """Return the grid of all combinations of the axes' values, the last axis fastest.

    Parameters
    ----------
    products
        Usually only the axes. If the combinations are no grid: several grids whose combinations follow each other,
        which :func:`parts` separates again.
    cell
        Function from one value of each axis, by name, to the settings of that combination.
    more
        Settings of all combinations.
    only
        Mask of the combinations to use; all if omitted.
    """
    every = [
        cell(**{axis.name: key_value(axis, place) for axis, place in zip(axes, at, strict=True)})
        for axes in products
        for at in np.ndindex(*map(len, axes))
    ]
    cells = every if only is None else list(itertools.compress(every, only.flat))
    made = options.grid(scenario, {**overrides(world, chosen), **more}, cells, title)
    return replace(made, named=products[0]) if len(products) == 1 and only is None else made


def parts(done: StudyResult, products: Sequence[Axes]) -> list[StudyResult]:
    """Return the grids of which a study consists, in order."""
    result, branches = [], iter(done.grid.branches)
    for axes in products:
        own = tuple(itertools.islice(branches, math.prod(map(len, axes))))
        result.append(replace(done, grid=replace(done.grid, branches=own, named=axes), _memo={}))
    return result


def goodput_mbps(done: StudyResult) -> Cells:
    """Return the useful data received at the destination per unit of time, over the transfer of the file.

    Raises
    ------
    RunFailed
        If the file was unfinished at the end of the run.
    """
    table, run = done.rows("completions")
    there = table.numbers("finished")
    if not there.all():
        seed = done.seeds[run[~there][0] // len(done.grid.branches)]
        raise RunFailed(f"seed {seed}: the file did not end; a longer run is needed")
    took_ps = table.numbers("time_ps").astype(np.float64) - table.numbers("start_ps").astype(np.float64)
    result = np.empty(len(done.seeds) * len(done.grid.branches))
    result[run] = 8e-6 * table.numbers("bytes") / (took_ps / PS)
    return done.cells(result, name="goodput_mbps")


def bursts_by_size(done: StudyResult) -> Cells:
    """Return the number of bursts to the server by segments of the file: axis ``segments``, from 1."""
    table, run = done.rows("segments-per-burst")
    there = table.is_("port", DIRECTION) & (table.numbers("segments") > 0)
    segments = table.numbers("segments")[there].astype(np.int64)
    result = np.zeros((len(done.seeds) * len(done.grid.branches), max(WINDOW, int(segments.max()))))
    np.add.at(result, (run[there], segments - 1), table.numbers("bursts")[there])
    return done.cells(result, (numbers("segments", range(1, 1 + result.shape[1])),))


def segments_per_burst(done: StudyResult) -> Cells:
    """Return the segments of the file per burst, over bursts that carry any."""
    return mean_size(bursts_by_size(done))


def mean_size(bursts: Cells) -> Cells:
    """Return the mean segments of bursts that are counted by size."""
    sizes = np.array(bursts.axis("segments").numbers)
    return bursts.each(lambda counts: counts * sizes).total("segments") / bursts.total("segments")


def recovery_key(ack_timer: str) -> Callable[[Key], Key]:
    """Return a function for row keys of experiments that compare Reno and SACK, with a kind of delayed-ACK timer."""
    names = ("timer_s", "recovery", "background", "ack_timer")
    return lambda at: {name: {**at, "ack_timer": ack_timer}[name] for name in names}


def delayed_key(at: Key) -> Key:
    """Return the row key of experiments that have delayed ACKs of any timer on one axis."""
    delayed = "no" if at["ack_timer"] == "none" else "yes"
    return {
        "timer_s": at["timer_s"],
        "delayed_ack": delayed,
        "background": at["background"],
        "ack_timer": at["ack_timer"],
    }


def curves(rows: Sequence[Row], label: str, unit: str) -> list[Series]:
    """Return one curve over the assembly timer for all rows that only differ in it."""
    return curves_over(rows, "timer_s", over.Axis("assembly timer", "s"), over.Axis(label, unit))


def ms(timer_s: float) -> str:
    """Write a timer as text."""
    return f"{1e3 * timer_s:g} ms"


def equation_3(timer_s: float, access_mbps: float, *, opener: bool = False) -> float:
    """Return the mean segments per burst of a single flow by equation 3.

    Parameters
    ----------
    opener
        Whether a burst also holds the segment that opened it, so that a timer of T holds floor(BW T) + 1. The paper
        uses BW T.
    """
    access = access_mbps * 1e6 / (8 * SEGMENT_BYTES) * timer_s
    most = float(np.floor(access) + 1) if opener else access
    if most >= WINDOW:
        return float(WINDOW)
    if most <= 1:
        return 1.0
    # N_max bursts of S_max segments and one with the remainder make up the window.
    return WINDOW / float(np.ceil(WINDOW / most))


def rtt0_s(chosen: Chosen) -> float:
    """Return the propagation delay of a round trip: twice the path and both access links."""
    return 2e-3 * (float(chosen["path_delay_ms"]) + 2 * float(chosen["access_delay_ms"]))


def equation_5(timer_s: float, rtt0_s: float) -> float:
    """Return the figure of merit of the delay penalty by equation 5."""
    return rtt0_s / (rtt0_s + 2 * timer_s)
