"""A smaller copy of the network, in which a run takes seconds.

Of the paper's world it has the delays, K, the bundling degrees, the buffer as a share of the bandwidth-delay product,
and how many flows there are relative to each other. Rates are a hundredth and flows a tenth, so a flow's share of the
bandwidth-delay product is a tenth, 83 segments in place of 833, and so is the time in which it grows back after a
halving: 60 s here are as many such times as 600 s there. What it loses: with a tenth of the flows their sum fluctuates
more (docs/papers/lbas.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from optcp.papers import assume
from optcp.papers.assume import built_in
from optcp.papers.base import Exhibit
from optcp.papers.lbas import outcome
from optcp.papers.lbas.paper import ASSUMED, PAPER, READINGS, SCENARIO, Cell
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.lbas.outcome import Batches
    from optcp.study import RunData

RATE_MBPS = 100
PRODUCT_BYTES = 1_250_000
"""C RTT with 100 ms."""
BUFFER_BYTES = PRODUCT_BYTES // 10
BUNDLING_DEGREES = (2, 5)
FLOWS = (10, 25)
"""A lightpath, in each direction: a tenth of the paper's."""
LENGTH = {"stop": "60 s", "parameters.warm_up": "6 s", "parameters.batch": "54 s"}
QUICK_LENGTH = {"stop": "12 s", "parameters.warm_up": "4 s", "parameters.batch": "8 s"}

WORLD = (
    *(
        one
        for one in ASSUMED
        if one.name not in ("profile", "timeout_basis", "buffer", "far_buffer", "initial_ssthresh_segments")
    ),
    built_in("smaller_copy", "100 Mb/s, buffers of 125 kB, 60 s of which the first 6 s are left out"),
)
"""What ``--set`` can change here: what does not depend on the scale."""

CELLS = tuple(
    Cell(degree, flows, anycast) for degree in BUNDLING_DEGREES for flows in FLOWS for anycast in (True, False)
)
QUICK_CELLS = CELLS[:2]

_CUBIC: dict[str, str] = {"parameters.profile": "linux-6"}
SENDERS: dict[str, dict[str, str]] = {
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
"""The interpretations of the paper's NewReno, and today's senders: CUBIC with SACK as in Linux, and BBR version 1."""
OF_THE_PAPER = tuple(SENDERS)[: len(READINGS)]


class Smaller(Exhibit):
    """An exhibit in the smaller copy."""

    paper = PAPER
    where = "beyond the paper"
    paper_runs = None
    runs: ClassVar[int]
    """Random cases of the default size."""
    assumed = WORLD

    def seeds(self, study: str, size: Size) -> int:
        """As many as the exhibit says; one for a quick look."""
        del study
        return size.of(self.runs, 1)


def study(
    title: str,
    cells: Sequence[Mapping[str, str]],
    chosen: Mapping[str, Value],
    options: Options,
    length: Mapping[str, str] = LENGTH,
) -> Grid:
    """One branch a cell; a quick look is shorter."""
    taken = QUICK_LENGTH if is_quick(options) else length
    network = {
        "parameters.rate": f"{RATE_MBPS} Mbps",
        "parameters.buffer": f"{BUFFER_BYTES} B",
        "parameters.far_buffer": f"{BUFFER_BYTES} B",
    }
    return Grid.of_cells(
        SCENARIO,
        [dict(cell) for cell in cells],
        [*assume.overrides(WORLD, chosen), *network.items(), *taken.items()],
        title=title,
        digest=options.digest,
        fork=options.fork,
    )


def is_quick(options: Options) -> bool:
    """Whether few cells and short runs will do."""
    return options.size.is_quick


def shares(found: Batches, rate_mbps: float = RATE_MBPS, buffer_mb: float = BUFFER_BYTES / 1e6) -> dict[str, float]:
    """What compares with a network of another rate.

    Returns
    -------
    dict
        ``utilisation_pct`` of the rate; ``dropped_pct`` of the bytes that came to the lightpaths; ``queue_pct``, the
        mean queue of the buffer.
    """
    taken, dropped = 1000 * found["throughput_gbps"].mean(), found["drop_mbps"].mean()
    return {
        "utilisation_pct": float(100 * taken / rate_mbps),
        "dropped_pct": float(100 * dropped / (taken + dropped)),
        "queue_pct": float(100 * found["queue_mb"].mean() / buffer_mb),
    }


def measure(run: RunData) -> dict[str, float]:
    """The shares of one run."""
    return shares(outcome.batches(run))
