"""Figures of the OBS paper's exhibits."""

from optcp_papers.obs.figures import curves, windows

__all__ = ["curves", "windows"]
