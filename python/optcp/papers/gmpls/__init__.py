"""The GMPLS paper: protection switching speed, change of RTT, switch-back, and four protection schemes."""

from optcp.papers.gmpls import (
    fig4,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig18,
    fig19,
    section7_2,
    table4,
    table5,
    table6,
    table8,
)
from optcp.papers.gmpls.every_scheme import EVERY_SCHEME
from optcp.papers.gmpls.fig7 import FIG7
from optcp.papers.gmpls.fig8 import FIG8
from optcp.papers.gmpls.section5_2 import SECTION5_2
from optcp.papers.gmpls.section5_3 import SECTION5_3
from optcp.papers.gmpls.table3 import TABLE3

EXHIBITS = (EVERY_SCHEME, FIG7, FIG8, SECTION5_2, SECTION5_3, TABLE3)
