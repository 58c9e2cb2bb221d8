"""The outage study: what one optical failure costs the transfers of 2026."""

from optcp.papers.outage.availability import AVAILABILITY
from optcp.papers.outage.back import RETURN
from optcp.papers.outage.budget import BUDGET
from optcp.papers.outage.capacity import CAPACITY
from optcp.papers.outage.detection import DETECTION
from optcp.papers.outage.links import LINKS
from optcp.papers.outage.loops import LOOPS
from optcp.papers.outage.partial import PARTIAL
from optcp.papers.outage.ranking import RANKING
from optcp.papers.outage.scale import SCALE
from optcp.papers.outage.shared_risk import SHARED_RISK
from optcp.papers.outage.short import SHORT
from optcp.papers.outage.staircase import STAIRCASE

EXHIBITS = (
    STAIRCASE,
    BUDGET,
    SHORT,
    LINKS,
    DETECTION,
    LOOPS,
    SHARED_RISK,
    RETURN,
    PARTIAL,
    CAPACITY,
    AVAILABILITY,
    SCALE,
    RANKING,
)
