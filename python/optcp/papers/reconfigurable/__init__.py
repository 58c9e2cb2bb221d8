"""Links that are reconfigured, and what today's TCPs make of them."""

from optcp.papers.reconfigurable.restoration import RESTORATION

EXHIBITS = (RESTORATION,)
