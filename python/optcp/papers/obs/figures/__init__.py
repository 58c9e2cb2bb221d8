"""Figures of the OBS paper's exhibits."""

from optcp.papers.obs.figures import curves, windows

__all__ = ["curves", "windows"]
