"""An animation of a run: one HTML file with its network, queues, packets, failures and switches over time."""

from optcp.web.animation.page import animate

__all__ = ["animate"]
