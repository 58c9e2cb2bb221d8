"""Analytical model of goodput with burst losses: correlation gain times delay penalty.

# Model
The time of a file in round trips follows from renewal: the file proceeds at its window limit, and each loss event adds
a cost. Loss events occur once per S / p segments, because a burst is lost as a whole (correlation benefit). The cost
of an event depends on the number of lost segments, on the recovery, and on the regrowth of the window. An RTT is longer
by twice the assembly timer (delay penalty).

# References
A. Detti, M. Listanti, Optical Switching and Networking 2 (2005): one loss event per burst. J. Padhye et al., SIGCOMM
1998: cycles between loss events under a window limit, and the square-root law as their limit. K. Fall, S. Floyd,
Computer Communication Review 1996: conditions under which two losses make Reno wait. docs/details/obs.md derives the
steps.

# Parameters
:class:`Sender`, :class:`Path`, and the burst sizes, from equation 3 or from runs without losses.

# Limitations
- Cycles have equal length. Two losses in one cycle do not interact, and retransmissions arrive.
- A loss below the window limit counts at the end of the mean cycle, except for Reno with two losses.
- Lost ACKs only count if one burst carries the ACKs of a whole window.
- The distribution of sizes is taken from a run without losses.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

DUPLICATES = 3
"""Number of duplicate ACKs for a fast retransmit (RFC 5681 section 3.2)."""
TWO = 2
"""Number of losses in a window that Reno can repair without an RTO."""


@dataclass(frozen=True)
class Sender:
    """Sender and its receiver.

    Attributes
    ----------
    window
        Receive window in segments; ``math.inf`` for none.
    segments_an_ack
        Segments per ACK: 1, or 2 with delayed ACKs.
    sack
        Whether the sender uses SACK; otherwise Reno.
    timeout_s
        Mean time from a segment to its retransmission by RTO.
    lone_ack_s
        Mean delay of the ACK of a single segment.
    """

    window: float
    segments_an_ack: int
    sack: bool
    timeout_s: float
    lone_ack_s: float = 0.0


@dataclass(frozen=True)
class Path:
    """Path of a file.

    Attributes
    ----------
    round_trip_s
        RTT including assembly.
    loss_probability
        Loss probability of a burst.
    sizes
        Share of bursts by number of segments of the flow; shares add up to 1.
    """

    round_trip_s: float
    loss_probability: float
    sizes: Mapping[int, float]

    @property
    def mean_size(self) -> float:
        """Mean segments per burst, S."""
        return sum(size * share for size, share in self.sizes.items())


def cycle_end(sender: Sender, segments: float) -> float:
    """Return the window at a loss if ``segments`` get through between two loss events.

    The window starts at half its final value and grows by 1 / b per round trip, so w^2 3 b / 8 segments get through.
    """
    return min(sender.window, math.sqrt(8 * segments / (3 * sender.segments_an_ack)))


def cycle_rounds(sender: Sender, segments: float) -> float:
    """Return the round trips between two losses: the window starts at half, and ``segments`` get through."""
    end = cycle_end(sender, segments)
    grown = 3 * sender.segments_an_ack * end**2 / 8
    return sender.segments_an_ack * end / 2 + (segments - grown) / end


def slow_start(sender: Sender, until: float) -> tuple[float, float]:
    """Return round trips and segments of a window that grows from one segment by a b-th per round trip."""
    rounds, segments, window = 0, 0.0, 1.0
    while window < until:
        rounds, segments, window = rounds + 1, segments + window, window * (1 + 1 / sender.segments_an_ack)
    return rounds, segments


def start_over(sender: Sender, path: Path, end: float) -> float:
    """Return the additional round trips of slow start after an RTO, up to half the window, against a full window."""
    rounds, segments = slow_start(sender, end / 2)
    return rounds - segments / end + sender.lone_ack_s / path.round_trip_s


def at_limit(sender: Sender, segments: float) -> float:
    """Return the share of loss events at the receive window, for exponential lengths between them.

    Parameters
    ----------
    segments
        Mean number between loss events; the window needs 3 b W^2 / 8 to reach the limit again.
    """
    return math.exp(-3 * sender.segments_an_ack * sender.window**2 / (8 * segments))


def false_retransmit(sender: Sender, lost: int, end: float) -> float:
    """Return the cost of an RTO followed by a spurious fast retransmit, in round trips; 0 if there is none.

    Reno without a `recover` check goes back to the first of the lost - 1 missing segments. It sends in windows of 1, 2,
    4, ..., because the receiver immediately acknowledges segments that fill a gap. The receiver has the segments beyond
    them: three of these cause three duplicate ACKs (RFC 2582 section 5). The window of that round is halved, and then
    grows by 1 / b per round trip.
    """
    rounds = math.ceil(math.log2(lost))
    known = 2**rounds - 1 - (lost - 1)
    if known < DUPLICATES:
        return 0.0
    begin = float(2 ** (rounds - 1)) / 2
    grown: float = sender.segments_an_ack * ((end - begin) ** 2 / (2 * end) - end / 8)
    return rounds + 1 + grown


def repair_rounds(sender: Sender, path: Path, lost: int, end: float, limited: float) -> float:
    """Return the round trips that the repair of one loss event adds to its cycle.

    Parameters
    ----------
    lost
        Number of segments of the flow in the burst.
    end
        Window at the loss.
    limited
        Share of loss events at the receive window (:func:`at_limit`). It decides whether Reno needs an RTO for two
        segments (Fall and Floyd).
    """
    timeout = sender.timeout_s / path.round_trip_s
    if lost > end - DUPLICATES:
        # Without a third duplicate ACK the RTO replaces the round after the lost one.
        return timeout + start_over(sender, path, end)
    if sender.sack or lost == 1:
        # During repair, new segments leave as far as the inflated window or the pipe and the receive window allow.
        new = max(0.0, min(end / 2 - (lost - 1), sender.window - end))
        return math.ceil(lost / (end / 2)) - new / (end / 2)
    # Reno repairs the first loss in one round; the others wait for the RTO and are retransmitted.
    false = false_retransmit(sender, lost, end)
    waits = 1 + timeout + (false or (lost - 1) / end + start_over(sender, path, end))
    if lost > TWO:
        return waits
    # Below the limit, on average half way up, new segments cause a second fast retransmit one round later.
    window = 3 * end / 4
    twice = 2 - min(window / 2 - 1, sender.window - window) / (window / 2)
    return limited * waits + (1 - limited) * twice


def rounds_of_file(sender: Sender, path: Path, segments: float) -> float:
    """Return the round trips of a file, from the first packet of its connection to its last segment."""
    opening, opened = slow_start(sender, sender.window) if math.isfinite(sender.window) else (0.0, 0.0)
    # One round for the connection, half a round for the last one-way trip; both ends of slow start are data rounds.
    before = 1 + opening + sender.lone_ack_s / path.round_trip_s + 0.5
    left = segments - opened
    if not path.loss_probability:
        return before + left / sender.window
    between = path.mean_size / path.loss_probability
    end = cycle_end(sender, between)
    limited = at_limit(sender, between)
    repair = sum(share * repair_rounds(sender, path, size, end, limited) for size, share in path.sizes.items())
    acks_alone = sum(share for size, share in path.sizes.items() if size > end - DUPLICATES)
    # A burst with the ACKs of a whole window is lost as often, but its data has arrived, so the round is not lost.
    repair += acks_alone * (repair_rounds(sender, path, math.ceil(end), end, limited) - 1 + 1 / end)
    return before + left / between * (cycle_rounds(sender, between) + repair)


def goodput_mbps(sender: Sender, path: Path, segments: float, segment_bytes: int) -> float:
    """Return the goodput in Mb/s of a file of ``segments`` with ``segment_bytes`` useful bytes each."""
    return 8e-6 * segments * segment_bytes / (rounds_of_file(sender, path, segments) * path.round_trip_s)


def correlation_gain(sender: Sender, path: Path, segments: float) -> float:
    """Return the speed-up over a file with one segment per burst, at the same RTT."""
    apart = Path(path.round_trip_s, path.loss_probability, {1: 1.0})
    return rounds_of_file(sender, apart, segments) / rounds_of_file(sender, path, segments)


def single_flow_sizes(window: int, per_timer: float) -> dict[int, float]:
    """Return the burst sizes of a flow alone by equation 3, including the segment that opens a burst.

    Parameters
    ----------
    per_timer
        Number of segments that arrive on the access link in one assembly time.
    """
    most = min(window, math.floor(per_timer) + 1)
    full, last = divmod(window, most)
    bursts = full + (last > 0)
    return {most: full / bursts} | ({last: 1 / bursts} if last else {})
