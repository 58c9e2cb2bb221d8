"""What an outage of a path does to one TCP flow, in closed form: when it sends again, what it loses, when it is back.

A path S - A = B - D fails between A and B, in both directions, from 0 to L. Instants are in seconds from the failure.
The derivations are on the study's page (docs/details/outage.md); here they are as a program that knows no simulator.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Case = Literal["near clock", "far clock", "delayed ACK", "probe", "timeout"]

SEGMENT_BITS = 12_000
"""A full segment on the wire, as the scenarios have it."""


@dataclass(frozen=True)
class Way:
    """The path of a flow.

    Attributes
    ----------
    near_s, core_s, far_s
        One-way delays from the sender to the link that fails, over it, and from it to the receiver.
    rate_bps
        Of the sender's host, which is what the flow gets.
    """

    near_s: float
    core_s: float
    far_s: float
    rate_bps: float

    @property
    def spacing_s(self) -> float:
        """From one segment to the next."""
        return SEGMENT_BITS / self.rate_bps

    @property
    def rtt_s(self) -> float:
        """A round trip without queues: a segment's transmission belongs to it."""
        return 2 * (self.near_s + self.core_s + self.far_s) + self.spacing_s

    @property
    def to_failure_s(self) -> float:
        """From when a segment is sent until its last bit is at the link that fails."""
        return self.near_s + self.spacing_s

    @property
    def window(self) -> int:
        """Segments that the path holds, so that no queue grows."""
        return max(4, math.floor(self.rtt_s / self.spacing_s))


@dataclass(frozen=True)
class Outage:
    """What the network does not carry, and where it is switched.

    Attributes
    ----------
    data_s, acks_s
        From when on segments and ACKs get through again, at the node that switches them.
    to_switch_s
        From when a segment is sent until its last bit is at that node.
    last_ack_s
        When the last ACK of what had passed the link comes to the node that switches ACKs.
    back_s
        From that node to the sender.
    """

    data_s: float
    acks_s: float
    to_switch_s: float
    last_ack_s: float
    back_s: float

    @classmethod
    def of_link(cls, way: Way, length_s: float) -> Outage:
        """A link that does not work for so long, and nothing that answers."""
        return cls(length_s, length_s, way.to_failure_s, 2 * way.far_s, way.core_s + way.near_s)


@dataclass(frozen=True)
class Timers:
    """What a sender does when no ACK comes.

    Attributes
    ----------
    srtt_s
        Its smoothed round trip.
    rto_s, longest_s
        Its retransmission timeout, and the longest to which expiries in a row stretch it.
    modern
        Whether it probes two smoothed round trips after its last segment and takes segments for lost by time (both
        RFC 8985), and waits, after a first timeout, for two round trips that say whether that was spurious (RFC 5682).
    ack_delay_s
        How long the receiver holds the ACK of an odd last segment back.
    """

    srtt_s: float
    rto_s: float
    longest_s: float
    modern: bool
    ack_delay_s: float = 0.0


@dataclass(frozen=True)
class Wait:
    """How a flow comes back.

    Attributes
    ----------
    case
        What brings it back.
    timeouts
        Expiries of its timer before that.
    resume_s
        When it sends the first segment that comes through after its silence, or without one.
    repair_s
        When it sends the first segment again for which an ACK has asked.
    """

    case: Case
    timeouts: int
    resume_s: float
    repair_s: float


