"""Record Linux's congestion controls, into ``linux_uml_runs.json``; not part of the program.

Linux runs as a process (Debian's packages ``user-mode-linux`` (6.1) and ``busybox-static``, as root). Called by a
user, this file boots that kernel with itself as the first process. Two network namespaces hold a TUN device each.
Between them a loop of this file is the link: a rate, a drop-tail queue and delays in real time, and losses of given
segments. All TCP settings have their defaults, except for buffers, which never limit.

The recording used ``chrt -f 5`` on an otherwise busy machine; ``late_ms`` is the mean and maximum lateness of packets.
The file holds every recording of these set-ups, merged by hand. All but ``timeout`` were recorded twice, the first
time without counting ACKs, and ``full-queue`` a third time because its repetitions differ. The first recording of
``timeout`` had another outage and is omitted. The controls from htcp on were recorded later, twice, with
``chrt -f 50`` on a slower machine. Its processor has more state than AVX, which this kernel does not restore: a
preloaded ``ptrace`` appended the missing part at each PTRACE_SETREGSET. Windows are only sampled after all data are
written to the socket, which takes up to a second of ``full-queue``. The series is constant until then.

Usage: ``python linux_uml_runs.py [CONTROL|WORLD ...]``: record only these again.
"""

from __future__ import annotations

import bisect
import ctypes
import fcntl
import heapq
import itertools
import json
import os
import platform
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from records import RECORDS

MODULES = (
    *("westwood", "illinois", "vegas", "scalable", "highspeed"),
    *("htcp", "hybla", "veno", "bic", "yeah", "nv", "lp", "cdg"),
)
CONTROLS = ("reno", "cubic", *MODULES)
REPETITIONS = 3
MSS = 1448
DELAY = 0.05
"""One-way delay, in s."""
STEP = 0.1
"""Interval of a series of windows, in s."""
WORLDS: dict[str, dict[str, Any]] = {
    "no-loss": {"segments": 600, "rate_mbps": 10, "queue": 1000},
    "one-loss": {"segments": 600, "rate_mbps": 10, "queue": 1000, "lost": [[30, 1]]},
    "growth": {"segments": 6000, "rate_mbps": 50, "queue": 1000, "lost": [[80, 1], [3000, 1]]},
    "full-queue": {"segments": 12000, "rate_mbps": 20, "queue": 167},
    "tail-loss": {"segments": 60, "rate_mbps": 10, "queue": 1000, "lost": [[59, 1]]},
    "timeout": {"segments": 1500, "rate_mbps": 10, "queue": 1000, "outage_s": [0.185, 1.185]},
}
"""Data and link of each set-up; ``lost`` holds segments and the number of the lost transmission."""
HERE = Path(__file__).resolve()
OUT = RECORDS / "linux_uml_runs.json"
ADDRESS = "10.9.0.{}"
PORT = 9000
NO_THRESHOLD = 2**31 - 1
BUFFER = "4096 67108864 268435456"
SETTINGS = {"tcp_rmem": BUFFER, "tcp_wmem": BUFFER, "tcp_no_metrics_save": "1"}


def boot(asked: list[str]) -> None:
    """Boot a Linux that runs this file as its first process."""
    kernel = ["linux.uml", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "quiet", "mem=512M"]
    console = ["con=null", "con0=fd:0,fd:1", f"init={sys.executable}", "--", str(HERE.resolve()), *asked]
    subprocess.run([*kernel, *console], check=True)  # noqa: S603 - the kernel that was asked for


def shell(*command: str) -> None:
    """Run a command of the system."""
    subprocess.run(command, check=True)  # noqa: S603 - only what stands in this file


def network_end(number: int, gives: socket.socket, settings: Mapping[str, str] = SETTINGS) -> None:
    """Enter a new network namespace with a TUN device whose other end is the link."""
    ctypes.CDLL(None).unshare(0x4000_0000)  # CLONE_NEWNET
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, 0x4004_54CA, struct.pack("16sH22x", b"t0", 0x1001))  # TUNSETIFF: IFF_TUN, IFF_NO_PI
    for name, value in settings.items():
        (Path("/proc/sys/net/ipv4") / name).write_text(value, encoding="ascii")
    shell("ip", "addr", "add", ADDRESS.format(number) + "/24", "dev", "t0")
    shell("ip", "link", "set", "t0", "txqueuelen", "20000", "up")
    if "tcp_rmem" in settings:
        shell("ip", "route", "change", ADDRESS.format(0) + "/24", "dev", "t0", "initrwnd", "2000")
    socket.send_fds(gives, [b"."], [device])


