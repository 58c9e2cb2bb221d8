"""An analytical model of goodput over bursts that are lost: correlation gain times delay penalty.

# Models
The time of a file in round trips, by renewal: the file goes on at its window's limit, and each loss event adds what it
costs. Loss events come once in S / p segments, because a burst is lost whole (the correlation benefit); what one
costs depends on how many segments it takes, on the recovery, and on how far the window had grown again. A round trip
is longer by twice the assembly timer (the delay penalty).
# Source
A. Detti, M. Listanti, Optical Switching and Networking 2 (2005): one loss event a burst. J. Padhye et al., SIGCOMM
1998: cycles between loss events under a window limit, and the square-root law as their limit. K. Fall, S. Floyd,
Computer Communication Review 1996: when two losses make Reno wait. The steps are derived in docs/details/obs.md.
# Parameters
Of :class:`Sender` and :class:`Path`; the sizes of bursts, from equation 3 or measured without losses.
# Limits
Cycles are of equal length; no two losses in one cycle disturb each other, and retransmissions arrive. A window that a
loss finds below its limit counts as the mean cycle's end, but for Reno with two losses. Lost ACKs count only where one
burst carries those of a whole window. The distribution of sizes is that of a run without losses.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

DUPLICATES = 3
"""Duplicate ACKs that a fast retransmit takes, RFC 5681 section 3.2."""
TWO = 2
"""Losses in a window that Reno can repair without a timeout."""


@dataclass(frozen=True)
class Sender:
    """A sender and its receiver.

    Attributes
    ----------
    window
        The receiver's window, segments; ``math.inf`` for none.
    segments_an_ack
        1, or 2 with delayed ACKs.
    sack
        Whether it is SACK; else Reno.
    timeout_s
        From a segment to its retransmission by the timer, on average.
    lone_ack_s
        How long a segment that comes alone waits for its ACK, on average.
    """

    window: float
    segments_an_ack: int
    sack: bool
    timeout_s: float
    lone_ack_s: float = 0.0


@dataclass(frozen=True)
class Path:
    """What a file goes over.

    Attributes
    ----------
    round_trip_s
        With assembly.
    loss_probability
        Of a burst.
    sizes
        Segments of the flow in a burst to the share of the bursts that carry so many; shares add up to 1.
    """

    round_trip_s: float
    loss_probability: float
    sizes: Mapping[int, float]

    @property
    def mean_size(self) -> float:
        """S, segments a burst."""
        return sum(size * share for size, share in self.sizes.items())


def cycle_end(sender: Sender, segments: float) -> float:
    """The window at a loss, if as many segments go through from one loss event to the next.

    The window begins at half of it and grows by 1 / b a round trip, so that w^2 3 b / 8 segments go through.
    """
    return min(sender.window, math.sqrt(8 * segments / (3 * sender.segments_an_ack)))


def cycle_rounds(sender: Sender, segments: float) -> float:
    """Round trips in which a window goes on from half of what it is at a loss until as many segments went through."""
    end = cycle_end(sender, segments)
    grown = 3 * sender.segments_an_ack * end**2 / 8
    return sender.segments_an_ack * end / 2 + (segments - grown) / end


def slow_start(sender: Sender, until: float) -> tuple[float, float]:
    """Round trips of a window that grows from one segment by a b-th a round, and the segments that go through."""
    rounds, segments, window = 0, 0.0, 1.0
    while window < until:
        rounds, segments, window = rounds + 1, segments + window, window * (1 + 1 / sender.segments_an_ack)
    return rounds, segments


def start_over(sender: Sender, path: Path, end: float) -> float:
    """Round trips that slow start after a timeout, up to half the window, takes longer than the full window would."""
    rounds, segments = slow_start(sender, end / 2)
    return rounds - segments / end + sender.lone_ack_s / path.round_trip_s


def at_limit(sender: Sender, segments: float) -> float:
    """The share of loss events that find the window at the receiver's limit, if lengths between them are exponential.

    Parameters
    ----------
    segments
        Mean from one loss event to the next; as many as 3 b W^2 / 8 go through until the limit is reached again.
    """
    return math.exp(-3 * sender.segments_an_ack * sender.window**2 / (8 * segments))


def false_retransmit(sender: Sender, lost: int, end: float) -> float:
    """Round trips that a timeout costs if a needless fast retransmit follows it; 0 if none does.

    Reno without a `recover` check goes back to the first of the lost - 1 segments that are still missing, in windows
    of 1, 2, 4, ..., since what fills a hole is acknowledged at once. What it sends beyond them the receiver has: three
    of these bring three duplicate ACKs (RFC 2582 section 5). The window of that round is halved, and grows from there
    by 1 / b a round.
    """
    rounds = math.ceil(math.log2(lost))
    known = 2**rounds - 1 - (lost - 1)
    if known < DUPLICATES:
        return 0.0
    begin = float(2 ** (rounds - 1)) / 2
    grown: float = sender.segments_an_ack * ((end - begin) ** 2 / (2 * end) - end / 8)
    return rounds + 1 + grown


def repair_rounds(sender: Sender, path: Path, lost: int, end: float, limited: float) -> float:
    """Round trips that the repair of one loss event adds to its cycle.

    Parameters
    ----------
    lost
        Segments of the flow in the burst.
    end
        The window at the loss.
    limited
        The share of loss events at the receiver's limit, see :func:`at_limit`. It decides whether Reno needs a timeout
        for two segments (Fall and Floyd).
    """
    timeout = sender.timeout_s / path.round_trip_s
    if lost > end - DUPLICATES:
        # No third duplicate ACK: in place of the round after the lost one the timer's time.
        return timeout + start_over(sender, path, end)
    if sender.sack or lost == 1:
        # While the loss is repaired, new segments leave as the inflated window or the pipe and the receiver let them.
        new = max(0.0, min(end / 2 - (lost - 1), sender.window - end))
        return math.ceil(lost / (end / 2)) - new / (end / 2)
    # Reno: the first is repaired in a round, the others wait for the timer and are sent once more.
    false = false_retransmit(sender, lost, end)
    waits = 1 + timeout + (false or (lost - 1) / end + start_over(sender, path, end))
    if lost > TWO:
        return waits
    # Below the limit, half way up on average, new segments bring a second fast retransmit, a round later.
    window = 3 * end / 4
    twice = 2 - min(window / 2 - 1, sender.window - window) / (window / 2)
    return limited * waits + (1 - limited) * twice


def rounds_of_file(sender: Sender, path: Path, segments: float) -> float:
    """Round trips that a file takes, from the first packet of its connection until its last segment is there."""
    opening, opened = slow_start(sender, sender.window) if math.isfinite(sender.window) else (0.0, 0.0)
    # One for the connection, and half of one for the last way; both of slow start's ends are rounds of data.
    before = 1 + opening + sender.lone_ack_s / path.round_trip_s + 0.5
    left = segments - opened
    if not path.loss_probability:
        return before + left / sender.window
    between = path.mean_size / path.loss_probability
    end = cycle_end(sender, between)
    limited = at_limit(sender, between)
    repair = sum(share * repair_rounds(sender, path, size, end, limited) for size, share in path.sizes.items())
    acks_alone = sum(share for size, share in path.sizes.items() if size > end - DUPLICATES)
    # ACKs of a whole window in one burst are lost as often; the window itself is there, and its round is not lost.
    repair += acks_alone * (repair_rounds(sender, path, math.ceil(end), end, limited) - 1 + 1 / end)
    return before + left / between * (cycle_rounds(sender, between) + repair)


def goodput_mbps(sender: Sender, path: Path, segments: float, segment_bytes: int) -> float:
    """Goodput of a file of so many segments of so many useful bytes each."""
    return 8e-6 * segments * segment_bytes / (rounds_of_file(sender, path, segments) * path.round_trip_s)


def correlation_gain(sender: Sender, path: Path, segments: float) -> float:
    """How much faster the file is than one whose segments travel in a burst each, at the same round trip."""
    apart = Path(path.round_trip_s, path.loss_probability, {1: 1.0})
    return rounds_of_file(sender, apart, segments) / rounds_of_file(sender, path, segments)


def single_flow_sizes(window: int, per_timer: float) -> dict[int, float]:
    """Burst sizes of a flow alone: equation 3, with the segment that opens a burst counted in it.

    Parameters
    ----------
    per_timer
        Segments that arrive on the access link in one assembly time.
    """
    most = min(window, math.floor(per_timer) + 1)
    full, last = divmod(window, most)
    bursts = full + (last > 0)
    return {most: full / bursts} | ({last: 1 / bursts} if last else {})
