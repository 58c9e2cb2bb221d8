"""Constants that all experiments of the GMPLS paper share: name, number of random cases, times and windows."""

import functools
from pathlib import Path
from typing import Any

from optcp.papers.kit import Assumed, Plausible, Span, ns2_sender, ns2_world, start_spread
from optcp.papers.printed import read

PAPER = (
    "C. Develder, D. Colle, S. De Maesschalck, M. Pickavet, P. Demeester: "
    "Influence of GMPLS Recovery Mechanisms on TCP Performance"
)
PAPER_RUNS = 150
SOURCES = 10
"""Number of source nodes per class (Table 1)."""

START_S, START_SPREAD_MS = 0.5, 500
"""Time of the first start and interval in which all sources start (Table 2)."""
FAILURE_S = 5.0
"""Time at which link L1-L2 fails (Table 2)."""
REPAIR_S = 10.0
"""Time at which link L1-L2 is repaired, in the scenarios with a repair (Table 2)."""
WINDOW_S = (5.0, 6.5)
"""Interval of equation 5. The paper's "6.5 ms" must be 6.5 s."""

LOST_NOTE = "The figure is missing in the paper's text. Only the statements about it can be compared."
WHY_CHANGED = "The scenario was changed by --set, so it differs from the paper's."

PS = 1_000_000_000_000
"""Number of picoseconds per second."""


@functools.cache
def ns2() -> dict[str, Any]:
    """Return the results of independent ns-2 runs, by table (``ns2.toml``, with the keys of ``tables.toml``)."""
    return read(Path(__file__).parent, "ns2.toml")


def world(access_share: float) -> tuple[Assumed, ...]:
    """Return the unstated parameters of the paper's simulations: network, TCP and start times.

    Parameters
    ----------
    access_share
        Rate of the access links as a share of the backbone rate, 0 to 1.
    """
    starts = Plausible(
        Span(100, 3000, log=True), "0.5 s is stated; the distribution, and whether nodes or flows draw from it, is not"
    )
    return (
        *ns2_world(access_share, link_delay_ms=1.0),
        *ns2_sender(),
        start_spread(START_S, START_SPREAD_MS, starts),
    )
