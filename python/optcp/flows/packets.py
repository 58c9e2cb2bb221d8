"""Reduction of captured packets to flows.

# Model

A flow is one direction of a TCP connection, or all datagrams from one address and port to another, if it has data. It
starts with the SYN that opens the connection. Without this SYN, and in the other direction, it starts with the first
data. Its size is the range of its sequence numbers: retransmissions, and copies of a packet at several interfaces,
count once. A SYN with another sequence number begins a new connection. The size of datagrams is their sum at the
interface with the most.

# References

RFC 791, 768, 8200 and 9293; link types of the Tcpdump group.

# Limitations

Later fragments of a packet are left out. Data that no interface captured counts if later data was captured.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass, field
from struct import Struct
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun
from optcp.flows.model import Flow, FlowFile

if TYPE_CHECKING:
    from collections.abc import Mapping

ETHERNET, RAW, SLL, SLL2, IPV4, IPV6 = 1, 101, 113, 276, 228, 229
"""Link types that are read."""
OLD_RAW = (12, 14)
"""Other numbers of raw IP."""
PROTOCOL_AT = {ETHERNET: (12, 14), SLL: (14, 16), SLL2: (0, 20)}
"""Offset of the type of the payload, and of the payload, by link type."""
VLAN_TAGS = (0x8100, 0x88A8, 0x9100)
ETHER_IP = (0x0800, 0x86DD)
TCP, UDP = 6, 17
EXTENSIONS = (0, 43, 60)
"""IPv6 extension headers with a length: hop-by-hop options, routing, destination options."""
FRAGMENT = 44
SYN, ACK = 0x02, 0x10

NUMBER16 = Struct(">H")
IP4 = Struct(">BxHxxHxBxx4s4s")
IP6 = Struct(">4xHBx16s16s")
TCP_HEADER = Struct(">HHIxxxxBB")
UDP_HEADER = Struct(">HHH")

Key = tuple[int, bytes, int, bytes, int]
"""Protocol, address and port of the source, address and port of the destination."""


@dataclass(slots=True)
class Direction:
    """Data of one direction.

    Attributes
    ----------
    start_ps
        Start; None before the first data.
    opened
        First sequence number if its SYN was captured.
    low, high
        Bounds of the captured data in sequence numbers, which do not wrap around.
    datagrams
        Bytes of datagrams by interface.
    """

    start_ps: int | None = None
    opened: int | None = None
    low: int = 0
    high: int = 0
    datagrams: Counter[int] = field(default_factory=Counter)

    @property
    def size_bytes(self) -> int:
        """Amount of data."""
        return max(self.datagrams.values(), default=self.high - self.low)


class Reducer:
    """Flows of the packets so far."""

    def __init__(self) -> None:
        self.first_ps: int | None = None
        self._directions: dict[Key, Direction] = {}
        self._ended: list[tuple[Key, Direction]] = []
        self._left_out: Counter[str] = Counter()

    def add(self, time_ps: int, interface: int, link: int, data: bytes, length: int) -> None:
        """Add a captured packet.

        Parameters
        ----------
        time_ps
            Capture time in picoseconds.
        interface
            Number of the interface.
        link
            Link type.
        data
            Captured bytes.
        length
            Length of the packet on the link.
        """
        if self.first_ps is None or time_ps < self.first_ps:
            self.first_ps = time_ps
        try:
            at = _network_layer(link, data)
            if at is None:
                self._left_out["that are not IP"] += 1
                return
            self._network(time_ps, interface, data, at, length)
        except IndexError:
            self._left_out["with too few captured bytes"] += 1

    def _network(self, time_ps: int, interface: int, data: bytes, at: int, length: int) -> None:
        version = data[at] >> 4
        if version == 4:
            first, total, fragment, protocol, source, destination = _unpack(IP4, data, at)
            # Segmentation offload leaves the length at zero.
            end = at + total if total else length
            later_fragment = bool(fragment & 0x1FFF)
            at += 4 * (first & 0x0F)
        elif version == 6:
            total, protocol, source, destination = _unpack(IP6, data, at)
            end = at + 40 + total if total else length
            at += 40
            protocol, at, later_fragment = _extensions(protocol, data, at)
        else:
            self._left_out["that are not IP"] += 1
            return
        if later_fragment:
            self._left_out["that continue a fragmented packet"] += 1
        elif protocol == TCP:
            self._segment(time_ps, source, destination, data, at, end)
        elif protocol == UDP:
            ports_from, ports_to, total = _unpack(UDP_HEADER, data, at)
            size = total - 8 if total >= 8 else end - at - 8
            if size > 0:
                direction = self._direction((UDP, source, ports_from, destination, ports_to))
                if direction.start_ps is None:
                    direction.start_ps = time_ps
                direction.datagrams[interface] += size
        else:
            self._left_out["that are neither TCP nor UDP"] += 1

    def _segment(self, time_ps: int, source: bytes, destination: bytes, data: bytes, at: int, end: int) -> None:
        port_from, port_to, sequence, offset, flags = _unpack(TCP_HEADER, data, at)
        size = end - at - 4 * (offset >> 4)
        key = (TCP, source, port_from, destination, port_to)
        direction = self._direction(key)
        if flags & SYN:
            sequence += 1
            if direction.opened != sequence:
                if direction.high > direction.low:
                    self._ended.append((key, direction))
                direction = self._directions[key] = Direction(None, sequence, sequence, sequence)
            if direction.start_ps is None and not flags & ACK:
                direction.start_ps = time_ps
        if size <= 0:
            return
        if direction.start_ps is None:
            direction.start_ps = time_ps
        if direction.opened is None and direction.high == direction.low:
            direction.low = direction.high = sequence
        begin = direction.high + _signed(sequence - direction.high)
        direction.high = max(direction.high, begin + size)
        if direction.opened is None:
            direction.low = min(direction.low, begin)

    def _direction(self, key: Key) -> Direction:
        found = self._directions.get(key)
        if found is None:
            found = self._directions[key] = Direction()
        return found

    def flows(self, names: Mapping[bytes, str], notes: tuple[str, ...] = ()) -> FlowFile:
        """Return the flows by start.

        Parameters
        ----------
        names
            Names of addresses; other addresses are written as numbers.
        notes
            Further notes on the file.
        """
        known: dict[bytes, str] = dict(names)

        def name(address: bytes) -> str:
            return known.setdefault(address, str(ipaddress.ip_address(address)))

        found = [
            Flow(direction.start_ps, name(source), name(destination), size, "tcp" if protocol == TCP else "udp")
            for (protocol, source, _, destination, _), direction in (*self._ended, *self._directions.items())
            if (size := direction.size_bytes) > 0 and direction.start_ps is not None
        ]
        left_out = [f"{count_noun(count, 'packet')} {what} left out" for what, count in self._left_out.items()]
        return FlowFile(sorted(found), (*notes, *left_out), self.first_ps or 0)


def check_link(link: int) -> None:
    """Check that packets of a link type are read.

    Raises
    ------
    ValueError
        If they are not.
    """
    if link not in (RAW, IPV4, IPV6, *OLD_RAW, *PROTOCOL_AT):
        raise ValueError(f"link type {link} is not read; expected Ethernet, Linux cooked capture or raw IP")


def _unpack(form: Struct, data: bytes, at: int) -> tuple[Any, ...]:
    if len(data) < at + form.size:
        raise IndexError
    return form.unpack_from(data, at)


def _network_layer(link: int, data: bytes) -> int | None:
    """Return the offset of the IP header; None without one."""
    if link not in PROTOCOL_AT:
        return 0
    type_at, at = PROTOCOL_AT[link]
    (kind,) = _unpack(NUMBER16, data, type_at)
    while kind in VLAN_TAGS:
        (kind,) = _unpack(NUMBER16, data, at + 2)
        at += 4
    return at if kind in ETHER_IP else None


def _extensions(protocol: int, data: bytes, at: int) -> tuple[int, int, bool]:
    """Return protocol and offset after the extension headers, and whether the packet is a later fragment."""
    while protocol in EXTENSIONS:
        protocol, at = data[at], at + 8 + 8 * data[at + 1]
    if protocol != FRAGMENT:
        return protocol, at, False
    (offset,) = _unpack(NUMBER16, data, at + 2)
    return data[at], at + 8, bool(offset & 0xFFF8)


def _signed(difference: int) -> int:
    """Return a difference of sequence numbers modulo 2^32, from -2^31 on."""
    return (difference + 2**31) % 2**32 - 2**31
