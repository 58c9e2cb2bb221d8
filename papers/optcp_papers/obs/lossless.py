"""The lossless transfers behind figures 14 and 17 and the model: every timer, every ACK, alone and not."""

from dataclasses import dataclass

from optcp.papers.kit import Axis, Cells, Chosen, Grid, Options, Settings, StudyResult
from optcp_papers.obs.paper import (
    ACK_TIMER,
    BESIDE,
    TIMER,
    bursts_by_size,
    goodput_mbps,
    grid,
    mean_size,
    parts,
    settings,
)

NAME = "lossless"
PRODUCTS = ((ACK_TIMER, BESIDE, TIMER), (Axis("recovery", ("sack",)), TIMER))
"""Without losses Reno and SACK do the same: of SACK each timer once."""
SIZES_RUNS = 20
"""Files behind the sizes of bursts that the model takes: each has thousands of bursts."""
OBSERVE = [{"name": kind, "kind": kind} for kind in ("completions", "segments-per-burst")]
LOSSLESS: Settings = {"parameters.loss_probability": 0, "observe": OBSERVE}


def lossless(chosen: Chosen, options: Options) -> Grid:
    """The grid that the figures share."""

    def cell(timer_s: float, background: str = "no", **rest: str) -> Settings:
        return settings(timer_s, background, **rest)

    return grid("obs, without losses", PRODUCTS, cell, LOSSLESS, chosen, options)


@dataclass(frozen=True)
class Lossless:
    """What is measured; cells have the axes ``ack_timer``, ``background`` and ``timer_s``.

    Attributes
    ----------
    goodput, sack_goodput
        In Mb/s; that of SACK over ``timer_s`` alone.
    bursts
        By number of segments, axis ``segments``.
    """

    goodput: Cells
    sack_goodput: Cells
    bursts: Cells

    @property
    def segments(self) -> Cells:
        """Mean segments a burst."""
        return mean_size(self.bursts)


def measure(done: StudyResult) -> Lossless:
    """Reduce the runs; the exhibits share the result (``StudyResult.once``)."""
    reno, sack = parts(done, PRODUCTS)
    return Lossless(goodput_mbps(reno), goodput_mbps(sack).at(recovery="sack"), bursts_by_size(reno))


def shares(bursts: Cells) -> dict[int, float]:
    """Of the bursts of one cell the share that carries so many segments, over all files."""
    counts = bursts.values.sum(axis=0)
    return {size: count / counts.sum() for size, count in enumerate(counts.tolist(), 1) if count}
