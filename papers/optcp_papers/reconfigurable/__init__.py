"""Study of current TCPs on reconfigurable links."""

from optcp_papers.reconfigurable.days import DAYS
from optcp_papers.reconfigurable.restoration import RESTORATION
from optcp_papers.reconfigurable.rotor import ROTOR

EXHIBITS = (DAYS, RESTORATION, ROTOR)
