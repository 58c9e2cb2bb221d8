"""The GMPLS paper: protection switching speed, change of RTT, switch-back, and four protection schemes."""

from optcp.papers.gmpls import fig7, fig8, table3

__all__ = ["fig7", "fig8", "table3"]
