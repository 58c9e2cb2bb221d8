"""Study of the buffer that a protection switchover needs."""

from optcp_papers.buffers.germany50 import GERMANY50
from optcp_papers.buffers.shallow import SHALLOW
from optcp_papers.buffers.steady import STEADY
from optcp_papers.buffers.switchover import SWITCHOVER

EXHIBITS = (STEADY, SWITCHOVER, SHALLOW, GERMANY50)
