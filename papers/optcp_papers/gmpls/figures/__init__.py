"""Figures of the GMPLS paper's exhibits."""

from optcp_papers.gmpls.figures import aqm, fig4, section5, section5_worlds, section6, section7, section8

__all__ = ["aqm", "fig4", "section5", "section5_worlds", "section6", "section7", "section8"]
