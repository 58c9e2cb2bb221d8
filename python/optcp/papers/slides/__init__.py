"""The talk before the GMPLS paper: what a delay of the protection switch does to TCP."""

from optcp.papers.slides.best_delay import BEST_DELAY
from optcp.papers.slides.goodput import GOODPUT
from optcp.papers.slides.queues import QUEUES
from optcp.papers.slides.traces import TRACES

EXHIBITS = (BEST_DELAY, GOODPUT, QUEUES, TRACES)
