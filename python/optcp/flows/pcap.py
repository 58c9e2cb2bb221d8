"""Packet captures in the format of libpcap (IETF draft-ietf-opsawg-pcap)."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from optcp.flows.model import FlowFile, FlowFormat
from optcp.flows.packets import Reducer, check_link

if TYPE_CHECKING:
    from typing import BinaryIO

MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**6),
    b"\xa1\xb2\xc3\xd4": (">", 10**6),
    b"\x4d\x3c\xb2\xa1": ("<", 10**3),
    b"\xa1\xb2\x3c\x4d": (">", 10**3),
}
"""Byte order, and picoseconds per unit of the fraction of a second, by the first bytes."""
PS_PER_S = 10**12
MOST_BYTES = 2**24
"""Maximum number of captured bytes of a packet; the maximum of libpcap is 262144."""
HEADER_BYTES = 24
CUT_OFF = "the last packet is incomplete and left out"


def read(stream: BinaryIO) -> FlowFile:
    """Read the flows of a capture; errors as in :class:`optcp.flows.model.FlowFormat`."""
    header = stream.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        raise ValueError("the file header is incomplete")
    order, unit_ps = MAGIC[header[:4]]
    # The upper bits are about the frame check sequence.
    link = Struct(order + "I").unpack_from(header, 20)[0] & 0xFFFF
    check_link(link)
    record = Struct(order + "IIII")
    reducer = Reducer()
    at = HEADER_BYTES
    while head := stream.read(record.size):
        if len(head) < record.size:
            return reducer.flows({}, (CUT_OFF,))
        seconds, fraction, captured, length = record.unpack(head)
        if captured > MOST_BYTES:
            raise ValueError(f"byte {at}: a packet with {captured} captured bytes")
        data = stream.read(captured)
        if len(data) < captured:
            return reducer.flows({}, (CUT_OFF,))
        reducer.add(seconds * PS_PER_S + fraction * unit_ps, 0, link, data, length)
        at += record.size + captured
    return reducer.flows({})


FORMAT = FlowFormat("pcap", "pcap", lambda first: first[:4] in MAGIC, read)
