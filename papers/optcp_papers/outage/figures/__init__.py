"""Figures of the outage study."""

from optcp_papers.outage.figures import budget, population, staircase

__all__ = ["budget", "population", "staircase"]
