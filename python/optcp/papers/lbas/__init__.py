"""The LBAS paper: lightpath bundling and anycast switching under TCP."""

from optcp.papers.lbas.buffer import BUFFER
from optcp.papers.lbas.choices import CHOICES
from optcp.papers.lbas.mix import MIX
from optcp.papers.lbas.scale import SCALE
from optcp.papers.lbas.table1 import TABLE1
from optcp.papers.lbas.table2 import TABLE2
from optcp.papers.lbas.table3 import TABLE3
from optcp.papers.lbas.today import TODAY
from optcp.papers.lbas.trends import TRENDS

EXHIBITS = (BUFFER, CHOICES, MIX, SCALE, TABLE1, TABLE2, TABLE3, TODAY, TRENDS)
