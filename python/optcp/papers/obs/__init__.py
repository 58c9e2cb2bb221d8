"""The obs paper: TCP over a network that switches bursts, alone and beside other traffic."""

from optcp.papers.obs import (
    assembly,
    background,
    emergent,
    fig3,
    fig5,
    fig6,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    today,
)

__all__ = [
    "assembly",
    "background",
    "emergent",
    "fig3",
    "fig5",
    "fig6",
    "fig10",
    "fig11",
    "fig12",
    "fig13",
    "fig14",
    "fig15",
    "fig16",
    "fig17",
    "today",
]
