"""Behaviour of single sources (recoveries, RTOs, overflows), from a run's packets and sender variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.papers.kit import Run, Value

LINKS, BACKUP_LINKS = 5, 6
"""Number of links of every flow, and of a switched one over the backup; the ACKs traverse as many."""
BACK_WINDOW_S = 0.5
PS = 1e12


@dataclass(frozen=True)
class Scale:
    """Segment size and RTTs of the chosen scenario.

    Attributes
    ----------
    segment_bytes
        Size of a segment, in bytes.
    round_trip_s
        Propagation delay both ways, the minimum RTT; 100 ms in the slides.
    full_round_trip_s
        RTT with a full queue of the access link, the minimum gap between two overflows; 150 ms in the slides.
    longest_round_trip_s
        RTT with a full queue over the backup, 20 ms more in the slides.
    """

    segment_bytes: int
    round_trip_s: float
    full_round_trip_s: float
    longest_round_trip_s: float

    @classmethod
    def of(cls, chosen: Mapping[str, Value]) -> Scale:
        """Derive the scale from an experiment's parameters."""
        segment_bytes = int(chosen["packet_bytes"])
        access_bps = float(chosen["access_share"]) * float(chosen["backbone_bps"])
        queue_s = 8 * segment_bytes * int(chosen["queue_packets"]) / access_bps
        delay_s = float(chosen["link_delay_ms"]) / 1000
        # Keep 12 digits, because events are distinguished to the picosecond.
        there, full, longest = (
            round(value, 12)
            for value in (2 * LINKS * delay_s, 2 * LINKS * delay_s + queue_s, 2 * BACKUP_LINKS * delay_s + queue_s)
        )
        return cls(segment_bytes, there, full, longest)


@dataclass(frozen=True)
class Packets:
    """Packet events of a run in time order; arrays of shape (n,).

    Attributes
    ----------
    time_s
        Time of the event.
    event
        Name of the event: ``sent``, ``resent``, ``arrived``, ``acked`` or ``dropped``.
    flow
        Index into ``flows``.
    ack
        Whether the packet is an ACK.
    seq
        Segment number; for an ACK the next expected segment.
    port
        Name of the port, "" for events without one.
    """

    flows: list[str]
    time_s: NDArray[np.float64]
    event: NDArray[np.str_]
    flow: NDArray[np.uint32]
    ack: NDArray[np.bool_]
    seq: NDArray[np.uint32]
    port: NDArray[np.str_]

    @property
    def dropped(self) -> NDArray[np.bool_]:
        """Mask of losses."""
        result: NDArray[np.bool_] = self.event == "dropped"
        return result

    def flows_of(self, group: str) -> list[int]:
        """Return the indices of a group's flows."""
        return [index for index, name in enumerate(self.flows) if name.split("/")[0] == group]

    def at(self, ports: Sequence[str]) -> NDArray[np.bool_]:
        """Return the mask of events at one of these ports."""
        return np.isin(self.port, ports)


def packets(run: Run) -> Packets:
    """Read the observation ``packets``."""
    rows = run["packets"]
    flow, flows = rows.coded("flow")
    return Packets(
        flows=[name for name in flows if name],
        time_s=rows.seconds,
        event=rows["event"],
        flow=flow,
        ack=rows["ack"],
        seq=rows["seq"],
        port=rows["port"],
    )


