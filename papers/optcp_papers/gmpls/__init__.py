"""GMPLS paper: protection switching speed, RTT change, switch-back, and four protection schemes."""

from optcp_papers.gmpls.aqm import AQM
from optcp_papers.gmpls.every_scheme import EVERY_SCHEME
from optcp_papers.gmpls.fig4 import FIG4
from optcp_papers.gmpls.fig7 import FIG7
from optcp_papers.gmpls.fig8 import FIG8
from optcp_papers.gmpls.fig10 import FIG10
from optcp_papers.gmpls.fig11 import FIG11
from optcp_papers.gmpls.fig12 import FIG12
from optcp_papers.gmpls.fig13 import FIG13
from optcp_papers.gmpls.fig14 import FIG14
from optcp_papers.gmpls.fig15 import FIG15
from optcp_papers.gmpls.fig16 import FIG16
from optcp_papers.gmpls.fig18 import FIG18
from optcp_papers.gmpls.fig19 import FIG19
from optcp_papers.gmpls.layers import LAYERS
from optcp_papers.gmpls.mesh import MESH
from optcp_papers.gmpls.section5_2 import SECTION5_2
from optcp_papers.gmpls.section5_3 import SECTION5_3
from optcp_papers.gmpls.section7_2 import SECTION7_2
from optcp_papers.gmpls.table3 import TABLE3
from optcp_papers.gmpls.table4 import TABLE4
from optcp_papers.gmpls.table5 import TABLE5
from optcp_papers.gmpls.table6 import TABLE6
from optcp_papers.gmpls.table8 import TABLE8

# fmt: off
EXHIBITS = (
    AQM, EVERY_SCHEME, FIG4, FIG7, FIG8, FIG10, FIG11, FIG12, FIG13, FIG14, FIG15, FIG16, FIG18, FIG19,
    LAYERS, MESH, SECTION5_2, SECTION5_3, SECTION7_2, TABLE3, TABLE4, TABLE5, TABLE6, TABLE8,
)
