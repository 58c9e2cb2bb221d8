"""Figures of the study, a module an exhibit."""

from optcp_papers.reconfigurable.figures import days, restoration, rotor

__all__ = ["days", "restoration", "rotor"]
