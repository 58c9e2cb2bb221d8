"""The lossless transfers behind figures 14 and 17 and the model: every timer, every ACK, alone and not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.papers.obs.paper import ACKS, BACKGROUND, TIMERS_S, Cell, histogram, study, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.study import Done, Grid

NAME = "lossless"
CELLS = tuple(Cell(timer, background, ack) for ack in ACKS for background in BACKGROUND for timer in TIMERS_S)
SACK_CELLS = tuple(Cell(timer, "no", "none", "sack") for timer in TIMERS_S)
"""Without losses Reno and SACK do the same: each timer once more."""
SIZES_RUNS = 20
"""Files behind the sizes of bursts that the model takes: each has thousands of bursts."""
LOSSLESS = (
    ("parameters.loss_probability", "0"),
    (
        "observe",
        '[{ name = "completions", kind = "completions" }, '
        '{ name = "segments-per-burst", kind = "segments-per-burst" }]',
    ),
)


def lossless(chosen: Mapping[str, Value], options: Options) -> Grid:
    """The study; both figures ask for the same one."""
    return study("obs, without losses", [*CELLS, *SACK_CELLS], LOSSLESS, chosen, options)


def measured(done: Done) -> dict[Cell, NDArray[np.float64]]:
    """Goodput in Mb/s and mean segments a burst by cell, shape (seeds, 2)."""
    return done.once(_measure)


def sizes(done: Done) -> dict[Cell, dict[int, float]]:
    """Of the bursts that carry segments, the share that carries so many, over all files, by cell."""
    return done.once(_sizes)


def _sizes(done: Done) -> dict[Cell, dict[int, float]]:
    counts: list[dict[int, int]] = [{} for _ in CELLS]
    for _, runs in done:
        for found, run in zip(counts, runs[: len(CELLS)], strict=True):
            for size, bursts in zip(*(column.tolist() for column in histogram(run)), strict=True):
                found[size] = found.get(size, 0) + bursts
    return {
        cell: {size: bursts / sum(found.values()) for size, bursts in sorted(found.items())}
        for cell, found in zip(CELLS, counts, strict=True)
    }


def _measure(done: Done) -> dict[Cell, NDArray[np.float64]]:
    return table(done, [*CELLS, *SACK_CELLS])
