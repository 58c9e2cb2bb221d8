"""Packet-hops of a run: when each packet came to a port, when it began to leave, and when it was at the other end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.export.packets import World
    from optcp.web.animation.window import Window

DATA, ACK, AGAIN = 0, 1, 2
"""Kind of a packet: first transmission of data, ACK, retransmission."""

SCATTER = np.uint64(2654435761)
"""By which packets are chosen (multiplicative hashing, Knuth): a segment that is drawn is drawn on all of its way."""

SEARCHED = 6
"""Number of rows of a packet that are searched for its next event; few segments have more copies in flight."""


@dataclass(frozen=True)
class Drawn:
    """Packet-hops in the order in which packets came to ports, and every lost packet.

    Attributes
    ----------
    came, left, there
        Times of the arrival at the port, of the start of the transmission, and of the end of the hop, in ps, shape
        (hops,). The hop ends when the last bit arrives at the other end or the packet is lost.
    port, group
        Places in the ports and groups that are drawn.
    kind
        :data:`DATA`, :data:`ACK` or :data:`AGAIN`.
    lost_at, lost_port
        Of each lost packet, drawn or not, shape (lost,).
    """

    came: NDArray[np.int64]
    left: NDArray[np.int64]
    there: NDArray[np.int64]
    port: NDArray[np.int64]
    group: NDArray[np.int64]
    kind: NDArray[np.int64]
    lost_at: NDArray[np.int64]
    lost_port: NDArray[np.int64]


def drawn(table: Table, world: World, rows_of: Mapping[str, int], groups: Sequence[str], window: Window) -> Drawn:
    """Find the hops of the packets that a page draws, and the lost packets.

    Parameters
    ----------
    table
        An observation of kind ``packets``, of all ports.
    rows_of
        As which port that the page has each port by name is drawn.
    groups
        Names of those that the page has.
    """
    port = _places(table, "port", rows_of)
    lost = table.is_("event", "dropped") & (port >= 0)
    times = table.numbers("time_ps").astype(np.int64)
    # Rows of one packet stand together, in the order of time.
    seq, ack = table.numbers("seq").astype(np.uint64), table.numbers("ack")
    flow, _ = table.coded("flow")
    order = np.lexsort((np.arange(len(table)), seq, ack, flow))
    order = order[(seq[order] * SCATTER >> np.uint64(8)) % np.uint64(window.every) == 0]
    first = np.ones(len(order), dtype=bool)
    for column in (flow[order], seq[order], ack[order]):
        first[1:] &= column[1:] == column[:-1]
    first[1:] = ~first[1:]
    rows = _Rows(
        np.cumsum(first),
        times[order],
        port[order],
        {name: table.is_("event", name)[order] for name in ("queued", "transmitted", "dropped", "arrived", "acked")},
    )
    came = np.flatnonzero(rows.event["queued"] & (rows.port >= 0))
    left, there = _way(rows, came, table.numbers("bytes")[order][came], _Ends.of(world, rows_of), window.end_ps)
    # Retransmitted after its first row.
    begins = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    resent = np.maximum.accumulate(np.where(table.is_("event", "resent")[order], np.arange(len(order)), -1))
    kind = np.where(ack[order], ACK, np.where(resent >= begins, AGAIN, DATA))
    place = {name: index for index, name in enumerate(groups)}
    group = _places(table, "flow", place, lambda name: world.flow(name).group)[order]
    sort = np.argsort(rows.time[came], kind="stable")
    return Drawn(
        rows.time[came][sort],
        left[sort],
        there[sort],
        rows.port[came][sort],
        group[came][sort],
        kind[came][sort],
        times[lost],
        port[lost],
    )


@dataclass(frozen=True)
class _Rows:
    """Events of packets: packet, time, port (or -1), and one mask per kind of event."""

    packet: NDArray[np.int64]
    time: NDArray[np.int64]
    port: NDArray[np.int64]
    event: dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class _Ends:
    """Ends of ports: node at the beginning, node at the end, bit/s. The last row stands for no port."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    rate: NDArray[np.float64]

    @classmethod
    def of(cls, world: World, rows_of: Mapping[str, int]) -> _Ends:
        # Of ports that are drawn as one the last one stands for all: they are alike.
        known = list({row: world.ports[name] for name, row in rows_of.items()}.values())
        nodes = [[*(world.nodes[port.ends[end]] for port in known), -1 - end] for end in (0, 1)]
        return cls(np.array(nodes[0]), np.array(nodes[1]), np.array([*(float(port.rate) for port in known), 1.0]))


def _way(
    rows: _Rows, came: NDArray[np.int64], sizes: NDArray[np.uint32], ends: _Ends, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When packets began to leave the ports that they came to, and when they were at the other end, or lost."""
    event, port = rows.event, rows.port
    last = _next(
        rows, came, lambda row, other: (port[row] == port[other]) & (event["transmitted"] | event["dropped"])[other]
    )
    sent = np.where((last >= 0) & event["transmitted"][last], last, -1)
    beyond = _next(
        rows,
        sent,
        lambda row, other: (
            (ends.start[port[other]] == ends.end[port[row]])
            | (event["arrived"] | event["acked"])[other]
            | (event["dropped"][other] & (port[other] == port[row]))
        ),
    )
    done = np.where(last >= 0, rows.time[last], stop)
    took = (sizes * 8e12 / ends.rate[port[came]]).astype(np.int64)
    left = np.where(sent >= 0, np.maximum(done - took, rows.time[came]), done)
    # Packets in flight at the end take as long as others on that port.
    travel = np.where(beyond >= 0, rows.time[beyond] - done, 0)
    usual = np.zeros(len(ends.rate), dtype=np.int64)
    np.maximum.at(usual, port[came], travel)
    there = np.where(beyond >= 0, rows.time[beyond], done + np.where(sent >= 0, usual[port[came]], 0))
    return left, np.maximum(there, left)


def _next(
    rows: _Rows, of: NDArray[np.int64], fits: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
) -> NDArray[np.int64]:
    """For each of these rows the next one of its packet that fits, or -1; -1 of -1."""
    found = np.full(len(of), -1, dtype=np.int64)
    for ahead in range(1, SEARCHED + 1):
        open_ = np.flatnonzero((found < 0) & (of >= 0) & (of + ahead < len(rows.packet)))
        row = of[open_]
        other = row + ahead
        fit = (rows.packet[row] == rows.packet[other]) & fits(row, other)
        found[open_[fit]] = other[fit]
    return found


def _places(
    table: Table, column: str, place: Mapping[str, int], of: Callable[[str], str] = lambda name: name
) -> NDArray[np.int64]:
    """For each row the place of its text, or -1."""
    codes, texts = table.coded(column)
    of_text = np.array([place.get(of(text), -1) if text else -1 for text in texts] or [-1], dtype=np.int64)
    found: NDArray[np.int64] = of_text[codes]
    return found
