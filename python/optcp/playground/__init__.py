"""The simulator in a browser: one HTML file with a world that its reader changes and runs."""

from optcp.playground.page import Start, address, page, starts

__all__ = ["Start", "address", "page", "starts"]
