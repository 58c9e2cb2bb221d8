"""The GMPLS paper: protection switching speed, change of RTT, switch-back, and four protection schemes."""

from optcp.papers.gmpls import (
    fig4,
    fig7,
    fig8,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    section5_2,
    section5_3,
    table3,
    table4,
    table5,
)

__all__ = [
    "fig4",
    "fig7",
    "fig8",
    "fig10",
    "fig11",
    "fig12",
    "fig13",
    "fig14",
    "section5_2",
    "section5_3",
    "table3",
    "table4",
    "table5",
]
