"""Figures of the study, one module per experiment."""

from optcp_papers.leo.figures import changes, checks, pairs, remedies

__all__ = ["changes", "checks", "pairs", "remedies"]
