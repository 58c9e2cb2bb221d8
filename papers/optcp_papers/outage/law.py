"""Closed forms for one TCP flow over a path outage: time of the next transmission, loss, and recovery.

A path S - A = B - D fails between A and B, in both directions, from 0 to L. Times are in seconds from the failure.
docs/details/outage.md has the derivations. The module does not depend on the simulator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Case = Literal["near clock", "far clock", "delayed ACK", "probe", "timeout"]

SEGMENT_BITS = 12_000
"""Size of a full segment on the wire in the scenarios, in bits."""
FIRST_LEVEL, LEVEL_RATIO = 63, 8
"""Timeouts of the first level of a timer wheel are below so many ticks; each further level is so much coarser."""
MARGIN_S = 0.002
"""Time that Linux adds to the timeout of a probe."""
ROUNDING = 1e-6
"""Rounding error of a time, in ticks."""


@dataclass(frozen=True)
class Way:
    """Path of a flow.

    Attributes
    ----------
    near_s, core_s, far_s
        One-way delays from the sender to the failing link, over it, and from it to the receiver.
    rate_bps
        Rate of the sender's host, which limits the flow.
    """

    near_s: float
    core_s: float
    far_s: float
    rate_bps: float

    @property
    def spacing_s(self) -> float:
        """Time from one segment to the next."""
        return SEGMENT_BITS / self.rate_bps

    @property
    def rtt_s(self) -> float:
        """Round-trip time without queues, including the transmission of a segment."""
        return 2 * (self.near_s + self.core_s + self.far_s) + self.spacing_s

    @property
    def to_failure_s(self) -> float:
        """Time from sending a segment until its last bit reaches the failing link."""
        return self.near_s + self.spacing_s

    @property
    def window(self) -> int:
        """Number of segments that the path holds without a queue."""
        return max(4, math.floor(self.rtt_s / self.spacing_s))


@dataclass(frozen=True)
class Outage:
    """Outage of the path, and the position of the switchover.

    Attributes
    ----------
    data_s, acks_s
        Times from which segments and ACKs get through again, at the node that switches them.
    to_switch_s
        Time from sending a segment until its last bit reaches that node.
    last_ack_s
        Arrival time, at the node that switches ACKs, of the last ACK of segments that had passed the link.
    back_s
        Delay from that node to the sender.
    """

    data_s: float
    acks_s: float
    to_switch_s: float
    last_ack_s: float
    back_s: float

    @classmethod
    def of_link(cls, way: Way, length_s: float) -> Outage:
        """Return the outage of a link that fails for ``length_s`` without a recovery mechanism."""
        return cls(length_s, length_s, way.to_failure_s, 2 * way.far_s, way.core_s + way.near_s)


@dataclass(frozen=True)
class Wheel:
    """Timer wheel of Linux: timeouts of whole ticks, which fire at the next slot of their level.

    Attributes
    ----------
    tick_s
        Length of a tick.
    phase
        Value of the host's clock at the failure, in ticks.
    """

    tick_s: float
    phase: float = 0.0

    def stored_s(self, timeout_s: float) -> float:
        """Return a timeout, rounded up to whole ticks."""
        return self.ticks(timeout_s) * self.tick_s

    def ticks(self, timeout_s: float) -> int:
        """Return the number of ticks of a timeout."""
        return math.ceil(timeout_s / self.tick_s - ROUNDING)

    def slot(self, timeout_s: float) -> int:
        """Return the slot length of a timeout, in ticks: 1 below 63 ticks, 8 below 504, 64 below 4032, and so on."""
        slot = 1
        while self.ticks(timeout_s) >= FIRST_LEVEL * slot:
            slot *= LEVEL_RATIO
        return slot

    def fires_s(self, set_s: float, timeout_s: float) -> float:
        """Return the time at which a timer fires that is set at ``set_s``."""
        expires = math.floor(set_s / self.tick_s + self.phase + ROUNDING) + self.ticks(timeout_s)
        slot = self.slot(timeout_s)
        return ((expires // slot + 1) * slot - self.phase) * self.tick_s


@dataclass(frozen=True)
class Timers:
    """Timers of a sender.

    Attributes
    ----------
    srtt_s
        Smoothed RTT of the sender.
    rto_s, longest_s
        Retransmission timeout, and its maximum after backoff.
    modern
        Whether the sender uses tail loss probes (two smoothed RTTs after its last segment) and time-based loss
        detection (both RFC 8985). It then also uses F-RTO (RFC 5682), which takes two RTTs after a timeout.
    ack_delay_s
        Delay of the ACK of an odd last segment.
    wheel
        Timer wheel of the host; None if timers fire at their exact time.
    """

    srtt_s: float
    rto_s: float
    longest_s: float
    modern: bool
    ack_delay_s: float = 0.0
    wheel: Wheel | None = None

    def fires_s(self, set_s: float, timeout_s: float) -> float:
        """Return the time at which a timer fires that is set at ``set_s``."""
        return self.wheel.fires_s(set_s, timeout_s) if self.wheel else set_s + timeout_s

    def probe_s(self, last_sent_s: float) -> float:
        """Return the time of the probe after the last segment."""
        return self.fires_s(last_sent_s, 2 * self.srtt_s + (MARGIN_S if self.wheel else 0.0))

    def expiries_s(self, first_s: float) -> Iterator[float]:
        """Yield the times at which the retransmission timer expires repeatedly, if it is set at ``first_s``.

        Without a timer wheel these are RTO, 3 RTO, 7 RTO, ... after ``first_s``.
        """
        at_s, rto_s = first_s, self.wheel.stored_s(self.rto_s) if self.wheel else self.rto_s
        while True:
            at_s = self.fires_s(at_s, rto_s)
            yield at_s
            rto_s = min(2 * rto_s, self.longest_s)

    def phases(self, count: int) -> list[Timers]:
        """Return the same timers at evenly spaced phases of the clock; only these without a timer wheel."""
        if not self.wheel:
            return [self]
        slot = self.wheel.slot(self.longest_s)
        return [replace(self, wheel=Wheel(self.wheel.tick_s, slot * place / count)) for place in range(count)]

    def expiring_at(self, time_s: float) -> Timers:
        """Return the same timers with a clock that has a slot of the longest timeout at ``time_s``, if it is finite."""
        if not self.wheel or not math.isfinite(time_s):
            return self
        tick_s = self.wheel.tick_s
        slot = self.wheel.slot(self.longest_s)
        return replace(self, wheel=Wheel(tick_s, -time_s / tick_s % slot))


@dataclass(frozen=True)
class Wait:
    """Recovery of a flow.

    Attributes
    ----------
    case
        Event that starts the recovery.
    timeouts
        Number of RTOs before it.
    resume_s
        Time of the first transmission after the stall that gets through.
    repair_s
        Time of the first retransmission that an ACK requested.
    """

    case: Case
    timeouts: int
    resume_s: float
    repair_s: float


def wait(way: Way, timers: Timers, last_sent_s: float, outage: Outage) -> Wait:
    """Return how a flow with a full window recovers from an outage.

    Parameters
    ----------
    last_sent_s
        Time of the last segment before the stall. Most senders send it when they receive the last ACK that had passed
        the link. BBR, whose window is twice the data in flight, continues for one RTT.
    outage
        Outage of the path.
    """
    rtt = way.rtt_s
    first_through = outage.data_s - outage.to_switch_s
    # Three duplicate ACKs or SACKs start the repair.
    shown = rtt + 2 * way.spacing_s
    # Segments leave in pairs, so the RTT without a queue is up to two spacings longer.
    queue_s = max(0.0, timers.srtt_s - rtt - 2 * way.spacing_s)
    if first_through <= last_sent_s + queue_s:
        return Wait("near clock", 0, first_through, first_through + shown)
    probe_s = timers.probe_s(last_sent_s)
    result: list[Wait] = []
    if outage.acks_s <= outage.last_ack_s:
        woken_s = outage.acks_s + outage.back_s
        result.append(Wait("far clock", 0, woken_s, woken_s + shown))
    elif timers.ack_delay_s and outage.acks_s <= outage.last_ack_s + timers.ack_delay_s:
        woken_s = outage.last_ack_s + timers.ack_delay_s + outage.back_s
        # With time-based detection one SACK is enough: the lost segments are too old for reordering.
        at_once = timers.modern and timers.ack_delay_s > rtt / 4
        result.append(Wait("delayed ACK", 0, woken_s, woken_s + (rtt if at_once else shown)))
    at_s = last_sent_s
    if timers.modern:
        at_s = probe_s
        if probe_s >= first_through:
            # The probe's ACK also covers segments whose ACKs were lost, so its RTT sample is long. Nothing counts as
            # lost for that time, or until new segments, which the ACK releases, are reported.
            held_s = last_sent_s + way.to_failure_s + way.core_s + rtt / 4
            result.append(Wait("probe", 0, probe_s, probe_s + rtt + min(rtt, held_s)))
    timeouts, at_s = next(
        (number, at_s) for number, at_s in enumerate(timers.expiries_s(at_s), 1) if at_s >= first_through
    )
    # F-RTO sends new segments first.
    behind = 2 * rtt if timers.modern else rtt
    result.append(Wait("timeout", timeouts, at_s, at_s + behind))
    return min(result, key=lambda item: item.resume_s)


def mean_stretch(expiries: Iterable[float], to_failure_s: float, low_s: float, high_s: float) -> float:
    """Mean of resume / L over lengths L whose logarithm is uniform from ``low_s`` to ``high_s``.

    The sender comes back at the first expiry at which what it sends finds the link working.
    """
    total, begin_s = 0.0, low_s
    for at_s in expiries:
        end_s = min(high_s, at_s + to_failure_s)
        if end_s > begin_s:
            total += at_s * (1 / begin_s - 1 / end_s)
            begin_s = end_s
        if begin_s >= high_s:
            break
    return total / math.log(high_s / low_s)


def step_bound(timeouts: int) -> float:
    """Return the maximum stretch of an outage that ends after the ``timeouts``-th RTO."""
    return (2 ** (timeouts + 1) - 1) / (2**timeouts - 1) if timeouts else math.inf


@dataclass(frozen=True)
class Regrowth:
    """Window reduction of a sender, and the growth after it.

    Attributes
    ----------
    beta
        Share of the window that a loss leaves.
    law
        "reno" or "cubic", or "rate" for a sender whose rate does not change on a loss.
    """

    beta: float
    law: Literal["reno", "cubic", "rate"]


REGROWTHS = {"newreno": Regrowth(0.5, "reno"), "cubic": Regrowth(0.7, "cubic"), "bbr": Regrowth(1.0, "rate")}


@dataclass(frozen=True)
class Shortfall:
    """Shortfall of a flow with a full window and no queue, in segments.

    Attributes
    ----------
    silent
        Shortfall from the first lost segment until new transmissions get through, minus segments that got through.
    regrow
        Shortfall from then until the window has its previous size.
    """

    silent: float
    regrow: float


def shortfall(
    way: Way, waited: Wait, last_sent_s: float, srtt_s: float, outage: Outage, regrowth: Regrowth
) -> Shortfall:
    """Return the shortfall that an outage causes.

    Parameters
    ----------
    waited
        Recovery of the flow.
    last_sent_s
        Time of the last segment before the stall.
    srtt_s
        Smoothed RTT, in which the flow sends one window.
    """
    window = way.window
    rate = 1 / way.spacing_s if regrowth.law == "rate" else min(1 / way.spacing_s, window / srtt_s)
    first_lost_s = -(way.to_failure_s + way.core_s)
    first_through_s = outage.data_s - outage.to_switch_s
    lost = rate * (min(first_through_s, last_sent_s) - first_lost_s)
    left = max(0.0, window - lost)
    target = regrowth.beta * window
    growing = _regrow(way, regrowth)
    if waited.case == "timeout":
        return Shortfall(rate * (waited.resume_s - first_lost_s), _doubling(window, 1, target) + growing)
    if waited.case == "near clock":
        through = rate * (last_sent_s - first_through_s)
        paused = rate * max(0.0, first_through_s + way.rtt_s - last_sent_s)
        return Shortfall(lost + paused, _doubling(window, max(2, through), target) + growing)
    # The ACK that restarts the flow covers all segments that had arrived, and releases as many at once.
    silent = rate * (waited.repair_s - first_lost_s) - left
    return Shortfall(silent, _doubling(window, max(2, left), target) + growing)


def _doubling(window: float, begin: float, target: float) -> float:
    """Return the shortfall while a window doubles per RTT, from its initial size to its target."""
    return window * math.log2(target / begin) - (target - begin) if target > begin else 0.0


def _regrow(way: Way, regrowth: Regrowth) -> float:
    """Return the shortfall while a window grows from its target to its previous size."""
    window = way.window
    if regrowth.law == "rate":
        return 0.0
    if regrowth.law == "reno":
        return window * window / 8
    missing = (1 - regrowth.beta) * window
    cubic_s, friendly_s = math.cbrt(missing / 0.4), missing / 0.529 * way.rtt_s
    if cubic_s < friendly_s:
        return missing / 4 * cubic_s / way.rtt_s
    return missing / 2 * friendly_s / way.rtt_s
