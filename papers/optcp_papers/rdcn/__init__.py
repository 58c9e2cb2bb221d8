"""RDCN paper: TCP between racks with a packet network and a scheduled optical circuit."""

from optcp_papers.rdcn.reconfiguration import RECONFIGURATION
from optcp_papers.rdcn.resize import RESIZE
from optcp_papers.rdcn.retcp import RETCP_RESIZE, RETCP_VOQ
from optcp_papers.rdcn.rules import RULES
from optcp_papers.rdcn.variants import VARIANTS
from optcp_papers.rdcn.voq import VOQ

EXHIBITS = (VOQ, RESIZE, VARIANTS, RECONFIGURATION, RETCP_VOQ, RETCP_RESIZE, RULES)
