"""The obs paper: TCP over a network that switches bursts, alone and beside other traffic."""

from optcp.papers.obs import fig3, fig6, fig10, fig11, fig14, fig15, fig16, fig17

__all__ = ["fig3", "fig6", "fig10", "fig11", "fig14", "fig15", "fig16", "fig17"]
