"""Reason and time of a stop of a live run."""

from __future__ import annotations

from typing import NamedTuple

from optcp.data.table import PICOSECONDS_A_SECOND


class Stop(NamedTuple):
    """Reason and time of a stop: see :meth:`LiveRun.advance_until`."""

    condition: str
    """Name of the condition; "time" if none holds."""
    time_ps: int
    """Time of the event after which the condition holds, in ps."""

    @property
    def time_s(self) -> float:
        """Time of the event, in s."""
        return self.time_ps / PICOSECONDS_A_SECOND