def wait(way: Way, timers: Timers, last_sent_s: float, outage: Outage) -> Wait:
    """How a flow with a full window comes back from an outage.

    Parameters
    ----------
    last_sent_s
        When it sends its last segment before it must be silent: for most senders when the last ACK comes that had
        passed the link; BBR, which keeps twice what is in flight, goes on for a round trip.
    outage
        What is not carried meanwhile.
    """
    rtt = way.rtt_s
    first_through = outage.data_s - outage.to_switch_s
    # Three duplicate ACKs or SACKs begin the repair.
    shown = rtt + 2 * way.spacing_s
    # Segments leave in pairs: so much longer a round trip is without a queue.
    queue_s = max(0.0, timers.srtt_s - rtt - 2 * way.spacing_s)
    if first_through <= last_sent_s + queue_s:
        return Wait("near clock", 0, first_through, first_through + shown)
    probe_s = last_sent_s + 2 * timers.srtt_s
    found: list[Wait] = []
    if outage.acks_s <= outage.last_ack_s:
        woken_s = outage.acks_s + outage.back_s
        found.append(Wait("far clock", 0, woken_s, woken_s + shown))
    elif timers.ack_delay_s and outage.acks_s <= outage.last_ack_s + timers.ack_delay_s:
        woken_s = outage.last_ack_s + timers.ack_delay_s + outage.back_s
        # By time one SACK is enough: what is lost was sent so long before that no reordering explains it.
        at_once = timers.modern and timers.ack_delay_s > rtt / 4
        found.append(Wait("delayed ACK", 0, woken_s, woken_s + (rtt if at_once else shown)))
    at_s = last_sent_s
    if timers.modern:
        at_s = probe_s
        if probe_s >= first_through:
            # Its ACK also covers what had arrived and whose ACKs were lost: the round trip of that is long, and so long
            # nothing is taken for lost yet; or until new segments, which it lets out, are reported.
            held_s = last_sent_s + way.to_failure_s + way.core_s + rtt / 4
            found.append(Wait("probe", 0, probe_s, probe_s + rtt + min(rtt, held_s)))
    reached = (one >= first_through for one in expiries_s(at_s, timers.rto_s, timers.longest_s))
    timeouts = 1 + next(place for place, through in enumerate(reached) if through)
    at_s = next(itertools.islice(expiries_s(at_s, timers.rto_s, timers.longest_s), timeouts - 1, None))
    behind = 2 * rtt if timers.modern and timeouts == 1 else rtt
    found.append(Wait("timeout", timeouts, at_s, at_s + behind))
    return min(found, key=lambda one: one.resume_s)


def expiries_s(first_s: float, rto_s: float, longest_s: float) -> Iterator[float]:
    """When a timer expires again and again: RTO, 3 RTO, 7 RTO, ... behind ``first_s``."""
    at_s = first_s
    while True:
        at_s += rto_s
        yield at_s
        rto_s = min(2 * rto_s, longest_s)


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
    """The most that an outage is stretched by that ends behind the ``timeouts``-th expiry of a timer."""
    return (2 ** (timeouts + 1) - 1) / (2**timeouts - 1) if timeouts else math.inf


@dataclass(frozen=True)
class Regrowth:
    """What a sender does to its window, and how it grows back.

    Attributes
    ----------
    beta
        What a loss leaves of the window.
    law
        "reno" or "cubic"; "rate" of a sender whose rate a loss does not change.
    """

    beta: float
    law: Literal["reno", "cubic", "rate"]


REGROWTHS = {"newreno": Regrowth(0.5, "reno"), "cubic": Regrowth(0.7, "cubic"), "bbr": Regrowth(1.0, "rate")}


@dataclass(frozen=True)
class Shortfall:
    """What a flow with a full window and without a queue falls short of, in segments.

    Attributes
    ----------
    silent
        From the first segment that is lost until what it sends gets through again, less what did meanwhile.
    regrow
        From then on until the window is what it was.
    """

    silent: float
    regrow: float


def shortfall(
    way: Way, waited: Wait, last_sent_s: float, srtt_s: float, outage: Outage, regrowth: Regrowth
) -> Shortfall:
    """What an outage costs a flow.

    Parameters
    ----------
    waited
        How it comes back.
    last_sent_s
        When it sends its last segment before it must be silent.
    srtt_s
        Its smoothed round trip, in which it sends a window.
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
    # The ACK that wakes it covers all that had arrived, and lets out as much at once.
    silent = rate * (waited.repair_s - first_lost_s) - left
    return Shortfall(silent, _doubling(window, max(2, left), target) + growing)


def _doubling(window: float, begin: float, target: float) -> float:
    """What is missing while a window doubles each round trip, from its beginning to its target."""
    return window * math.log2(target / begin) - (target - begin) if target > begin else 0.0


def _regrow(way: Way, regrowth: Regrowth) -> float:
    """What is missing while a window grows from its target to what it was."""
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
