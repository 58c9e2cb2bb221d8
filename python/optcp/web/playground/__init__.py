"""The simulator in a browser: one HTML file with a scenario that its reader changes and runs."""

from optcp.web.playground.page import Start, address, page, simulator, starts
from optcp.web.playground.world import read, short

__all__ = ["Start", "address", "page", "read", "short", "simulator", "starts"]
