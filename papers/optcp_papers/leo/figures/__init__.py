"""Figures of the study, a module an exhibit."""

from optcp_papers.leo.figures import changes, checks, pairs, remedies

__all__ = ["changes", "checks", "pairs", "remedies"]