def receive(gives: socket.socket) -> None:
    """Accept one connection and read it to its end."""
    network_end(2, gives)
    with socket.create_server((ADDRESS.format(2), PORT)) as server:
        gives.send(b".")
        connection, _ = server.accept()
        while connection.recv(1 << 20):
            pass


def send(gives: socket.socket, control: str, segments: int) -> None:
    """Send ``segments``, and return window and threshold over time."""
    network_end(1, gives)
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    gives.recv(1)
    sender.connect((ADDRESS.format(2), PORT))
    sender.setblocking(False)
    start, left, rows = time.monotonic(), segments * MSS, []
    while True:
        try:
            left -= sender.send(bytes(min(left, 1 << 18))) if left else 0
        except BlockingIOError:
            pass
        else:
            if left:
                continue
        info = struct.unpack("<24I", sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[8:])
        unacked, ssthresh, cwnd = info[4], info[17], info[18]
        rows.append((time.monotonic() - start, cwnd, ssthresh))
        if not left and not unacked:
            break
        time.sleep(0.01)
    times = [row[0] for row in rows]
    thresholds: list[int] = []
    for _, _, ssthresh in rows:
        if ssthresh < NO_THRESHOLD and thresholds[-1:] != [ssthresh]:
            thresholds.append(ssthresh)
    windows = [rows[bisect.bisect(times, at * STEP) - 1][1] for at in range(1, int(times[-1] / STEP) + 1)]
    gives.sendall(json.dumps({"ssthresh": thresholds, "cwnd": windows}).encode())


class Link:
    """Link between sender and receiver in both directions, packet by packet."""

    def __init__(self, world: dict[str, Any], devices: list[int]) -> None:
        self.world, self.devices = world, devices
        self.lost = {(segment, nth) for segment, nth in world.get("lost", [])}
        self.outage = world.get("outage_s", [0, 0])
        self.under_way: list[tuple[float, int, int, bytes]] = []
        self.leaving: deque[float] = deque()
        self.sent: Counter[int] = Counter()
        self.begin = self.completion = 0.0
        self.initial = 0
        self.overflows = self.number = self.acks = 0
        self.late: list[float] = []

    def forward(self, now: float, packet: bytes) -> None:
        """Handle a packet of the sender: lose it, or append it to the queue."""
        data = 20 + (packet[32] >> 4) * 4
        sequence = int.from_bytes(packet[24:28], "big")
        if packet[33] & 2:
            self.initial = sequence + 1
        elif len(packet) > data:
            self.begin = self.begin or now
            segment = (sequence - self.initial) % 2**32 // MSS
            self.sent[segment] += 1
            if (segment, self.sent[segment]) in self.lost:
                return
        if self.begin and self.outage[0] <= now - self.begin < self.outage[1]:
            return
        while self.leaving and self.leaving[0] <= now:
            self.leaving.popleft()
        if len(self.leaving) >= self.world["queue"]:
            self.overflows += 1
            return
        free = max(self.leaving[-1] if self.leaving else now, now)
        self.leaving.append(free + len(packet) * 8e-6 / self.world["rate_mbps"])
        self.put(self.leaving[-1], 1, packet)

    def backward(self, now: float, packet: bytes) -> None:
        """Handle a packet of the receiver."""
        if self.begin and self.outage[0] <= now - self.begin < self.outage[1]:
            return
        self.acks += bool(self.begin)
        acknowledged = (int.from_bytes(packet[28:32], "big") - self.initial) % 2**32
        if self.begin and not self.completion and acknowledged >= self.world["segments"] * MSS:
            self.completion = now + DELAY - self.begin
        self.put(now, 0, packet)

    def put(self, leaves: float, to: int, packet: bytes) -> None:
        """Schedule the arrival of a packet one delay after it leaves."""
        self.number += 1
        heapq.heappush(self.under_way, (leaves + DELAY, self.number, to, packet))

    def run(self, wakes: socket.socket) -> None:
        """Carry packets until the caller has data to read."""
        now = time.monotonic()
        while True:
            wait = max(0.0, self.under_way[0][0] - now) if self.under_way else None
            ready, _, _ = select.select([*self.devices, wakes.fileno()], [], [], wait)
            # Read the clock once per loop, because it is expensive in this kernel.
            now = time.monotonic()
            for device, take in zip(self.devices, (self.forward, self.backward), strict=True):
                if device in ready:
                    packet = os.read(device, 2048)
                    if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
                        take(now, packet)
            while self.under_way and self.under_way[0][0] <= now:
                due, _, to, packet = heapq.heappop(self.under_way)
                self.late.append(now - due)
                os.write(self.devices[to], packet)
            if wakes.fileno() in ready:
                return


