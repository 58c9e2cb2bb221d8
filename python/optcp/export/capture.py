"""Packets as captures (pcapng), which Wireshark and its like read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.errors import RunFailed
from optcp.export import packets
from optcp.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.export.packets import Flow, World
    from optcp.study.saved import Table

FIRST_PORT, PORTS = 1024, 65536 - 1024
"""Sources of a node have ports from the first one on."""
SERVER_PORT = 5001
DATAGRAM_HEADERS = 28
"""IPv4 and UDP in bytes."""
NONE = 2**32 - 1
"""Stands for no place in a list."""
ENDS = {"senders": ("sent", "resent", "acked"), "receivers": ("arrived",)}
"""What is seen at the ends of flows."""

Address = tuple[int, int, int, int]


@dataclass(frozen=True)
class Place:
    """Where someone listened: the end of the file's name, and which rows were seen there, by interface."""

    name: str
    interfaces: dict[str, NDArray[np.bool_]]


def files(directory: Path) -> Iterator[Path]:
    """Write captures of every run in a directory that observed packets, one a place.

    Places are the senders (segments sent, ACKs that came), the receivers (segments that came), every chosen port
    (packets that it sent), and losses (every lost packet, on the interface of its port and with the reason as comment).
    """
    for run, observation, table in packets.observed(directory):
        world = packets.World.of(run.scenario)
        flows = table.distinct("flow")
        frames = _frames(table, world)
        sacks, frames["sack"] = _sacks(table, world)
        hosts = [(_address(number), name) for name, number in world.nodes.items()]
        for place in _places(table):
            seen = np.logical_or.reduce(list(place.interfaces.values()))
            interface = np.zeros(len(table), dtype=np.uint32)
            for number, mask in enumerate(place.interfaces.values()):
                interface[mask] = number
            comments = table.distinct("reason") if place.name == "losses" else []
            columns = {name: values[seen] for name, values in frames.items()}
            columns["interface"] = interface[seen]
            columns["comment"] = _places_in(table, "reason", comments)[seen]
            columns["opens"] = columns["opens"] & _first(columns)
            target = run.directory / f"{observation}-{place.name}.pcapng"
            try:
                content = _core.write_pcapng(
                    list(place.interfaces), hosts, _connections(flows, world), sacks, comments, columns
                )
            except ValueError as error:
                raise RunFailed(f"{target}: {error}") from error
            with replacing(target) as file:
                file.write(content)
            yield target


def _places(table: Table) -> Iterator[Place]:
    for name, events in ENDS.items():
        seen = np.logical_or.reduce([table.is_("event", event) for event in events])
        if seen.any():
            yield Place(name, {name: seen})
    transmitted = table.is_("event", "transmitted")
    names: set[str] = set()
    for port in table.rows(transmitted).distinct("port"):
        plain = name = re.sub(r"[^\w.-]", "_", port.replace("->", "-to-"))
        for number in range(2, len(names) + 3):
            if name not in names:
                break
            name = f"{plain}-{number}"
        names.add(name)
        yield Place(name, {port: transmitted & table.is_("port", port)})
    lost = table.is_("event", "dropped")
    if lost.any():
        yield Place("losses", {port: lost & table.is_("port", port) for port in table.rows(lost).distinct("port")})


def _frames(table: Table, world: World) -> dict[str, NDArray[Any]]:
    """What of a frame does not depend on where it is seen, for every row."""
    flows = table.distinct("flow")
    connection = _places_in(table, "flow", flows)
    of = [world.flows[name] for name in flows]
    backward = table.numbers("ack").astype(bool)
    seq = table.numbers("seq").astype(np.uint64)
    mss = _each(connection, [flow.tcp["mss_bytes"] if flow.tcp else 0 for flow in of])
    # A SYN has number 0, and segments follow.
    opening = _each(connection, [int(flow.tcp["handshake"]) if flow.tcp else 0 for flow in of])
    opens = (opening == 1) & (seq == backward)
    number = np.where((opening == 1) & (seq == 0), 0, 1 + (seq - opening) * mss)  # as _byte
    datagrams = _each(connection, [int(flow.tcp is None) for flow in of]) == 1
    size = table.numbers("bytes").astype(np.int64)
    payload = np.where(datagrams, np.maximum(size - DATAGRAM_HEADERS, 0), np.where(backward | opens, 0, mss))
    return {
        "time_ps": table.numbers("time_ps"),
        "connection": connection,
        "backward": backward,
        "opens": opens,
        "number": (number % 2**32).astype(np.uint32),
        "payload_bytes": payload.astype(np.uint16),
    }


def _byte(flow: Flow, segment: int) -> int:
    """The first byte of a segment, modulo 2^32."""
    if flow.tcp is None:
        raise ValueError("a datagram has no SACK blocks")
    return int((1 + (segment - flow.tcp["handshake"]) * flow.tcp["mss_bytes"]) % 2**32)


def _sacks(table: Table, world: World) -> tuple[list[list[tuple[int, int]]], NDArray[np.uint32]]:
    """What SACK reports, as blocks of bytes, and for every row its place among them."""
    place = np.full(len(table), NONE, dtype=np.uint32)
    rows = np.flatnonzero(~table.is_("sack", ""))
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    told = table.rows(place != NONE)
    blocks = []
    for name, text in zip(told.texts("flow"), told.texts("sack"), strict=True):
        edges = (map(int, block.split(":")) for block in text.split())
        blocks.append([(_byte(world.flows[name], low), _byte(world.flows[name], high)) for low, high in edges])
    return blocks, place


def _first(columns: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Mark what goes forward, and of what goes backward the first frame of each connection: the SYN's answer."""
    first: NDArray[np.bool_] = ~columns["backward"]
    behind = np.flatnonzero(columns["backward"])
    _, earliest = np.unique(columns["connection"][behind], return_index=True)
    first[behind[earliest]] = True
    return first


def _each(places: NDArray[np.uint32], values: Sequence[int]) -> NDArray[np.uint64]:
    return np.array(values, dtype=np.uint64)[places]


def _places_in(table: Table, column: str, names: Sequence[str]) -> NDArray[np.uint32]:
    """Places of a column's texts in a list; those that are not in it have the greatest number."""
    places = np.full(len(table), NONE, dtype=np.uint32)
    for place, name in enumerate(names):
        places[table.is_(column, name)] = place
    return places


def _connections(flows: Sequence[str], world: World) -> list[tuple[Address, int, Address, int, bool]]:
    """Ends of flows: nodes have addresses, and the flows between two of them different ports."""
    so_far: dict[tuple[str, str], int] = {}
    ends: dict[int, tuple[Flow, int]] = {}
    for flow in world.flows.values():
        between = (flow.path[0], flow.path[-1])
        ends[flow.number] = flow, so_far.get(between, 0)
        so_far[between] = ends[flow.number][1] + 1
    connections = []
    for name in flows:
        flow, nth = ends[world.flows[name].number]
        source, destination = (_address(world.nodes[flow.path[end]]) for end in (0, -1))
        ports = FIRST_PORT + nth % PORTS, SERVER_PORT + nth // PORTS
        connections.append((source, ports[0], destination, ports[1], flow.tcp is None))
    return connections


def _address(node: int) -> Address:
    return (10, (node + 1 >> 16) & 255, (node + 1 >> 8) & 255, (node + 1) & 255)
