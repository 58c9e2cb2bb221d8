"""The GMPLS paper: protection switching speed, change of RTT, switch-back, and four protection schemes."""

from optcp.papers.gmpls import (
    every_scheme,
    fig4,
    fig18,
    fig19,
    section5_2,
    section5_3,
    table8,
)
from optcp.papers.gmpls.fig7 import FIG7
from optcp.papers.gmpls.fig8 import FIG8
from optcp.papers.gmpls.table3 import TABLE3
from optcp.papers.gmpls.fig10 import FIG10
from optcp.papers.gmpls.fig11 import FIG11
from optcp.papers.gmpls.fig12 import FIG12
from optcp.papers.gmpls.fig13 import FIG13
from optcp.papers.gmpls.fig14 import FIG14
from optcp.papers.gmpls.table4 import TABLE4
from optcp.papers.gmpls.table5 import TABLE5

EXHIBITS = (FIG7, FIG8, TABLE3, FIG10, FIG11, FIG12, FIG13, FIG14, TABLE4, TABLE5)
