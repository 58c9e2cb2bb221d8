"""Figures of the outage study."""

from optcp_papers.outage.figures import budget, population, quic, staircase

__all__ = ["budget", "population", "quic", "staircase"]
