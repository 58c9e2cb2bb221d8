"""The rdcn paper: TCP between racks with a packet network and an optical circuit by schedule."""

from optcp.papers.rdcn.reconfiguration import RECONFIGURATION
from optcp.papers.rdcn.resize import RESIZE
from optcp.papers.rdcn.retcp import RETCP_RESIZE, RETCP_VOQ
from optcp.papers.rdcn.rules import RULES
from optcp.papers.rdcn.variants import VARIANTS
from optcp.papers.rdcn.voq import VOQ

EXHIBITS = (VOQ, RESIZE, VARIANTS, RECONFIGURATION, RETCP_VOQ, RETCP_RESIZE, RULES)
