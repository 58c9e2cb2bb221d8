"""Figures of the LBAS paper's exhibits."""

from optcp_papers.lbas.figures import smaller, tables

__all__ = ["smaller", "tables"]
