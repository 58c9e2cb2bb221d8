"""Packet captures in the format pcapng (IETF draft-ietf-opsawg-pcapng).

# Limitations

Names of name resolution blocks apply to the whole file. Simple packet blocks, which have no time, are left out, and so
are blocks of other kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING

from optcp.common.plurals import count_noun
from optcp.flows.model import FlowFile, FlowFormat
from optcp.flows.packets import Reducer, check_link
from optcp.flows.pcap import CUT_OFF

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

SECTION, INTERFACE, SIMPLE_PACKET, NAMES, PACKET = 0x0A0D0D0A, 1, 3, 4, 6
"""Types of blocks."""
MAGIC = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
"""Byte order by the byte-order magic."""
MOST_BYTES = 2**24
"""Maximum length of a block; libpcap has the same maximum."""
TIME_RESOLUTION, TIME_OFFSET = 9, 14
"""Options of interfaces."""
IPV4_RECORD, IPV6_RECORD = 1, 2
"""Types of name records."""
PS_PER_S = 10**12
MOST_EXPONENT = 40
"""Maximum negative exponent of a time resolution."""


@dataclass(frozen=True)
class Interface:
    """Interface of a section.

    Attributes
    ----------
    number
        Number in the file.
    link
        Link type.
    ticks_per_s
        Number of units of time in a second.
    offset_s
        Offset of its times, in seconds.
    """

    number: int
    link: int
    ticks_per_s: int = 10**6
    offset_s: int = 0

    def time_ps(self, ticks: int) -> int:
        """Return a time in picoseconds."""
        return (ticks * PS_PER_S) // self.ticks_per_s + self.offset_s * PS_PER_S


class Reader:
    """Reader of the blocks of a file."""

    def __init__(self) -> None:
        self.reducer = Reducer()
        self.names: dict[bytes, str] = {}
        self._order = "<"
        self._interfaces: list[Interface] = []
        self._count = 0
        self._without_time = 0

    def read(self, stream: BinaryIO) -> FlowFile:
        """Read all blocks; errors as in :class:`optcp.flows.model.FlowFormat`."""
        at = 0
        notes = []
        while head := stream.read(12):
            if len(head) < 12:
                notes.append(CUT_OFF)
                break
            if head[:4] == b"\x0a\x0d\x0d\x0a":
                if head[8:12] not in MAGIC:
                    raise ValueError(f"byte {at}: a section without its byte-order magic")
                self._order, self._interfaces = MAGIC[head[8:12]], []
            kind, length = self._struct("II").unpack_from(head)
            if not 12 <= length <= MOST_BYTES or length % 4:
                raise ValueError(f"byte {at}: a block with a length of {length} bytes")
            rest = stream.read(length - 12)
            if len(rest) < length - 12:
                notes.append(CUT_OFF)
                break
            # The length is repeated at the end.
            self._block(kind, (head[8:] + rest)[:-4], at)
            at += length
        if self._without_time:
            notes.append(f"{count_noun(self._without_time, 'packet')} without a time left out")
        return self.reducer.flows(self.names, tuple(notes))

    def _block(self, kind: int, body: bytes, at: int) -> None:
        if kind == PACKET:
            if len(body) < 20:
                raise ValueError(f"byte {at}: a packet block that is too short")
            number, high, low, captured, length = self._struct("IIIII").unpack_from(body)
            if number >= len(self._interfaces) or captured > len(body) - 20:
                raise ValueError(f"byte {at}: a packet of an unknown interface, or longer than its block")
            interface = self._interfaces[number]
            time_ps = interface.time_ps(high << 32 | low)
            self.reducer.add(time_ps, interface.number, interface.link, body[20 : 20 + captured], length)
        elif kind == INTERFACE:
            if len(body) < 8:
                raise ValueError(f"byte {at}: an interface block that is too short")
            self._interfaces.append(self._interface(body))
            self._count += 1
        elif kind == NAMES:
            for record, value in self._options(body):
                size = {IPV4_RECORD: 4, IPV6_RECORD: 16}.get(record)
                if size and len(value) > size:
                    name = value[size:].split(b"\0")[0].decode("utf-8", "replace")
                    self.names.setdefault(value[:size], name)
        elif kind == SIMPLE_PACKET:
            self._without_time += 1

    def _interface(self, body: bytes) -> Interface:
        (link,) = self._struct("H").unpack_from(body)
        check_link(link)
        ticks_per_s, offset_s = 10**6, 0
        for option, value in self._options(body[8:]):
            if option == TIME_RESOLUTION and value:
                exponent = value[0] & 0x7F
                if exponent > MOST_EXPONENT:
                    raise ValueError(f"an interface with a time resolution of exponent -{exponent}")
                ticks_per_s = (2 if value[0] & 0x80 else 10) ** exponent
            elif option == TIME_OFFSET and len(value) == 8:
                (offset_s,) = self._struct("q").unpack(value)
        return Interface(self._count, link, ticks_per_s, offset_s)

    def _options(self, body: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield code and value of each option or record, which have one form."""
        head = self._struct("HH")
        at = 0
        while at + head.size <= len(body):
            code, length = head.unpack_from(body, at)
            if code == 0:
                return
            at += head.size
            yield code, body[at : at + length]
            at += (length + 3) // 4 * 4

    def _struct(self, form: str) -> Struct:
        return Struct(self._order + form)


def read(stream: BinaryIO) -> FlowFile:
    """Read the flows of a capture; errors as in :class:`optcp.flows.model.FlowFormat`."""
    return Reader().read(stream)


FORMAT = FlowFormat("pcapng", "pcapng", lambda first: first[:4] == b"\x0a\x0d\x0d\x0a", read)
