"""Figures: they read an exhibit's result and never simulate."""

from optcp.plots.registry import Figure, figures

__all__ = ["Figure", "figures"]
