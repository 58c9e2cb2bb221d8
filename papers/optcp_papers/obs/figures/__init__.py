"""Figures of the OBS paper's experiments."""

from optcp_papers.obs.figures import curves, windows

__all__ = ["curves", "windows"]
