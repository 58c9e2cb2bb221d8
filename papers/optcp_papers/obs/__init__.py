"""OBS paper: TCP over optical burst switching, alone and with background traffic."""

from optcp_papers.obs.assembly import ASSEMBLY
from optcp_papers.obs.background import BACKGROUND
from optcp_papers.obs.cut import CUT_EXHIBIT
from optcp_papers.obs.emergent import EMERGENT
from optcp_papers.obs.fig3 import FIG3, FIG4
from optcp_papers.obs.fig5 import FIG5
from optcp_papers.obs.fig6 import FIG6, FIG7
from optcp_papers.obs.fig10 import FIG10
from optcp_papers.obs.fig11 import FIG11
from optcp_papers.obs.fig12 import FIG12
from optcp_papers.obs.fig13 import FIG13
from optcp_papers.obs.fig14 import FIG14
from optcp_papers.obs.fig15 import FIG15
from optcp_papers.obs.fig16 import FIG16
from optcp_papers.obs.fig17 import FIG17
from optcp_papers.obs.today import TODAY

EXHIBITS = (
    *(ASSEMBLY, BACKGROUND, CUT_EXHIBIT, EMERGENT),
    *(FIG3, FIG4, FIG5, FIG6, FIG7),
    *(FIG10, FIG11, FIG12, FIG13, FIG14, FIG15, FIG16, FIG17),
    TODAY,
)
