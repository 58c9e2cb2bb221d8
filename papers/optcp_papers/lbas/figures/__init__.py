"""Figures of the LBAS paper's exhibits."""

from optcp_papers.lbas.figures import inelastic, smaller, tables

__all__ = ["inelastic", "smaller", "tables"]
