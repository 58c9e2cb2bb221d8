"""Netlink access to the statistics of Linux's queue disciplines, for ``queue_linux.py``."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

CODEL = ("maxpacket", "count", "lastcount", "ldelay_us", "drop_next_us", "drop_overlimit", "ecn_mark", "dropping")
PIE = (
    "prob",
    "delay_us",
    "avg_dq_rate",
    "dq_rate_estimating",
    "packets_in",
    "dropped",
    "overlimit",
    "maxq",
    "ecn_mark",
)
RED = ("early", "pdrop", "other", "marked")
FQ = ("type", "maxpacket", "drop_overlimit", "ecn_mark", "new_flow_count", "new_flows_len", "old_flows_len")
DUAL = ("prob", "delay_c_us", "delay_l_us", "credit", "packets_in_c", "packets_in_l", "maxq", "ecn_mark", "step_marks")
COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "codel": (CODEL, "<4Ii3I"),
    "pie": (PIE, "<Q8I"),
    "red": (RED, "<4I"),
    "fq_codel": (FQ, "<7I"),
    "dualpi2": (DUAL, "<3Ii5I"),
}
"""Statistics of each discipline: names, and binary format."""
route: list[socket.socket] = []
"""Netlink socket, once it is open."""


def netlink(kind: int, flags: int, body: bytes) -> list[tuple[int, bytes]]:
    """Query the kernel over a netlink socket for routes and queues."""
    if not route:
        route.append(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
    (end,) = route
    end.send(struct.pack("<IHHII", 16 + len(body), kind, flags, 1, 0) + body)
    result: list[tuple[int, bytes]] = []
    while True:
        data = end.recv(1 << 16)
        while data:
            length, answer = struct.unpack_from("<IH", data)
            if answer == 2 and (error := struct.unpack_from("<i", data, 16)[0]):
                raise OSError(-error, os.strerror(-error))
            if answer in {2, 3}:
                return result
            result.append((answer, data[16:length]))
            data = data[(length + 3) & ~3 :]


def attributes(data: bytes) -> dict[int, bytes]:
    """Return the attributes of a netlink message by number."""
    result = {}
    while len(data) >= 4:
        length, number = struct.unpack_from("<HH", data)
        result[number & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return result


def part(number: int, data: bytes) -> bytes:
    """Return one attribute of a netlink message."""
    return struct.pack("<HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


def step(threshold: int) -> None:
    """Set up RED that marks packets which find at least ``threshold`` bytes, without averaging.

    Both thresholds have this value. The program ``tc`` does not allow a weight of 1.
    """
    qopt = struct.pack("<IIIBBBB", 10**7, threshold, threshold, 0, 0, 0, 1)  # limit, min, max, Wlog, Plog, Scell, ECN
    options = part(1, qopt) + part(2, bytes(256)) + part(3, struct.pack("<I", 2**32 - 1))
    message = struct.pack("<BxxxiIII", 0, socket.if_nametoindex("r1"), 0x30000, 0x10001, 0)
    netlink(36, 0x605, message + part(1, b"red\0") + part(2, options))  # RTM_NEWQDISC


def state(index: int) -> dict[str, Any]:
    """Return the statistics of the discipline."""
    for _, message in netlink(38, 0x301, struct.pack("<BxxxiIII", 0, index, 0, 0, 0)):  # RTM_GETQDISC, dump
        _, at, handle = struct.unpack_from("<BxxxiI", message)
        if at != index or handle != 0x30000:
            continue
        given = attributes(message[20:])
        kind = given[1].rstrip(b"\0").decode()
        stats = attributes(given[7])
        names = ("qlen", "backlog", "drops", "requeues", "overlimits")
        result = dict(zip(names, struct.unpack("<5I", stats[3][:20]), strict=True))
        if kind in COLUMNS and 4 in stats:
            columns, form = COLUMNS[kind]
            result |= dict(zip(columns, struct.unpack_from(form, stats[4]), strict=True))
            if "prob" in result:
                result["prob"] = round(result["prob"] / 2 ** (64 if kind == "pie" else 32), 9)
        return result
    raise RuntimeError("the discipline is gone")
