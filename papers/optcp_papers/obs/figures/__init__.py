"""Figures of the OBS paper's experiments."""

from optcp_papers.obs.figures import curves, cut, windows

__all__ = ["curves", "cut", "windows"]
