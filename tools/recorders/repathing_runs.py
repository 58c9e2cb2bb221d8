"""Record Linux's flow labels in the set-ups of ``kernel_repathing.toml``, into ``kernel_repathing.json`` next to it.

All set-ups of a repetition run at the same time between two network namespaces with a TUN device each, started
:data:`STAGGER_S` apart. ``labels_link.c`` is the link of each connection. It loses packets by the order in which their
labels appear, because Linux draws labels at random. All settings are defaults, except for large buffers.

The machine's own kernel sends in real time; ``kernel_runs.py`` has the same requirements. With ``--kernel FILE``, a
kernel of ``tools/uml/build.sh`` runs this file as its first process, in simulated time. Repetitions start at different
phases of the kernel's timer wheel.

Usage: ``python tools/recorders/repathing_runs.py [--kernel FILE] [--repetitions N] [--anew]``
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import kernel_uml
from kernel_runs import (
    ESTABLISHED,
    INFO,
    LATE_S,
    LATEST_S,
    MOST_TRIES,
    ZEROS,
    read_everything,
    read_message,
    set_realtime_priority,
)
from linux_uml_runs import SETTINGS, child, shell
from mptcp_runs import open_device
from optcp_papers.evidence.repathing import MSS_BYTES, RUNS, LabelWorld, worlds

HERE = Path(__file__).resolve()
LINK = HERE.with_name("labels_link.c")
REPETITIONS = 20
ADDRESS = "fd09::{}"
SENDER, RECEIVER = 1, 2
"""Numbers of the ends in their addresses."""
FIRST_PORT = 9000
STAGGER_S = 0.1
WHEEL_S = 2.048
"""Duration after which slots of Linux's timer wheel for at most 16 s repeat, with 250 ticks per second."""
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of this share of a turn are well spread over slots of every size."""
SAMPLE_S = 0.002
LIMIT_S = 40
"""Maximum duration of a repetition, in s."""
FORWARDED, OUTAGE = 0, 2
"""Fates of packets in the link's output."""
SYN, BARE = -1, -2
"""Numbers of packets without data in the link's output."""
Change = tuple[float, int, int]
"""Change of a label: time in ms from the first lost packet, and segment and transmission that triggered it."""


def enter_namespace(end: int, gives: socket.socket) -> None:
    """Enter a new network namespace with a TUN device whose other end is the link."""
    ctypes.CDLL(None).unshare(0x4000_0000)  # CLONE_NEWNET
    for name, value in SETTINGS.items():
        (Path("/proc/sys/net/ipv4") / name).write_text(value, encoding="ascii")
    device = open_device("t0")
    shell("ip", "link", "set", "t0", "txqueuelen", "20000", "up")
    shell("ip", "-6", "addr", "add", ADDRESS.format(end) + "/128", "dev", "t0", "nodad")
    shell("ip", "-6", "route", "add", ADDRESS.format("") + "/64", "dev", "t0", "initrwnd", "2000")
    socket.send_fds(gives, [b"."], [device])


def receive(gives: socket.socket, count: int) -> None:
    """Accept connections and read their data until killed."""
    enter_namespace(RECEIVER, gives)
    ports = range(FIRST_PORT, FIRST_PORT + count)
    servers = [socket.create_server((ADDRESS.format(RECEIVER), port), family=socket.AF_INET6) for port in ports]
    read_everything(gives, servers)


class Sender:
    """Sending end of one set-up."""

    def __init__(self, number: int, world: LabelWorld, begin: float) -> None:
        self.number, self.begin = number, begin + number * STAGGER_S
        self.writes = list(world.writes)
        self.opened: float | None = None
        self.left = 0
        self.done = False
        self.socket = socket.socket(socket.AF_INET6)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.connecting = False

    def step(self, now: float) -> None:
        """Connect, and write the data that are due."""
        if not self.connecting:
            if now >= self.begin:
                self.connecting = True
                self.socket.connect_ex((ADDRESS.format(RECEIVER), FIRST_PORT + self.number))
            return
        state, _, unacked, _, _, _, _, _, unsent = INFO.unpack(
            self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO.size)
        )
        if self.opened is None:
            if state != ESTABLISHED:
                return
            self.opened = now
        self.done = not (self.writes or self.left or unacked or unsent)
        while self.writes and self.opened + self.writes[0][0] <= now:
            self.left += self.writes.pop(0)[1] * MSS_BYTES
        with contextlib.suppress(BlockingIOError):
            while self.left:
                self.left -= self.socket.send(ZEROS[: self.left])


def send(gives: socket.socket, known: Sequence[LabelWorld]) -> None:
    """Send the data of all set-ups."""
    enter_namespace(SENDER, gives)
    gives.recv(1)
    set_realtime_priority(30)
    begin = time.monotonic()
    senders = [Sender(number, world, begin) for number, world in enumerate(known)]
    while not all(sender.done for sender in senders) and (now := time.monotonic()) < begin + LIMIT_S:
        for sender in senders:
            if not sender.done:
                sender.step(now)
        opening = [sender.socket for sender in senders if sender.connecting and sender.opened is None]
        # Wake up immediately when a SYN exchange ends, to write without delay.
        select.select([], opening, [], SAMPLE_S)
    text = json.dumps([sender.done for sender in senders]).encode()
    gives.sendall(struct.pack("<Q", len(text)) + text)
    time.sleep(LIMIT_S)


