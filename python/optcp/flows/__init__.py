"""Lists of flows: their files, and reduction of packet captures and connection lists of other simulators.

:func:`read` reads captures and connection lists, :mod:`optcp.flows.lists` the lists that scenarios name.
"""

from __future__ import annotations

from optcp.flows.model import Flow, FlowFile
from optcp.flows.registry import FORMATS, read

__all__ = ["FORMATS", "Flow", "FlowFile", "read"]
