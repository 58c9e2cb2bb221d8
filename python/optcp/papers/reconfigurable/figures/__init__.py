"""Figures of the study, a module an exhibit."""

from optcp.papers.reconfigurable.figures import restoration

__all__ = ["restoration"]
