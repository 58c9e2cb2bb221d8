"""Figures of the study, a module an exhibit."""

from optcp.papers.reconfigurable.figures import days, restoration, rotor

__all__ = ["days", "restoration", "rotor"]
