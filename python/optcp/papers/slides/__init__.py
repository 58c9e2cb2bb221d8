"""The talk before the GMPLS paper: what a delay of the protection switch does to TCP."""

from optcp.papers.slides import best_delay, goodput, queues, traces

__all__ = ["best_delay", "goodput", "queues", "traces"]
