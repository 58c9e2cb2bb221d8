"""State of the TCP sockets in namespaces, as the operating system reports it.

References: sock_diag(7); ``struct tcp_info`` in Linux, include/uapi/linux/tcp.h.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING

from optcp.emulate.hosts import entered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from optcp.emulate.hosts import Host

PERIOD_S = 0.01
BOTH = (socket.AF_INET, socket.AF_INET6)

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY, NLMSG_DONE, NLMSG_ERROR = 20, 3, 2
REQUEST_DUMP = 0x301
INET_DIAG_INFO = 2
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBBBI48x")
SOCKET = struct.Struct("=BBBB2s2s16s16sI8xIIIII")
ATTRIBUTE = struct.Struct("=HH")
TIME_WAIT, LISTEN = 6, 10
WITH_STATE = 0x1FFE & ~(1 << TIME_WAIT) & ~(1 << LISTEN)
"""Set of the states of connections."""

INFO = struct.Struct("=8B24I4Q")
"""Beginning of ``tcp_info``, up to ``tcpi_bytes_received``; bit fields occupy two of the first octets."""
FIELDS = {
    "state": 0,
    "backoffs": 2,
    "rto_us": 8,
    "mss_bytes": 10,
    "flight": 12,
    "lost": 14,
    "rtt_us": 23,
    "ssthresh": 25,
    "cwnd": 26,
    "retransmitted": 31,
    "acked_bytes": 34,
    "received_bytes": 35,
}
"""Fields of a sample, by their positions. Windows, ``flight``, ``lost`` and ``retransmitted`` count segments."""

Sample = dict[str, float | str]


def info(data: bytes) -> dict[str, int]:
    """Return the fields of a ``tcp_info``."""
    values = INFO.unpack_from(data)
    return {name: values[place] for name, place in FIELDS.items()}


def sockets(netlink: socket.socket, families: Sequence[int] = BOTH) -> Iterator[Sample]:
    """Ask for all TCP sockets of the namespace in which the netlink socket was created."""
    for family in families:
        request = REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0, WITH_STATE)
        netlink.send(HEADER.pack(HEADER.size + len(request), SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, 1, 0) + request)
        for kind, message in _messages(netlink):
            if kind == SOCK_DIAG_BY_FAMILY and (found := _read(message)):
                yield found


def _messages(netlink: socket.socket) -> Iterator[tuple[int, bytes]]:
    while True:
        data = netlink.recv(1 << 17)
        while data:
            length, kind, *_ = HEADER.unpack_from(data)
            if kind == NLMSG_ERROR:
                number = -struct.unpack_from("=i", data, HEADER.size)[0]
                # Some kernels have no IPv6.
                if number in (0, errno.ENOENT):
                    return
                raise OSError(number, "sock_diag")
            if kind == NLMSG_DONE:
                return
            yield kind, data[HEADER.size : length]
            data = data[-(-length // 4) * 4 :]


def _read(message: bytes) -> Sample | None:
    family, _, _, _, near, far, _, address, *_ = SOCKET.unpack_from(message)
    rest = message[SOCKET.size :]
    while len(rest) >= ATTRIBUTE.size:
        length, kind = ATTRIBUTE.unpack_from(rest)
        if kind == INET_DIAG_INFO and length - ATTRIBUTE.size >= INFO.size:
            peer = ipaddress.ip_address(address[:4] if family == socket.AF_INET else address)
            peer = getattr(peer, "ipv4_mapped", None) or peer
            ports: Sample = {
                "port": int.from_bytes(near, "big"),
                "peer": str(peer),
                "peer_port": int.from_bytes(far, "big"),
            }
            return {**ports, **info(rest[ATTRIBUTE.size :])}
        rest = rest[max(-(-length // 4) * 4, ATTRIBUTE.size) :]
    return None


@contextlib.contextmanager
def sampled(hosts: Sequence[Host], families: Sequence[int] = BOTH) -> Iterator[list[Sample]]:
    """Read the sockets of hosts at intervals, in another thread. Times count from the call, in s."""
    began = time.monotonic()
    rows: list[Sample] = []
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        links = []
        for host in hosts:
            with entered(host.namespace):
                links.append((host.node, stack.enter_context(_netlink())))

        def sample() -> None:
            while not over.wait(PERIOD_S):
                for node, link in links:
                    time_s = time.monotonic() - began
                    rows.extend({"time_s": time_s, "node": node, **one} for one in sockets(link, families))

        thread = threading.Thread(target=sample, daemon=True)
        thread.start()
        try:
            yield rows
        finally:
            over.set()
            thread.join()


def _netlink() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG)
