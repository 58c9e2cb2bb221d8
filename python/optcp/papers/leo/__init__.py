"""TCP over a path whose delay changes all the time and whose hops change every few seconds."""

from optcp.papers.leo.changes import CHANGES
from optcp.papers.leo.checks import CHECKS
from optcp.papers.leo.pairs import PAIRS
from optcp.papers.leo.remedies import REMEDIES

EXHIBITS = (CHECKS, PAIRS, CHANGES, REMEDIES)
