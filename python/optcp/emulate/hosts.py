"""Network namespaces with a TUN interface each."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.errors import InputError, RunFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMESPACES = Path("/run/netns")
"""Files of the named network namespaces, as ``ip netns`` keeps them."""
INTERFACE = "optcp"
"""Name of the interface in each namespace."""
DEVICE = "/dev/net/tun"
QUEUE = 10_000
"""Packets that the operating system may hold until they are read."""

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
CLONE_NEWNET = 0x40000000


@dataclass(frozen=True)
class Host:
    """Node of a scenario that is a namespace.

    Attributes
    ----------
    node
        Name of the node.
    namespace
        Name of the namespace.
    addresses
        IPv4 and IPv6 address.
    """

    node: str
    namespace: str
    addresses: tuple[str, str]

    def command(self, *words: str) -> list[str]:
        """Return a command that executes another one in the namespace."""
        return ["ip", "netns", "exec", self.namespace, *words]


def named(nodes: Mapping[str, str]) -> list[Host]:
    """Return the hosts for nodes and the names of their namespaces: the first has the addresses 10.77.0.1 and fd77::1.

    Raises
    ------
    InputError
        If a name is not suitable, or two are equal.
    """
    for namespace in nodes.values():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", namespace):
            raise InputError(f"namespace `{namespace}`: expected letters, digits and `_.-`")
    if len(set(nodes.values())) < len(nodes):
        raise InputError("two nodes have the same namespace")
    return [
        Host(node, namespace, (f"10.77.{number >> 8}.{number & 255}", f"fd77::{number:x}"))
        for number, (node, namespace) in enumerate(nodes.items(), 1)
    ]


def check() -> None:
    """Check that this machine can emulate networks.

    Raises
    ------
    RunFailed
        If it is not Linux, or something is missing or not allowed.
    """
    if sys.platform != "linux":
        raise RunFailed("emulation needs Linux: it uses TUN interfaces and network namespaces")
    if shutil.which("ip") is None:
        raise RunFailed("emulation needs the command `ip` (package iproute2)")
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        raise RunFailed(f"emulation needs {DEVICE}, which cannot be opened here")
    if os.geteuid() != 0:
        raise RunFailed(
            "emulation needs root, or a user namespace: repeat the command with "
            "`unshare --user --map-root-user --net --mount` before it"
        )


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let `kill` end this program as Ctrl-C does, so that no namespace is left."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def created(hosts: list[Host], mtu: int) -> Iterator[list[int]]:
    """Create the namespaces and their interfaces, and remove them at the end.

    Returns
    -------
    list of int
        Descriptor of the TUN device of each host, non-blocking. The caller closes them.

    Raises
    ------
    InputError
        If a namespace of this name exists.
    RunFailed
        If something cannot be created.
    """
    check()
    for host in hosts:
        if (NAMESPACES / host.namespace).exists():
            raise InputError(f"the namespace `{host.namespace}` exists; remove it (`ip netns delete`), or name another")
    made: list[Host] = []
    try:
        if not os.access(NAMESPACES.parent, os.W_OK):
            # In a user namespace, /run belongs to somebody else. The mount is visible in the own mount namespace only.
            _ip_needs("mount", "-t", "tmpfs", "tmpfs", str(NAMESPACES.parent))
        devices = []
        for host in hosts:
            _ip_needs("ip", "netns", "add", host.namespace)
            made.append(host)
            devices.append(_device(host, mtu))
        yield devices
    finally:
        for host in made:
            subprocess.run(["ip", "netns", "delete", host.namespace], check=False, capture_output=True)


def _device(host: Host, mtu: int) -> int:
    with entered(host.namespace):
        device = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", INTERFACE.encode(), IFF_TUN | IFF_NO_PI))
    four, six = host.addresses
    inside = ["ip", "-n", host.namespace]
    _ip_needs(*inside, "link", "set", "lo", "up")
    _ip_needs(*inside, "link", "set", INTERFACE, "mtu", str(mtu), "txqueuelen", str(QUEUE), "up")
    _ip_needs(*inside, "address", "add", f"{four}/16", "dev", INTERFACE)
    # Some kernels have no IPv6.
    subprocess.run(
        [*inside, "address", "add", f"{six}/64", "dev", INTERFACE, "nodad"], check=False, capture_output=True
    )
    return device


def _ip_needs(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed(f"`{' '.join(command)}` failed: {done.stderr.strip() or f'status {done.returncode}'}")


@contextlib.contextmanager
def entered(namespace: str) -> Iterator[None]:
    """Move the current thread into a network namespace for a time."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(descriptor: int) -> None:
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)

    with Path("/proc/thread-self/ns/net").open("rb") as before, (NAMESPACES / namespace).open("rb") as inside:
        enter(inside.fileno())
        try:
            yield
        finally:
            enter(before.fileno())
