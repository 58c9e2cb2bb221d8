"""Figures of the study, one module per experiment."""

from optcp_papers.reconfigurable.figures import days, restoration, rotor

__all__ = ["days", "restoration", "rotor"]