def child(run: Callable[..., None], *arguments: object) -> tuple[int, socket.socket]:
    """Run a function in a child process; return its process ID, and a connection to it."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if not process:
        try:
            run(theirs, *arguments)
        except BaseException:  # noqa: BLE001 - nobody else would print it
            traceback.print_exc()
        finally:
            os._exit(0)
    return process, ours


def transfer(control: str, world: dict[str, Any]) -> dict[str, Any]:
    """Run a set-up."""
    (receiver, from_receiver), (sender, from_sender) = child(receive), child(send, control, world["segments"])
    devices = [socket.recv_fds(end, 1, 1)[1][0] for end in (from_sender, from_receiver)]
    from_sender.send(from_receiver.recv(1))
    link = Link(world, devices)
    link.run(from_sender)
    report = json.loads(from_sender.recv(1 << 20))
    for process in (sender, receiver):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    for file in (*devices, from_sender.detach(), from_receiver.detach()):
        os.close(file)
    return {
        "completion_s": round(link.completion, 4),
        "retransmissions": sum(link.sent.values()) - len(link.sent),
        "overflows": link.overflows,
        "acks": link.acks,
        "late_ms": [round(1000 * statistics.mean(link.late), 3), round(1000 * max(link.late), 3)],
        **report,
    }


def record(asked: list[str]) -> None:
    """Run every set-up as the first process of the kernel, and stop."""
    shell("mount", "-t", "proc", "proc", "/proc")
    place = f"/usr/lib/uml/modules/{platform.release()}/kernel"
    for name in ("drivers/net/tun", *(f"net/ipv4/tcp_{module}" for module in MODULES)):
        shell("busybox", "insmod", f"{place}/{name}.ko")
    # The link must have a higher priority than the processes that send over it.
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
    runs = json.loads(OUT.read_text(encoding="utf-8"))["runs"] if OUT.exists() else {}
    for name, control in itertools.product(WORLDS, CONTROLS):
        if {name, control} & set(asked):
            done = [transfer(control, WORLDS[name]) for _ in range(REPETITIONS)]
            runs.setdefault(name, {})[control] = done
            sys.stdout.write(f"{name} {control} {[run['completion_s'] for run in done]} {done[-1]['late_ms']}\n")
            sys.stdout.flush()
            write(runs)


def write(runs: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    """Write the recordings, one line per congestion control."""
    worlds = []
    for name, by_control in runs.items():
        lines = [f'  "{it}": {json.dumps(done, separators=(",", ":"))}' for it, done in by_control.items()]
        worlds.append(f' "{name}": {{\n' + ",\n".join(lines) + "\n }")
    head = {"kernel": f"Linux {platform.release()}, as a process (user-mode-linux), HZ 100", "mss": MSS}
    head |= {"delay_s": DELAY, "cwnd_step_s": STEP, "worlds": WORLDS}
    text = json.dumps(head)[:-1] + ',\n"runs": {\n' + ",\n".join(worlds) + "\n}}\n"
    OUT.write_text(text, encoding="utf-8")
    os.sync()


if __name__ == "__main__":
    if os.getpid() == 1:
        try:
            record(sys.argv[1:])
        except Exception:  # noqa: BLE001 - the kernel stops before anybody else could print it
            traceback.print_exc()
        os.sync()
        shell("busybox", "poweroff", "-f")
    else:
        boot(sys.argv[1:] or list(WORLDS))
