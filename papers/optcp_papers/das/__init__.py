"""DAS paper: suppression of duplicate ACKs by the receiver after IP fast reroute."""

from optcp_papers.das.fig1 import FIG1
from optcp_papers.das.fig2 import FIG2
from optcp_papers.das.fig4 import FIG4
from optcp_papers.das.fig6 import FIG6
from optcp_papers.das.mechanisms import MECHANISMS
from optcp_papers.das.repairs import REPAIRS

EXHIBITS = (FIG1, FIG2, FIG4, FIG6, MECHANISMS, REPAIRS)
