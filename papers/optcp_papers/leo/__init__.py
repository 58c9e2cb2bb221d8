"""Study of TCP over a path with changing delay and hops that change every few seconds."""

from optcp_papers.leo.changes import CHANGES
from optcp_papers.leo.checks import CHECKS
from optcp_papers.leo.pairs import PAIRS
from optcp_papers.leo.remedies import REMEDIES

EXHIBITS = (CHECKS, PAIRS, CHANGES, REMEDIES)
