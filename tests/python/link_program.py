"""The link of the kernel's recordings, compiled and run between two sockets."""

import contextlib
import shutil
import socket
import struct
import subprocess

import pytest

import kernel_runs

NEEDS_CC = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def packet(source, destination, sequence, *, payload=0, flags=0x10, acknowledged=0):
    tcp = struct.pack(">HHIIBBHHH", source, destination, sequence, acknowledged, 5 << 4, flags, 65535, 0, 0)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + payload, 0, 0, 64, socket.IPPROTO_TCP, 0, 0, 0)
    return ip + tcp + bytes(payload)


@contextlib.contextmanager
def running_link(folder, *words):
    """Run the link with words after its two devices; yield its process and the sockets of sender and receiver."""
    program = folder / "link"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-o", program, kernel_runs.LINK], check=True)
    ours, theirs = zip(*(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)), strict=True)
    with contextlib.ExitStack() as sockets:
        for end in (*ours, *theirs):
            sockets.enter_context(end)
        for end in theirs:
            end.setblocking(False)
        for end in ours:
            end.settimeout(5)
        devices = [end.fileno() for end in theirs]
        link = subprocess.Popen(
            [program, *map(str, [*devices, *words])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=devices,
            text=True,
        )
        yield link, *ours
