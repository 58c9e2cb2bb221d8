"""Pictures of one run (``optcp trace``), drawn from its directory."""

from optcp.plots.trace.draw import draw
from optcp.plots.trace.request import Request, seconds

__all__ = ["Request", "draw", "seconds"]
