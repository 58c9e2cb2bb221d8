"""The DAS paper: duplicate ACKs that a receiver suppresses after IP fast reroute."""

from optcp.papers.das import fig1, fig2, fig4, fig6, repairs

__all__ = ["fig1", "fig2", "fig4", "fig6", "repairs"]
