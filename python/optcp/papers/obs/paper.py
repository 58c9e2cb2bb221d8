"""What all exhibits of the paper share: its network, its cells, and what a run gives of its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.errors import RunFailed
from optcp.papers.assume import Assumed, not_negative, overrides, positive, positive_int
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Key
    from optcp.study import Done, RunData

PAPER = (
    "Ó. González de Dios, I. de Miguel, V. López: Performance evaluation of TCP over OBS considering background traffic"
)
SCENARIO = Path(__file__).with_name("scenarios") / "obs.toml"

PAPER_RUNS = 100
"""Files a point, section IV.C."""
QUICK_RUNS = 5
TIMERS_S = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""From the lowest timer of section IV.C to the highest of its figures, three a decade."""
WINDOW = 44
"""Segments of 1460 B in 65535 B, table I."""
SEGMENT_BYTES = 1500
"""On the wire."""
PS = 1_000_000_000_000
"""Picoseconds a second."""

ACKS = {"none": "every-packet", "exact": "delayed", "tick": "delayed-tick"}
"""Kinds of delayed-ACK timer, none among them, and the scenario's ``ack``."""
BACKGROUND = ("no", "yes")
DIRECTION = "E->F"
"""The port behind which the file's segments travel in bursts."""

WORLD = (
    Assumed("access_mbps", 100.0, positive, lambda value: [("parameters.access", f"{value:g} Mbps")]),
    Assumed("wavelength_mbps", 10_000.0, positive, lambda value: [("parameters.wavelength", f"{value:g} Mbps")]),
    Assumed("offset_ms", 0.0, not_negative, lambda value: [("parameters.offset", f"{value:g} ms")]),
    Assumed("access_delay_ms", 0.0, not_negative, lambda value: [("parameters.access_delay", f"{value:g} ms")]),
    Assumed("path_delay_ms", 50.0, not_negative, lambda value: [("parameters.path_delay", f"{value:g} ms")]),
    Assumed("onset_ms", 100.0, positive, lambda value: [("parameters.onset", f"{value:g} ms")]),
    Assumed("smallest_bytes", 40, positive_int, lambda value: [("parameters.smallest", f"{value} B")]),
    Assumed("largest_bytes", 1500, positive_int, lambda value: [("parameters.largest", f"{value} B")]),
    Assumed("profile", "opnet-11", str, lambda value: [("tcp.file.profile", str(value))]),
)
"""Unstated parameters: figures 8 and 9, which would state some of them, are lost from its text."""


@dataclass(frozen=True)
class Cell:
    """One world.

    Attributes
    ----------
    timer_s
        Assembly timer.
    background
        "yes" or "no".
    ack_timer
        A key of ACKS.
    recovery
        "reno" or "sack".
    """

    timer_s: float
    background: str
    ack_timer: str = "none"
    recovery: str = "reno"

    def settings(self) -> dict[str, str]:
        """What makes the scenario this world."""
        chosen = {
            "parameters.timer": f"{round(1e6 * self.timer_s)} us",
            "parameters.ack": ACKS[self.ack_timer],
            "parameters.recovery": self.recovery,
        }
        return chosen if self.background == "yes" else chosen | {"traffic": "[]"}

    def delayed_key(self) -> Key:
        """The key of rows of exhibits that have delayed ACKs on one axis."""
        return {
            "timer_s": self.timer_s,
            "delayed_ack": "no" if self.ack_timer == "none" else "yes",
            "background": self.background,
            "ack_timer": self.ack_timer,
        }

    def recovery_key(self) -> Key:
        """The key of rows of exhibits that compare Reno and SACK."""
        return {
            "timer_s": self.timer_s,
            "recovery": self.recovery,
            "background": self.background,
            "ack_timer": self.ack_timer,
        }


def study(
    title: str,
    cells: Sequence[Cell],
    more: Sequence[tuple[str, str]],
    chosen: Mapping[str, Value],
    options: Options,
) -> Grid:
    """One branch a cell, in their order."""
    return study_of(title, [cell.settings() for cell in cells], more, chosen, options)


def study_of(
    title: str,
    settings: Sequence[dict[str, str]],
    more: Sequence[tuple[str, str]],
    chosen: Mapping[str, Value],
    options: Options,
) -> Grid:
    """One branch for each of these settings of the scenario, in their order."""
    return Grid.of_cells(
        SCENARIO,
        settings,
        [*overrides(WORLD, chosen), *more],
        title=title,
        digest=options.digest,
        fork=options.fork,
    )


def transfers(done: Done) -> NDArray[np.float64]:
    """Goodput in Mb/s and mean segments a burst, shape (files, branches, 2); NaN where a run did not count bursts."""
    return np.array([[(goodput_mbps(run), mean_segments(run)) for run in runs] for _, runs in done])


def table(done: Done, cells: Sequence[Cell]) -> dict[Cell, NDArray[np.float64]]:
    """Goodput in Mb/s and mean segments a burst by cell, shape (seeds, 2); NaN where a run did not count bursts."""
    found = transfers(done)
    return {cell: found[:, place] for place, cell in enumerate(cells)}


def goodput_mbps(run: RunData) -> float:
    """Useful data received at the destination per unit of time, over the transfer of the file.

    Raises
    ------
    RunFailed
        If the file was not there when the run ended.
    """
    rows = run.series["completions"]
    if not bool(rows["finished"].all()):
        raise RunFailed(f"seed {run.seed}: the file did not end; a longer run is needed")
    took_ps = rows["time_ps"].astype(np.float64) - rows["start_ps"].astype(np.float64)
    return float(8e-6 * rows["bytes"][0] / (took_ps[0] / PS))


def histogram(run: RunData) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many bursts towards the server carried so many segments of the file: sizes from 1 up, and bursts."""
    rows = run.series["segments-per-burst"]
    there = (rows["port"] == list(rows["ports"]).index(DIRECTION)) & (rows["segments"] > 0)
    return rows["segments"][there].astype(np.int64), rows["bursts"][there].astype(np.int64)


def mean_segments(run: RunData) -> float:
    """Segments of the file a burst, of bursts that carry any."""
    if "segments-per-burst" not in run.series:
        return float("nan")
    sizes, bursts = histogram(run)
    return float((sizes * bursts).sum() / bursts.sum())


def equation_3(timer_s: float, access_mbps: float, *, opener: bool = False) -> float:
    """Mean segments a burst of a single flow, equation 3.

    Parameters
    ----------
    opener
        Whether a burst also holds the segment that opened it, so that a timer of T holds floor(BW T) + 1; the paper
        takes BW T.
    """
    access = access_mbps * 1e6 / (8 * SEGMENT_BYTES) * timer_s
    most = float(np.floor(access) + 1) if opener else access
    if most >= WINDOW:
        return float(WINDOW)
    if most <= 1:
        return 1.0
    # N_max bursts of S_max segments and one of what is left: together the window.
    return WINDOW / float(np.ceil(WINDOW / most))


def rtt0_s(chosen: Mapping[str, Value]) -> float:
    """The propagation of a round trip: twice the path and both access links."""
    return 2e-3 * (float(chosen["path_delay_ms"]) + 2 * float(chosen["access_delay_ms"]))


def equation_5(timer_s: float, rtt0_s: float) -> float:
    """Figure of merit of the delay penalty."""
    return rtt0_s / (rtt0_s + 2 * timer_s)
