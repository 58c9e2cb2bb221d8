"""Outage study: cost of one optical failure for the transfers of 2026."""

from optcp_papers.outage.availability import AVAILABILITY
from optcp_papers.outage.back import RETURN
from optcp_papers.outage.budget import BUDGET
from optcp_papers.outage.capacity import CAPACITY
from optcp_papers.outage.detection import DETECTION
from optcp_papers.outage.links import LINKS
from optcp_papers.outage.loops import LOOPS
from optcp_papers.outage.partial import PARTIAL
from optcp_papers.outage.quic import QUIC_EXHIBIT
from optcp_papers.outage.ranking import RANKING
from optcp_papers.outage.scale import SCALE
from optcp_papers.outage.shared_risk import SHARED_RISK
from optcp_papers.outage.short import SHORT
from optcp_papers.outage.staircase import STAIRCASE

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
    QUIC_EXHIBIT,
)
