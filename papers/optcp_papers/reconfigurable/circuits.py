"""Closed forms of completion times over rotating circuits without competing traffic."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PHASES = 32
"""Number of start times of flows per cycle, and of phases of the second hop."""


@dataclass(frozen=True)
class Circuit:
    """Circuit that is available for one day in each cycle.

    Attributes
    ----------
    bps
        Rate, in bit/s.
    day_s, cycle_s
        Duration of a day, and time between the starts of two days.
    switches
        Number of simultaneous circuits per rack.
    """

    bps: float
    day_s: float
    cycle_s: float
    switches: int = 1

    def alone_s(self, wire_bytes: Floats, *, hops: int, spread: bool = False) -> Floats:
        """Return the completion times of flows that send immediately, for start times over the whole cycle.

        Parameters
        ----------
        wire_bytes
            Size of each flow on the wire, shape (flows,).
        hops
            1, or 2 over a rack whose circuits have any phase relative to the first hop's.
        spread
            Whether packets use every circuit of the rack. Its total is then limited to the rate of its hosts.

        Returns
        -------
        array
            Times in s, of shape (flows, :data:`PHASES`), or (flows, :data:`PHASES`, :data:`PHASES`) for two hops.
            Propagation and the transmission of a packet are excluded.
        """
        needs_s = np.asarray(wire_bytes)[:, None] * 8 / self.bps
        phase_s = (np.arange(PHASES) + 0.5) / PHASES * self.cycle_s
        if spread:
            # The first rack has a circuit at almost any time; the last part waits for its second one.
            first = np.broadcast_to(needs_s, (needs_s.shape[0], PHASES))
            return np.asarray(first[:, :, None] + self._wait_s(phase_s)[None, None, :])
        begins, lasts = self._last(needs_s, phase_s)
        if hops == 1:
            return np.asarray(begins + lasts)
        # Phase of the second circuit when the last part of the flow starts to arrive.
        at = (phase_s[None, None, :] + begins[:, :, None]) % self.cycle_s
        rest = np.maximum(lasts[:, :, None] - np.maximum(self.day_s - at, 0), 0)
        waits = self.cycle_s - at
        later = begins[:, :, None] + np.maximum(waits + rest, lasts[:, :, None])
        return np.where(rest > 0, later, (begins + lasts)[:, :, None])

    def _wait_s(self, phase_s: Floats) -> Floats:
        """Return the time to the next day, or 0 during a day."""
        return np.where(phase_s < self.day_s, 0.0, self.cycle_s - phase_s)

    def _last(self, needs_s: Floats, phase_s: Floats) -> tuple[Floats, Floats]:
        """Return the start of the day on which a flow's last part is sent, and its transmission time on that day."""
        here = np.maximum(self.day_s - phase_s, 0)[None, :]
        rest = needs_s - here
        days = np.maximum(np.ceil(rest / self.day_s - 1e-12), 1)
        begins = (self.cycle_s - phase_s)[None, :] + (days - 1) * self.cycle_s
        now = rest <= 0
        return np.where(now, 0.0, begins), np.where(now, needs_s, rest - (days - 1) * self.day_s)
