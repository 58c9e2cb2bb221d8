"""Talk before the GMPLS paper: effect of the protection switch delay on TCP."""

from optcp_papers.slides.best_delay import BEST_DELAY
from optcp_papers.slides.goodput import GOODPUT
from optcp_papers.slides.queues import QUEUES
from optcp_papers.slides.traces import TRACES

EXHIBITS = (BEST_DELAY, GOODPUT, QUEUES, TRACES)
