"""Evidence for the model of TCP from outside the project: long runs, recorded cases, and the page that lists them."""

from optcp.evidence.bbr3_states import BBR3_STATES
from optcp.evidence.bbr_share import BBR3_SHARE, BBR_SHARE
from optcp.evidence.bbr_states import BBR_STATES
from optcp.evidence.buffer import BUFFER
from optcp.evidence.conformance import CONFORMANCE
from optcp.evidence.controls import CONTROLS
from optcp.evidence.cubic import CUBIC
from optcp.evidence.friendliness import FRIENDLINESS
from optcp.evidence.kernel import KERNEL
from optcp.evidence.loss import DELAYED_ACK, LOSS
from optcp.evidence.packetdrill import PACKETDRILL
from optcp.evidence.queues import QUEUES
from optcp.evidence.share import SHARE

EXPERIMENTS = (
    CONFORMANCE,
    PACKETDRILL,
    LOSS,
    DELAYED_ACK,
    CUBIC,
    CONTROLS,
    KERNEL,
    BBR_STATES,
    BBR3_STATES,
    BUFFER,
    SHARE,
    FRIENDLINESS,
    BBR_SHARE,
    BBR3_SHARE,
    QUEUES,
)
"""In the order of the page."""
