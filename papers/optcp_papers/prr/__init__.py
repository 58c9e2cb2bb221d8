"""Study of repair by hosts (Protective ReRoute) and by the network."""

from optcp_papers.prr.gray import GRAY_FAILURES
from optcp_papers.prr.links import LINKS
from optcp_papers.prr.mixture import MIXED
from optcp_papers.prr.paths import PATHS
from optcp_papers.prr.repair_time import REPAIR_TIME
from optcp_papers.prr.stuck import STUCK

EXHIBITS = (STUCK, LINKS, GRAY_FAILURES, MIXED, PATHS, REPAIR_TIME)
