"""What circuits that come in turn give to somebody who has them alone: closed forms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PHASES = 32
"""Instants of a cycle at which flows begin, and as many for the second hop."""


@dataclass(frozen=True)
class Circuit:
    """A circuit that is there for a day in each cycle.

    Attributes
    ----------
    bps
        Its rate.
    day_s, cycle_s
        How long it is there, and from one day to the next.
    switches
        How many circuits leave a rack at a time.
    """

    bps: float
    day_s: float
    cycle_s: float
    switches: int = 1

    def alone_s(self, wire_bytes: Floats, *, hops: int, spread: bool = False) -> Floats:
        """When flows that send at once have come, from instants all over the cycle.

        Parameters
        ----------
        wire_bytes
            What each sends, shape (flows,).
        hops
            1, or 2: over a rack whose circuits lie anyhow to those of the first hop.
        spread
            Whether packets take each circuit that leaves the rack. A rack has no more than its hosts' rate then.

        Returns
        -------
        array
            Seconds, of shape (flows, :data:`PHASES`), or (flows, :data:`PHASES`, :data:`PHASES`) over two hops.
            Propagation and a packet's own time are left out.
        """
        needs_s = np.asarray(wire_bytes)[:, None] * 8 / self.bps
        phase_s = (np.arange(PHASES) + 0.5) / PHASES * self.cycle_s
        if spread:
            # There is a circuit from the first rack at almost any time; what leaves last waits for its second one.
            first = np.broadcast_to(needs_s, (needs_s.shape[0], PHASES))
            return np.asarray(first[:, :, None] + self._wait_s(phase_s)[None, None, :])
        begins, lasts = self._last(needs_s, phase_s)
        if hops == 1:
            return np.asarray(begins + lasts)
        # Where the second circuit's cycle is when the last part of the flow begins to arrive.
        at = (phase_s[None, None, :] + begins[:, :, None]) % self.cycle_s
        rest = np.maximum(lasts[:, :, None] - np.maximum(self.day_s - at, 0), 0)
        waits = self.cycle_s - at
        later = begins[:, :, None] + np.maximum(waits + rest, lasts[:, :, None])
        return np.where(rest > 0, later, (begins + lasts)[:, :, None])

    def _wait_s(self, phase_s: Floats) -> Floats:
        """How long it is to the next day, or 0 in one."""
        return np.where(phase_s < self.day_s, 0.0, self.cycle_s - phase_s)

    def _last(self, needs_s: Floats, phase_s: Floats) -> tuple[Floats, Floats]:
        """When the day begins in which a flow's last part is sent, and how long that takes then."""
        here = np.maximum(self.day_s - phase_s, 0)[None, :]
        rest = needs_s - here
        days = np.maximum(np.ceil(rest / self.day_s - 1e-12), 1)
        begins = (self.cycle_s - phase_s)[None, :] + (days - 1) * self.cycle_s
        now = rest <= 0
        return np.where(now, 0.0, begins), np.where(now, needs_s, rest - (days - 1) * self.day_s)
