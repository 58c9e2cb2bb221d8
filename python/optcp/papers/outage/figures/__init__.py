"""Figures of the outage study."""

from optcp.papers.outage.figures import population, staircase

__all__ = ["population", "staircase"]
