"""Figures of the GMPLS paper's exhibits."""

from optcp.papers.gmpls.figures import fig4, section5, section5_worlds, section6, section7, section8

__all__ = ["fig4", "section5", "section5_worlds", "section6", "section7", "section8"]
