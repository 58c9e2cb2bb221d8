"""The LBAS paper: lightpath bundling and anycast switching under TCP."""

from optcp_papers.lbas.buffer import BUFFER
from optcp_papers.lbas.choices import CHOICES
from optcp_papers.lbas.failing import FAILING
from optcp_papers.lbas.inelastic import INELASTIC
from optcp_papers.lbas.mix import MIX
from optcp_papers.lbas.row import ROW
from optcp_papers.lbas.scale import SCALE
from optcp_papers.lbas.switch import SWITCH
from optcp_papers.lbas.table1 import TABLE1
from optcp_papers.lbas.table2 import TABLE2
from optcp_papers.lbas.table3 import TABLE3
from optcp_papers.lbas.today import TODAY
from optcp_papers.lbas.trends import TRENDS

EXHIBITS = (BUFFER, CHOICES, FAILING, INELASTIC, MIX, ROW, SCALE, SWITCH, TABLE1, TABLE2, TABLE3, TODAY, TRENDS)
