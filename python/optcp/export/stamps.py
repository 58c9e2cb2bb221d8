"""Timestamps of segments and ACKs (RFC 7323), worked out from what a run observed of packets.

A run records when segments were sent and received, and when ACKs were received, but not when ACKs were sent. An ACK is
assumed to leave when its segment arrives, as without delayed ACKs. The clocks of both ends start at 1 with the run.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.data.table import Table

SENT = ("sent", "resent")
ENDED = ("arrived", "dropped")


def stamps(table: Table, ticks: Mapping[str, int]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The timestamp and its echo of every row, 0 for flows without ``ticks``: the unit of the clock in ps, by flow."""
    value = np.zeros(len(table), dtype=np.uint32)
    echo = np.zeros(len(table), dtype=np.uint32)
    rows: dict[str, list[int]] = defaultdict(list)
    for place, flow in enumerate(table.texts("flow")):
        if flow in ticks:
            rows[flow].append(place)
    events, ports = table.texts("event"), table.texts("port")
    at = table.numbers("time_ps").tolist()
    number = table.numbers("seq").tolist()
    backward = table.numbers("ack").astype(bool).tolist()
    for flow, places in rows.items():
        one = _Flow(ticks[flow])
        for place in places:
            if not backward[place]:
                one.learn(events[place], at[place], number[place])
        for place in places:
            stamps_of = one.of_ack if backward[place] else one.of_segment
            value[place], echo[place] = stamps_of(events[place], ports[place], at[place], number[place])
    return value, echo


class _Flow:
    """Timestamps of one flow. Rows are processed twice in order of time: first all arrivals, then each row's stamps."""

    def __init__(self, tick: int) -> None:
        self.tick = tick
        # By segment: when each transmission left, its echo, and when each transmission ended.
        self.left: dict[int, list[int]] = defaultdict(list)
        self.echoes: dict[int, list[int]] = defaultdict(list)
        self.ended: dict[int, list[int]] = defaultdict(list)
        # By number: arrivals while the receiver had all segments below this number, and no more.
        self.came: dict[int, list[int]] = defaultdict(list)
        self.reached = 0
        self.beyond: set[int] = set()
        # By place and number: how many segments and ACKs were seen there.
        self.seen: dict[tuple[str, int], int] = defaultdict(int)
        # By place: the number of the last ACK, and its echo.
        self.edges: dict[str, tuple[int, int]] = {}
        self.latest = 0

    def _clock(self, at: int) -> int:
        return (1 + at // self.tick) % 2**32

    def learn(self, event: str, at: int, number: int) -> None:
        """Take in a row of a segment."""
        if event in SENT:
            self.left[number].append(at)
        elif event in ENDED:
            self.ended[number].append(at)
        if event == "arrived":
            self.beyond.add(number)
            while self.reached in self.beyond:
                self.beyond.discard(self.reached)
                self.reached += 1
            self.came[self.reached].append(at)

    def of_segment(self, event: str, port: str, at: int, number: int) -> tuple[int, int]:
        """Stamp and echo of a segment: of the first transmission that may be here and was not seen here yet."""
        here = ("sent" if event in SENT else f"{event} {port}", number)
        left, ended = self.left[number], self.ended[number]
        which = self.seen[here]
        if event in SENT:
            self.echoes[number].append(self.latest)
        elif event not in ENDED:
            while which + 1 < len(left) and which < len(ended) and ended[which] < at:
                which += 1
        self.seen[here] = which + 1
        which = min(which, len(self.echoes[number]) - 1)
        return self._clock(left[which]), self.echoes[number][which]

    def of_ack(self, event: str, port: str, at: int, number: int) -> tuple[int, int]:
        """Stamp and echo of an ACK: it echoes the segment at the edge that the ACK before left."""
        here = f"{event} {port}"
        came = self.came.get(number) or [at]
        value = self._clock(came[min(self.seen[here, number], len(came) - 1)])
        self.seen[here, number] += 1
        edge, echo = self.edges.get(here, (0, 0))
        if number > edge:
            arrived = [place for place, end in enumerate(self.ended[edge]) if end <= at]
            left = self.left[edge]
            echo = self._clock(left[min(arrived[-1], len(left) - 1)]) if arrived and left else 0
            self.edges[here] = (number, echo)
        if event == "acked":
            self.latest = value
        return value, echo
