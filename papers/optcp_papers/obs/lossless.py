"""Lossless transfers of figures 14 and 17 and of the model: all timers and ACK modes, with and without background."""

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
"""Axes. Without losses Reno equals SACK, so SACK has each timer once."""
SIZES_RUNS = 20
"""Number of files for the burst sizes of the model; each has thousands of bursts."""
OBSERVE = [{"name": kind, "kind": kind} for kind in ("completions", "segments-per-burst")]
LOSSLESS: Settings = {"parameters.loss_probability": 0, "observe": OBSERVE}


def lossless(chosen: Chosen, options: Options) -> Grid:
    """Return the grid that the figures share."""

    def cell(timer_s: float, background: str = "no", **rest: str) -> Settings:
        return settings(timer_s, background, **rest)

    return grid("obs, without losses", PRODUCTS, cell, LOSSLESS, chosen, options)


@dataclass(frozen=True)
class Lossless:
    """Results of the lossless transfers, over ``ack_timer``, ``background`` and ``timer_s``.

    Attributes
    ----------
    goodput, sack_goodput
        Goodput in Mb/s; SACK's is over ``timer_s`` only.
    bursts
        Number of bursts by segments, axis ``segments``.
    """

    goodput: Cells
    sack_goodput: Cells
    bursts: Cells

    @property
    def segments(self) -> Cells:
        """Mean segments per burst."""
        return mean_size(self.bursts)


def measure(done: StudyResult) -> Lossless:
    """Evaluate the runs; the experiments share the result (``StudyResult.once``)."""
    reno, sack = parts(done, PRODUCTS)
    return Lossless(goodput_mbps(reno), goodput_mbps(sack).at(recovery="sack"), bursts_by_size(reno))


def shares(bursts: Cells) -> dict[int, float]:
    """Return the share of bursts over all files, by number of segments."""
    counts = bursts.values.sum(axis=0)
    return {size: count / counts.sum() for size, count in enumerate(counts.tolist(), 1) if count}
