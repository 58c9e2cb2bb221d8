"""Traces of the congestion window around scripted losses, for figures 3 to 7."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Chosen, Found, Grid, Options, Run, RunFailed, Series, Settings, Setup, StudyResult, once
from optcp_papers.obs.paper import PAPER, SEGMENT_BYTES, WORLD, grid, rtt0_s, settings

Grids = Callable[[Chosen, Options], dict[str, Grid]]


MSS_BYTES = 1460
FIRST_LOST = 500
"""First lost segment. By then the window has long been at its limit of 44, and half of the file is sent."""
ACK_BYTES = 80
"""Maximum ACK size: 40 B of headers and 40 B of options."""
OBSERVE = [{"name": "tcp", "kind": "tcp"}, {"name": "packets", "kind": "packets"}]


@dataclass(frozen=True)
class Trace:
    """Sender state, by update.

    Attributes
    ----------
    at_s, cwnd, flight, phase, timeouts
        Time from the start of the run in s, segments, segments, names, and a count; arrays of equal length.
    sent
        Time in ps and number of every data segment that was sent, shape (n, 2).
    duplicates_s
        Times of ACKs that repeat the number of the previous one, in s.
    """

    at_s: NDArray[np.float64]
    cwnd: NDArray[np.float64]
    flight: NDArray[np.int64]
    phase: list[str]
    timeouts: NDArray[np.int64]
    sent: NDArray[np.int64]
    duplicates_s: NDArray[np.float64]

    @property
    def duplicate_acks(self) -> int:
        """Number of ACKs that repeat the number of the previous one."""
        return self.duplicates_s.size

    def span(self) -> tuple[int, int]:
        """Return the indices of the first update in recovery and of the first one after it.

        Raises
        ------
        RunFailed
            If there was no recovery, or it did not end.
        """
        if "recovery" not in self.phase:
            raise RunFailed("the sender was never in fast recovery: too few duplicate ACKs arrived")
        first = self.phase.index("recovery")
        behind = [place for place in range(first, len(self.phase)) if self.phase[place] != "recovery"]
        if not behind:
            raise RunFailed("the run ended before fast recovery did")
        return first, behind[0]

    def recovery_s(self) -> float:
        """Return the time from the third duplicate ACK to the end of recovery."""
        first, after = self.span()
        return float(self.at_s[after] - self.at_s[first])


def trace(run: Run) -> Trace:
    """Read a run that observed ``tcp`` and ``packets``."""
    rows, packets = run["tcp"], run["packets"]
    sent = packets.rows(packets.is_("event", "sent") | packets.is_("event", "resent"))
    acked = packets.where(event="acked")
    return Trace(
        rows.seconds,
        rows["cwnd_bytes"] / MSS_BYTES,
        rows["flight_segments"].astype(np.int64),
        rows.texts("phase"),
        rows["timeouts"].astype(np.int64),
        np.column_stack([sent["time_ps"], sent["seq"]]),
        acked.seconds[1:][np.diff(acked["seq"]) == 0],
    )


def round_trip_s(chosen: Chosen, timer_s: float, segments: int = 1) -> float:
    """Return the maximum RTT of consecutive segments: RTT0, two bursts, and both access links in both directions."""
    bits = 8 * ((segments + 1) * SEGMENT_BYTES + (segments + 1) * ACK_BYTES)
    access, wavelength = float(chosen["access_mbps"]) * 1e6, float(chosen["wavelength_mbps"]) * 1e6
    return rtt0_s(chosen) + 2 * timer_s + bits / access + bits / wavelength


def lose(segments: int) -> Settings:
    """Return settings that only lose consecutive segments of a file of 2 MB."""
    lost = range(FIRST_LOST, FIRST_LOST + segments)
    return {
        "parameters.loss_probability": 0,
        "parameters.size": "2 MB",
        "losses": [{"link": ["client", "E"], "flows": "file", "segments": lost}],
        "observe": OBSERVE,
    }


def setup(figure: str, timer_s: float, senders: Sequence[str], lost: Iterable[int], more: Grids | None = None) -> Setup:
    """Return the set-up of a figure with one or a few traces: a grid per sender and number of lost segments.

    Parameters
    ----------
    more
        Function that returns further grids.
    """
    cases = [(sender, segments) for sender in senders for segments in lost]

    def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
        result = {}
        for sender, segments in cases:
            title = f"obs/{figure}, {name(sender, segments)}"
            cell = functools.partial(settings, timer_s, "no", recovery=sender)
            result[name(sender, segments)] = grid(title, [()], cell, lose(segments), chosen, options)
        return result | (more(chosen, options) if more else {})

    return Setup(PAPER, 1, grids, once, WORLD)


def name(sender: str, lost: int) -> str:
    """Return the name of a grid."""
    return f"{sender}, {lost} lost"


def traced(found: Found, sender: str, lost: int) -> Trace:
    """Return the trace of a sender and number of lost segments."""
    return found.done[name(sender, lost)].once(_only)


def _only(done: StudyResult) -> Trace:
    return next(trace(runs[0]) for _, runs in done)


def curve(sender: str, one: Trace) -> Series:
    """Return the congestion window over time."""
    x, y = one.at_s.round(6).tolist(), one.cwnd.round(4).tolist()
    return Series("cwnd", {"recovery": sender}, "time", "s", "congestion window", "segments", x, y)
