"""Smaller copy of the network, in which a run takes seconds.

It keeps the paper's delays, K, bundling degrees, ratio of buffer to bandwidth-delay product, and relative numbers of
flows. Rates are a hundredth and flows a tenth. A flow's share of the bandwidth-delay product is thus a tenth (83
segments instead of 833), and so is its regrowth time after a halving. 60 s here have as many regrowth times as 600 s
there. With a tenth of the flows, their sum fluctuates more than in the paper (docs/details/lbas.md).
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Axis, Cells, Chosen, Grid, Options, Settings, Setup, StudyResult, assume, built_in, runs_of
from optcp_papers.lbas import outcome
from optcp_papers.lbas.paper import ASSUMED, PAPER, SCENARIO, Cell

T = TypeVar("T", "Cells", "NDArray[np.float64]")

RATE_MBPS = 100
PRODUCT_BYTES = 1_250_000
"""C RTT with an RTT of 100 ms, in bytes."""
BUFFER_BYTES = PRODUCT_BYTES // 10
BUNDLING_DEGREES = (2, 5)
FLOWS = (10, 25)
"""Number of flows per lightpath in each direction: a tenth of the paper's."""
LENGTH = {"stop": "60 s", "parameters.warm_up": "6 s", "parameters.batch": "54 s"}
QUICK_LENGTH = {"stop": "12 s", "parameters.warm_up": "4 s", "parameters.batch": "8 s"}
COUNTED = ("throughput_gbps", "drop_mbps", "queue_mb")
"""Metrics of :data:`optcp_papers.lbas.outcome.METRICS` that are used. A run of the copy is one batch."""

WORLD = (
    *(
        parameter
        for parameter in ASSUMED
        if parameter.name not in ("profile", "timeout_basis", "buffer", "far_buffer", "initial_ssthresh_segments")
    ),
    built_in("smaller_copy", "100 Mb/s, buffers of 125 kB, 60 s of which the first 6 s are left out"),
)
"""Parameters that ``--set`` can change here, because they do not depend on the scale."""

_CUBIC = {"parameters.profile": "linux-6"}
SENDERS: dict[str, Settings] = {
    "inet-2011": {"parameters.profile": "inet-2011"},
    "rfc": {"parameters.profile": "rfc"},
    "rfc, timeout_basis = flight-size": {"parameters.profile": "rfc", "tcp.all.timeout_basis": "flight-size"},
    "linux-6": _CUBIC,
    "BBR": {
        **_CUBIC,
        "tcp.all.congestion": "bbr",
        "tcp.all.pacing": "rate",
        "tcp.all.loss_detection": "rack",
    },
}
"""Interpretations of the paper's NewReno, and current senders: CUBIC with SACK as in Linux, and BBR version 1."""


def setup(grids: Callable[[Chosen, Options], dict[str, Grid]], runs: int) -> Setup:
    """Return the set-up of an experiment in the copy; quick runs have one seed per combination."""
    return Setup(PAPER, None, grids, runs_of(runs, 1), WORLD)


def network(bundling_degree: int, flows: int, anycast: str) -> Settings:
    """Return the scenario settings of a combination."""
    return Cell(bundling_degree, flows, anycast == "yes").settings


def grid(
    title: str,
    axes: Mapping[str, Sequence[object]],
    settings: Callable[..., Settings],
    chosen: Chosen,
    options: Options,
    length: Mapping[str, str] = LENGTH,
) -> Grid:
    """Return the grid of all combinations of the axes' values, the last axis fastest; quick runs are shorter.

    Parameters
    ----------
    settings
        Function from a value of each axis, by name, to the settings of the combination.
    """
    cells = [settings(**dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values())]
    buffer = f"{BUFFER_BYTES} B"
    copy = {"parameters.rate": f"{RATE_MBPS} Mbps", "parameters.buffer": buffer, "parameters.far_buffer": buffer}
    taken = QUICK_LENGTH if options.size.is_quick else length
    common = {**assume.overrides(WORLD, chosen), **copy, **taken}
    made = Grid.of_cells(SCENARIO, cells, common, title=title, digest=options.digest, fork=options.fork)
    return replace(made, named=tuple(Axis(name, tuple(map(str, values))) for name, values in axes.items()))


def counted(done: StudyResult) -> dict[str, Cells]:
    """Return the port counters by metric."""
    result = done.each(lambda run: [outcome.batches(run)[name].mean() for name in COUNTED], Axis("metric", COUNTED))
    return {name: result.at(metric=name) for name in COUNTED}


def measured(done: StudyResult) -> dict[str, Cells]:
    """Return the scaled metrics of :func:`shares`."""
    return shares(done.once(counted))


def shares(found: Mapping[str, T], rate_mbps: float = RATE_MBPS, buffer_mb: float = BUFFER_BYTES / 1e6) -> dict[str, T]:
    """Return metrics that are comparable between networks of different rates.

    Returns
    -------
    dict
        ``utilisation_pct`` of the rate; ``dropped_pct`` of the bytes offered to the lightpaths; ``queue_pct``, the
        mean queue in % of the buffer.
    """
    taken_mbps, drop_mbps = 1000 * found["throughput_gbps"], found["drop_mbps"]
    return {
        "utilisation_pct": 100 * taken_mbps / rate_mbps,
        "dropped_pct": 100 * drop_mbps / (taken_mbps + drop_mbps),
        "queue_pct": 100 * found["queue_mb"] / buffer_mb,
    }