@dataclass(frozen=True)
class Senders:
    """Sender variables of a run, one row per change, in time order; arrays of shape (n,)."""

    time_s: NDArray[np.float64]
    flow: NDArray[np.uint32]
    cwnd_segments: NDArray[np.float64]
    phase: NDArray[np.str_]
    timeouts: NDArray[np.uint64]

    def mean_window(self, flows: Sequence[int], step_s: float, end_s: float) -> NDArray[np.float64]:
        """Return the mean congestion window of some flows at the ends of intervals, in segments; 0 before the start."""
        ends = np.arange(1, round(end_s / step_s) + 1) * step_s
        total = np.zeros(ends.size)
        for flow in flows:
            time_s, window = self.window(flow)
            total += np.concatenate([[0.0], window])[np.searchsorted(time_s, ends, side="right")]
        return total / len(flows)

    def window(self, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times at which a flow's congestion window changed, and its values in segments."""
        mine = self.flow == flow
        return self.time_s[mine], self.cwnd_segments[mine]

    def timer_fired_s(self, flow: int) -> NDArray[np.float64]:
        """Return the times of a flow's RTOs, in s."""
        mine = self.flow == flow
        counts = np.concatenate([[0], self.timeouts[mine].astype(np.int64)])
        fired: NDArray[np.float64] = self.time_s[mine][np.diff(counts) > 0]
        return fired

    def timed_out(self, flow: int, start_s: float, end_s: float) -> bool:
        """Return whether a flow had an RTO in (start, end]."""
        fired = self.timer_fired_s(flow)
        return bool(np.any((fired > start_s) & (fired <= end_s)))


def senders(run: Run, segment_bytes: int) -> Senders:
    """Read the observation ``tcp``; windows are in segments."""
    rows = run["tcp"]
    return Senders(
        time_s=rows.seconds,
        flow=rows.coded("flow")[0],
        cwnd_segments=rows["cwnd_bytes"] / segment_bytes,
        phase=rows["phase"],
        timeouts=rows["timeouts"],
    )


@dataclass(frozen=True)
class Episode:
    """One fast recovery.

    Attributes
    ----------
    flow
        Index of the flow.
    length_s
        Duration from its first retransmission to its end by the last ACK or by an RTO.
    resent_s
        Times of the retransmissions.
    """

    flow: int
    length_s: float
    resent_s: NDArray[np.float64]

    def most_within(self, round_trip_s: float) -> int:
        """Return the maximum number of retransmissions within the minimum RTT; 1 means one per RTT."""
        ends = np.searchsorted(self.resent_s, self.resent_s + round_trip_s - 1e-9, side="left")
        return int((ends - np.arange(self.resent_s.size)).max(initial=0))


def first_recoveries(rows: Senders, packets: Packets, start_s: float, end_s: float) -> list[Episode]:
    """Return each source's first fast recovery that starts in (start, end); sources without one are omitted."""
    episodes = []
    for flow in range(len(packets.flows)):
        mine = rows.flow == flow
        time_s, recovering = rows.time_s[mine], rows.phase[mine] == "recovery"
        begins = recovering & ~np.concatenate([[False], recovering[:-1]]) & (time_s > start_s) & (time_s < end_s)
        if not begins.any():
            continue
        first = int(np.argmax(begins))
        after = np.flatnonzero(~recovering[first:])
        stop_s = float(time_s[first + after[0]]) if after.size else float(time_s[-1])
        began_s = float(time_s[first])
        # Transmissions at the time of the last ACK or of the RTO are no longer part of the recovery.
        sent = (packets.flow == flow) & (packets.event == "resent")
        sent &= (packets.time_s >= began_s - 1e-12) & (packets.time_s < stop_s - 1e-12)
        episodes.append(Episode(flow, stop_s - began_s, packets.time_s[sent]))
    return episodes


@dataclass(frozen=True)
class FirstCluster:
    """First two overflows of the merge port.

    Attributes
    ----------
    both_classes
        Whether the first one dropped packets of switched and of fixed flows.
    lost_per_source
        Packets lost in each of the first two overflows per source that lost any; one entry per overflow, at most
        two.
    """

    both_classes: bool
    lost_per_source: tuple[float, ...]


def clusters(
    time_s: NDArray[np.float64], flow: NDArray[np.uint32], switched: Sequence[int], gap_s: float
) -> FirstCluster:
    """Split drops into overflows: clusters that are more than a round trip apart.

    Parameters
    ----------
    time_s, flow
        Drops at the merge port in time order, shape (n,).
    switched
        Flow indices of the switched class.
    gap_s
        Minimum gap between two overflows.
    """
    if time_s.size == 0:
        return FirstCluster(False, ())
    edges = np.flatnonzero(np.diff(time_s) > gap_s) + 1
    parts = np.split(flow, edges)[:2]
    first = np.isin(parts[0], switched)
    return FirstCluster(
        bool(first.any() and not first.all()), tuple(part.size / np.unique(part).size for part in parts)
    )


def delivered(packets: Packets, flow: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the arrival times of a flow, and the number of segments before the first gap at these times."""
    mine = (packets.flow == flow) & (packets.event == "arrived")
    time_s, seq = packets.time_s[mine], packets.seq[mine].astype(np.int64)
    here = np.zeros(int(seq.max(initial=0)) + 2, dtype=bool)
    in_order, level = np.empty(seq.size, dtype=np.int64), 0
    for index, item in enumerate(seq.tolist()):
        here[item] = True
        while here[level]:
            level += 1
        in_order[index] = level
    return time_s, in_order


def back_after_s(packets: Packets, flow: int, failure_s: float, end_s: float) -> float:
    """Return the seconds from the failure until a flow has delivered, in order, at its old rate for 0.5 s.

    The old rate is the rate in the second before the failure; the 0.5 s start at the failure or later. If this never
    happens, the time to the end of the run is returned.
    """
    time_s, level = delivered(packets, flow)
    steps = np.concatenate([[0], level])

    def at(instant: NDArray[np.float64]) -> NDArray[np.int64]:
        result: NDArray[np.int64] = steps[np.searchsorted(time_s, instant, side="right")]
        return result

    old_rate = int(np.diff(at(np.array([failure_s - 1, failure_s])))[0])
    ends = np.concatenate([[failure_s + BACK_WINDOW_S], time_s[time_s > failure_s + BACK_WINDOW_S]])
    enough = at(ends) - at(ends - BACK_WINDOW_S) >= old_rate * BACK_WINDOW_S
    return (float(ends[np.argmax(enough)]) if enough.any() else end_s) - failure_s
