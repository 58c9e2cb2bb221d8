"""External evidence for the TCP model: long runs, recorded cases, and the page that lists them."""

from optcp_papers.evidence.bbr3_states import BBR3_STATES
from optcp_papers.evidence.bbr_share import BBR3_SHARE, BBR_SHARE
from optcp_papers.evidence.bbr_states import BBR_STATES
from optcp_papers.evidence.buffer import BUFFER
from optcp_papers.evidence.conformance import CONFORMANCE
from optcp_papers.evidence.controls import CONTROLS
from optcp_papers.evidence.cubic import CUBIC
from optcp_papers.evidence.friendliness import FRIENDLINESS
from optcp_papers.evidence.kernel import KERNEL
from optcp_papers.evidence.loss import DELAYED_ACK, LOSS
from optcp_papers.evidence.outages import OUTAGES, OUTAGES_1000_HZ
from optcp_papers.evidence.outside_mainline import BBR3_KERNEL, PRAGUE_KERNEL
from optcp_papers.evidence.packetdrill import PACKETDRILL
from optcp_papers.evidence.queues import QUEUES
from optcp_papers.evidence.share import SHARE

EXPERIMENTS = (
    CONFORMANCE,
    PACKETDRILL,
    LOSS,
    DELAYED_ACK,
    CUBIC,
    CONTROLS,
    KERNEL,
    OUTAGES,
    OUTAGES_1000_HZ,
    BBR3_KERNEL,
    PRAGUE_KERNEL,
    BBR_STATES,
    BBR3_STATES,
    BUFFER,
    SHARE,
    FRIENDLINESS,
    BBR_SHARE,
    BBR3_SHARE,
    QUEUES,
)
"""Experiments in the order of the page."""
