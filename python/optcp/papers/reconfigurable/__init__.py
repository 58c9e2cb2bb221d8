"""Links that are reconfigured, and what today's TCPs make of them."""

from optcp.papers.reconfigurable.days import DAYS
from optcp.papers.reconfigurable.restoration import RESTORATION
from optcp.papers.reconfigurable.rotor import ROTOR

EXHIBITS = (DAYS, RESTORATION, ROTOR)
