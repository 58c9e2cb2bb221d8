"""What all exhibits of the paper share: its name, its number of random cases, its instants and windows."""

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
"""Table 1: source nodes of a class."""

START_S, START_SPREAD_MS = 0.5, 500
"""Table 2: the sources start from then on, within that time."""
FAILURE_S = 5.0
"""Table 2: the link L1-L2 goes down."""
REPAIR_S = 10.0
"""Table 2: it is up again, where it is repaired at all."""
WINDOW_S = (5.0, 6.5)
"""Equation 5's interval; the paper prints "6.5 ms" for 6.5 s."""

LOST_NOTE = "The figure is lost from the text: nothing is printed to compare with, only what the text says of it."
WHY_CHANGED = "The world was changed by --set, so it is not the one that the paper's values are compared with."

PS = 1_000_000_000_000
"""Picoseconds a second."""


@functools.cache
def ns2() -> dict[str, Any]:
    """Return what independent ns-2 runs gave, by table: ``ns2.toml``, with the keys of ``tables.toml``."""
    return read(Path(__file__).parent, "ns2.toml")


def world(access_share: float) -> tuple[Assumed, ...]:
    """Unstated parameters of the paper's simulations: network, TCP and starts.

    Parameters
    ----------
    access_share
        Rate of the access links as a share of the backbone's, 0 to 1.
    """
    starts = Plausible(
        Span(100, 3000, log=True), "0.5 s is stated; what is drawn, for nodes or for flows and how evenly, is not"
    )
    return (
        *ns2_world(access_share, link_delay_ms=1.0),
        *ns2_sender(),
        start_spread(START_S, START_SPREAD_MS, starts),
    )