def transfer(link: Path, known: Sequence[LabelWorld]) -> tuple[list[bool], str]:
    """Run all set-ups; return whether each transfer ended, and the output of the link."""
    receiver, from_receiver = child(receive, len(known))
    sender, from_sender = child(send, known)
    devices = [socket.recv_fds(end, 1, 1)[1][0] for end in (from_sender, from_receiver)]
    words: list[int | str] = [*devices]
    for world in known:
        times = [round(1e9 * at_s) for at_s in world.outage]
        words += ["flow", int(world.rate_mbps * 1e6), world.queue, round(world.delay_ms * 1e6), *times, *world.failed]
    process = subprocess.Popen(  # noqa: S603 - compiled from the file beside this one
        [str(link), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=devices
    )
    from_sender.send(from_receiver.recv(1))
    done = read_message(from_sender)
    output, _ = process.communicate()
    for number in (sender, receiver):
        os.kill(number, 9)
        os.waitpid(number, 0)
    for file in (*devices, from_sender.detach(), from_receiver.detach()):
        os.close(file)
    return done, output


def measured(output: str) -> dict[int, dict[str, list[Change]] | None]:
    """Return the changes of labels of each flow; None if its link was late."""
    data: dict[int, list[list[int]]] = defaultdict(list)
    acks: dict[int, list[list[int]]] = defaultdict(list)
    is_late = dict[int, bool]()
    for line in output.splitlines():
        kind, *words = line.split()
        flow, *numbers = [int(word) for word in words]
        if kind == "late":
            _, mean_ns, latest_ns = numbers
            is_late[flow] = mean_ns / 1e9 > LATE_S or latest_ns / 1e9 > LATEST_S
        else:
            (data if kind == "data" else acks)[flow].append(numbers)
    return {flow: None if late else changes(data[flow], acks[flow]) for flow, late in is_late.items()}


def changes(data: Sequence[Sequence[int]], acks: Sequence[Sequence[int]]) -> dict[str, list[Change]]:
    """Return the changes of labels of one flow in both directions."""
    lost = [at for at, _, _, fate, _, _ in data if fate == OUTAGE] + [at for at, _, fate, _ in acks if fate == OUTAGE]
    origin = min(lost)
    arrived = sorted((due, segment, nth) for _, due, _, fate, segment, nth in data if fate == FORWARDED)
    of_data, of_acks = list[Change](), list[Change]()
    last = 0
    for at, _, label, _, segment, nth in data:
        if label != last:
            of_data.append((milliseconds(at - origin), segment, nth))
        last = label
    last = 0
    for at, label, _, _ in acks:
        if label != last:
            _, segment, nth = max(packet for packet in arrived if packet[0] <= at)
            of_acks.append((milliseconds(at - origin), segment, nth))
        last = label
    return {"data": of_data, "acks": of_acks}


def milliseconds(ns: int) -> float:
    """Return a time in ms."""
    return round(ns / 1e6, 2)


def record(link: Path, repetitions: int, *, anew: bool) -> None:
    """Record the missing repetitions, and keep earlier recordings of this kernel."""
    known = worlds()
    kernels = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    kernel = "Linux " + ".".join(platform.release().split(".")[:2])
    runs: dict[str, list[dict[str, list[Change]]]] = {} if anew else kernels.get(kernel, {})
    for number in range(MOST_TRIES * repetitions):
        missing = [name for name in known if len(runs.get(name, [])) < repetitions]
        if not missing:
            return
        wait_for_phase(number * GOLDEN)
        done, output = transfer(link, [known[name] for name in missing])
        passed = measured(output)
        for at, (name, has_ended) in enumerate(zip(missing, done, strict=True)):
            run = passed[at]
            if run is not None and has_ended:
                runs.setdefault(name, []).append(run)
        write(kernels | {kernel: {name: runs[name] for name in known if name in runs}})
        in_time = sum(run is not None for run in passed.values())
        sys.stdout.write(f"{number + 1}: {in_time} of {len(missing)} links in time, {sum(done)} transfers ended\n")
        sys.stdout.flush()
        os.sync()
    raise SystemExit("this machine was too busy to keep real time")


def wait_for_phase(turns: float) -> None:
    """Wait until the timer wheel is at this phase, in turns."""
    time.sleep((turns * WHEEL_S - time.monotonic()) % WHEEL_S)


def write(kernels: dict[str, dict[str, list[dict[str, list[Change]]]]]) -> None:
    """Write the recordings, one line per repetition."""
    texts = []
    for kernel, runs in kernels.items():
        lines = []
        for name, done in runs.items():
            text = ",\n".join(f"  {json.dumps(run, separators=(',', ':'))}" for run in done)
            lines.append(f' "{name}": [\n{text}\n ]')
        texts.append(f'"{kernel}": {{\n' + ",\n".join(lines) + "\n}")
    RUNS.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def main() -> None:
    """Record on this kernel, or boot the requested one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kernel", type=Path, help="kernel of tools/uml/build.sh, instead of the machine's own")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="how many there are to be then")
    parser.add_argument("--anew", action="store_true", help="throw away what is recorded of this kernel")
    parser.add_argument("--link", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.link:
        kernel_uml.run_as_first_process(lambda: record(options.link, options.repetitions, anew=options.anew))
        return
    with tempfile.TemporaryDirectory() as place:
        link = Path(place) / "link"
        simulated = ["-DSPIN_NS=0"] if options.kernel else []
        shell("cc", "-O2", "-D_GNU_SOURCE", *simulated, "-o", str(link), str(LINK))
        if options.kernel:
            words = ["--repetitions", str(options.repetitions), *(["--anew"] if options.anew else [])]
            kernel_uml.boot(options.kernel, [str(HERE), *words, "--link", str(link)])
        else:
            record(link, options.repetitions, anew=options.anew)


if __name__ == "__main__":
    main()
