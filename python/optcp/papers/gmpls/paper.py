"""What all exhibits of the paper share: its name, its number of random cases, its instants and windows."""

from __future__ import annotations

PAPER = (
    "C. Develder, D. Colle, S. De Maesschalck, M. Pickavet, P. Demeester: "
    "Influence of GMPLS Recovery Mechanisms on TCP Performance"
)
PAPER_RUNS = 150
SOURCES = 10
"""Table 1: source nodes of a class."""

FAILURE_S = 5.0
"""Table 2: the link L1-L2 goes down."""
REPAIR_S = 10.0
"""Table 2: it is up again, where it is repaired at all."""
WINDOW_S = (5.0, 6.5)
"""Equation 5's interval; the paper prints "6.5 ms" for 6.5 s."""

PS = 1_000_000_000_000
"""Picoseconds a second."""
