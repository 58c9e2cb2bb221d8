"""TCP over a path whose delay changes all the time and whose hops change every few seconds."""

from optcp.papers.leo.changes import CHANGES
from optcp.papers.leo.pairs import PAIRS

EXHIBITS = (PAIRS, CHANGES)
