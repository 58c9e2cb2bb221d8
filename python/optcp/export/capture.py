"""Export of packets as pcapng captures, for example for Wireshark."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common.files import write_bytes
from optcp.errors import InputError, RunFailed
from optcp.export import packets
from optcp.export.stamps import stamps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.export import Chosen
    from optcp.export.packets import Flow, World

    Numbers = NDArray[np.int64] | int

FIRST_PORT, PORTS = 16384, 65536 - 16384
"""First port of senders; it is above the ports of receivers."""
SERVER_PORT = 5001
DATAGRAM_HEADERS = 28
"""Size of IPv4 and UDP headers, in bytes."""
NONE = 2**32 - 1
"""Index that means none."""
NEVER = 2**63 - 1
MARKS = {"ect1": 1, "ect0": 2, "ce": 3, "ece": 4, "cwr": 8, "ae": 16}
"""Bits of the words in the column ``marking``."""
ENDS = {"senders": ("sent", "resent", "acked"), "receivers": ("arrived",)}
"""Events captured at the ends of flows."""

AGAIN = "sent again"
"""Comment of retransmissions at the sender, which programs otherwise have to infer."""
MOST_UNSCALED = 2**16 - 1
"""Maximum window without scaling, in bytes."""
MOST_WINDOW = MOST_UNSCALED << 14
"""Maximum window with scaling, in bytes (RFC 7323)."""
TIMESTAMPS = 12
"""Size of timestamps per segment in bytes, which the MSS option does not exclude (RFC 6691)."""

Address = tuple[int, int, int, int]
Ends = tuple[Address, int, Address, int, bool]
Agreed = tuple[int, int, bool, bool, bool]


@dataclass(frozen=True)
class Place:
    """Capture point: suffix of the file name, and rows captured there by interface."""

    name: str
    interfaces: dict[str, NDArray[np.bool_]]


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write captures of every selected run with observed packets, one per capture point.

    Capture points are senders (segments sent, ACKs received), receivers (segments received) and every selected port
    (packets sent). Losses are one more capture point: lost packets, on the interface of their port, with the reason as
    comment. Empty captures are omitted.
    """
    anything = False
    for seen in packets.observed(directory, chosen):
        with seen.run.trusted():
            for path in _captures(seen):
                anything = True
                yield path, ""
    if not anything:
        raise InputError(f"{directory}: the runs observed no packets")


def _captures(seen: packets.Observed) -> Iterator[Path]:
    table, world = seen.table, packets.World.of(seen.run)
    flows = table.distinct("flow")
    of = [world.flow(name) for name in flows]
    frames = _frames(table, flows, of)
    ticks = {name: flow.tick_ps for name, flow in zip(flows, of, strict=True) if flow.tick_ps is not None}
    frames["stamp"], frames["echo"] = stamps(table, ticks)
    frames["marking"] = _markings(table)
    frames["stamped"] = _each(frames["connection"], [int(flow.tick_ps is not None) for flow in of]).astype(bool)
    sacks, frames["sack"] = _sacks(table, frames["connection"], of)
    hosts = [(_address(number), name) for name, number in world.nodes.items()]
    connections = _connections(of, world)
    for place in _places(table):
        mask = np.logical_or.reduce(list(place.interfaces.values()))
        interface = np.zeros(len(table), dtype=np.uint32)
        for number, at_interface in enumerate(place.interfaces.values()):
            interface[at_interface] = number
        lost = place.name == "losses"
        comments = table.distinct("reason") if lost else [AGAIN]
        columns = {name: values[mask] for name, values in frames.items()}
        columns["interface"] = interface[mask]
        said = _places_in(table, "reason", comments) if lost else np.where(table.is_("event", "resent"), 0, NONE)
        columns["comment"] = said[mask].astype(np.uint32)
        blocks = sacks if (columns["sack"] != NONE).any() else []  # only senders see any, and there may be many
        target = seen.folder / f"{seen.stem}-{place.name}.pcapng"
        try:
            content = _core.write_pcapng(list(place.interfaces), hosts, connections, blocks, comments, columns)
        except ValueError as error:
            raise RunFailed(f"{target}: {error}") from error
        write_bytes(target, content)
        yield target


