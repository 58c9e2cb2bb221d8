"""Pictures of one run: ``optcp trace``, and the method ``plot`` of runs."""

from optcp.plots.trace.draw import draw, plot
from optcp.plots.trace.request import Request, seconds

__all__ = ["Request", "draw", "plot", "seconds"]