def _places(table: Table) -> Iterator[Place]:
    for name, events in ENDS.items():
        seen = np.logical_or.reduce([table.is_("event", event) for event in events])
        if seen.any():
            yield Place(name, {name: seen})
    transmitted = table.is_("event", "transmitted")
    names: set[str] = set()
    for port in table.rows(transmitted).distinct("port"):
        # Names of two ports may differ only in what a file's name cannot have.
        plain = re.sub(r"[^\w.-]", "_", port.replace("->", "-to-"))
        numbered = (f"{plain}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain([plain], numbered) if name not in names)
        names.add(name)
        yield Place(name, {port: transmitted & table.is_("port", port)})
    lost = table.is_("event", "dropped")
    if lost.any():
        yield Place("losses", {port: lost & table.is_("port", port) for port in table.rows(lost).distinct("port")})


def _frames(table: Table, flows: Sequence[str], of: Sequence[Flow]) -> dict[str, NDArray[Any]]:
    """Return the frame columns that do not depend on the capture point."""
    connection = _places_in(table, "flow", flows)
    time = table.numbers("time_ps")
    backward = table.numbers("ack").astype(bool)
    seq = table.numbers("seq").astype(np.int64)
    mss = _each(connection, [flow.tcp["mss_bytes"] if flow.tcp else 0 for flow in of])
    shakes_hands = _each(connection, [int(flow.tcp["handshake"]) if flow.tcp else 0 for flow in of])
    datagrams = _each(connection, [int(flow.tcp is None) for flow in of]) == 1
    # A SYN is segment 0. ACKs for it alone answer it as long as no data have come to their receiver.
    data_came = np.full(len(flows), NEVER, dtype=np.int64)
    data = table.is_("event", "arrived") & (seq > 0)
    np.minimum.at(data_came, connection[data], time[data])
    opens = (shakes_hands == 1) & (seq == backward) & (~backward | (time < data_came[connection]))
    size = table.numbers("bytes").astype(np.int64)
    payload = np.where(datagrams, np.maximum(size - DATAGRAM_HEADERS, 0), np.where(backward | opens, 0, mss))
    return {
        "time_ps": time,
        "connection": connection,
        "backward": backward,
        "opens": opens,
        "number": _first_byte(seq, shakes_hands, mss).astype(np.uint32),
        "payload_bytes": payload.astype(np.uint16),
    }


def _first_byte(segment: NDArray[np.int64], shakes_hands: Numbers, mss: Numbers) -> NDArray[Any]:
    """Return the sequence numbers of segments, modulo 2^32: 1 for the first with data, 0 for a SYN."""
    return np.where(segment < shakes_hands, 0, 1 + (segment - shakes_hands) * mss) % 2**32


def _sacks(
    table: Table, connection: NDArray[np.uint32], of: Sequence[Flow]
) -> tuple[list[list[tuple[int, int]]], NDArray[np.uint32]]:
    """Return the SACK blocks in bytes, and the index of each row among them, without the packet numbers of QUIC."""
    place = np.full(len(table), NONE, dtype=np.uint32)
    has_sack = _each(connection, [int(_has_sack(flow.tcp)) for flow in of]) == 1
    rows = np.flatnonzero(~table.is_("sack", "") & has_sack)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    told = table.rows(place != NONE)
    blocks = []
    for flow, text in zip(connection[rows].tolist(), told.texts("sack"), strict=True):
        edges = np.array([int(edge) for block in text.split() for edge in block.split(":")], dtype=np.int64)
        tcp = of[flow].tcp or {}
        numbers = _first_byte(edges, int(tcp["handshake"]), tcp["mss_bytes"]).tolist()
        blocks.append(list(zip(numbers[::2], numbers[1::2], strict=True)))
    return blocks, place


def _markings(table: Table) -> NDArray[np.uint8]:
    """Return congestion bits: the ECN field of IP in the lowest two bits, then the flags ECE, CWR and AE."""
    if "marking" not in table.columns:  # older stored runs
        return np.zeros(len(table), dtype=np.uint8)
    codes, texts = table.coded("marking")
    bits = np.array([sum(MARKS[word] for word in text.split()) for text in texts], dtype=np.uint8)
    markings: NDArray[np.uint8] = bits[codes]
    return markings


def _each(places: NDArray[np.uint32], values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)[places]


def _places_in(table: Table, column: str, names: Sequence[str]) -> NDArray[np.uint32]:
    """Return the indices of a text column in a list; ``NONE`` for other texts."""
    codes, texts = table.coded(column)
    place = {name: number for number, name in enumerate(names)}
    places: NDArray[np.uint32] = np.array([place.get(text, NONE) for text in texts], dtype=np.uint32)[codes]
    return places


def _connections(flows: Sequence[Flow], world: World) -> list[tuple[Ends, Agreed]]:
    """Return the connections with their options; flows between the same nodes have different ports."""
    so_far: dict[tuple[str, str], int] = {}
    connections = []
    for flow in flows:
        between = (flow.path[0], flow.path[-1])
        nth = so_far[between] = so_far.get(between, -1) + 1
        source, destination = (_address(world.nodes[node]) for node in between)
        ports = FIRST_PORT + nth % PORTS, SERVER_PORT + nth // PORTS
        ends = (source, ports[0], destination, ports[1], flow.tcp is None)
        connections.append((ends, _agreed(flow.tcp)))
    return connections


def _agreed(tcp: dict[str, Any] | None) -> Agreed:
    """Return MSS, window, window scaling, SACK, and whether SYNs announce SACK."""
    if tcp is None:
        return 0, 0, False, False, False
    limit, mss, scaling = tcp["window_limit_segments"], tcp["mss_bytes"], tcp["window_scaling"]
    most = MOST_WINDOW if scaling else MOST_UNSCALED
    window = most if limit is None else min(limit * mss, most)
    option = mss + (TIMESTAMPS if tcp["timestamps"] else 0)
    return min(option, 2**16 - 1), window, scaling, _has_sack(tcp), tcp["handshake"]


def _has_sack(tcp: dict[str, Any] | None) -> bool:
    return tcp is not None and tcp["recovery"].startswith("sack")


def _address(node: int) -> Address:
    return (10, (node + 1 >> 16) & 255, (node + 1 >> 8) & 255, (node + 1) & 255)
