"""Record Multipath TCP of Linux in the set-ups of ``kernel_mptcp.toml``, into ``kernel_mptcp.json`` next to it.

The machine's own kernel sends between two network namespaces over two links, each between two TUN devices. Between
them ``paths_link.c`` is the link, in real time. ``kernel_runs.py`` has the same requirements. All settings are
defaults, except for a large receive buffer. The path manager of the kernel opens the second subflow, from the sender's
address on the second link.

Usage: ``python tools/recorders/mptcp_runs.py [--repetitions N] [--anew] [WORLD|CONTROL ...]``
"""

from __future__ import annotations

import argparse
import bisect
import ctypes
import fcntl
import itertools
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernel_runs import LATE_S, LATEST_S, MOST_TRIES, ZEROS, read_message, set_realtime_priority
from linux_uml_runs import SETTINGS, child, shell
from optcp_papers.evidence.mptcp import CONTROLS, STEP_S, MultipathWorld, worlds
from records import RECORDS

Run = dict[str, Any]

HERE = Path(__file__).resolve()
LINK = HERE.with_name("paths_link.c")
OUT = RECORDS / "kernel_mptcp.json"
REPETITIONS = 5
ADDRESS = "10.9.{link}.{end}"
SENDER, RECEIVER = 1, 2
"""Numbers of the ends in their addresses."""
PORT = 9000
IPPROTO_MPTCP = 262
LIMIT_S = 120
"""Maximum duration of a transfer, in s."""
FORWARDED = 0


def open_device(name: str) -> int:
    """Return a new TUN device of this namespace."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, 0x4004_54CA, struct.pack("16sH22x", name.encode(), 0x1001))  # TUNSETIFF: IFF_TUN, IFF_NO_PI
    return device


def enter_namespace(end: int, gives: socket.socket, links: int) -> None:
    """Enter a new network namespace with one TUN device per link."""
    ctypes.CDLL(None).unshare(0x4000_0000)  # CLONE_NEWNET
    settings = {name: value for name, value in SETTINGS.items() if name != "tcp_wmem"}
    for name, value in settings.items():
        (Path("/proc/sys/net/ipv4") / name).write_text(value, encoding="ascii")
    devices = []
    for link in range(links):
        name = f"t{link}"
        devices.append(open_device(name))
        (Path("/proc/sys/net/ipv4/conf") / name / "rp_filter").write_text("0", encoding="ascii")
        shell("ip", "addr", "add", ADDRESS.format(link=link, end=end) + "/24", "dev", name)
        shell("ip", "link", "set", name, "txqueuelen", "20000", "up")
        network = ADDRESS.format(link=link, end=0) + "/24"
        shell("ip", "route", "change", network, "dev", name, "initrwnd", "2000")
        if link and end == SENDER:
            # The other subflows also go to the receiver's first address.
            first = ADDRESS.format(link=0, end=0) + "/24"
            shell("ip", "route", "add", first, "dev", name, "metric", str(link), "initrwnd", "2000")
            shell("ip", "mptcp", "endpoint", "add", ADDRESS.format(link=link, end=end), "dev", name, "subflow")
    socket.send_fds(gives, [b"."], devices)


def receive(gives: socket.socket, world: MultipathWorld) -> None:
    """Accept a connection, read its data, and return the received bytes over time."""
    enter_namespace(RECEIVER, gives, len(world.links))
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    server.bind((ADDRESS.format(link=0, end=RECEIVER), PORT))
    server.listen()
    buffer, rows, total = bytearray(1 << 20), list[tuple[int, int]](), 0
    set_realtime_priority(40)
    gives.send(b".")
    connection, _ = server.accept()
    while total < world.size:
        got = connection.recv_into(buffer)
        if not got:
            break
        total += got
        rows.append((time.monotonic_ns(), total))
    text = json.dumps(rows).encode()
    gives.sendall(struct.pack("<Q", len(text)) + text)
    time.sleep(LIMIT_S)


def send(gives: socket.socket, world: MultipathWorld, control: str) -> None:
    """Send the data of a set-up."""
    enter_namespace(SENDER, gives, len(world.links))
    gives.recv(1)
    set_realtime_priority(30)
    sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    sender.connect((ADDRESS.format(link=0, end=RECEIVER), PORT))
    left = world.size
    while left:
        left -= sender.send(ZEROS[:left])
    time.sleep(LIMIT_S)


def transfer(link: Path, world: MultipathWorld, control: str) -> tuple[list[list[int]], str]:
    """Run a set-up; return the received bytes over time, and the output of the links."""
    receiver, from_receiver = child(receive, world)
    sender, from_sender = child(send, world, control)
    ends = [socket.recv_fds(end, 1, len(world.links))[1] for end in (from_sender, from_receiver)]
    words: list[str | int] = []
    for number, (one, devices) in enumerate(zip(world.links, zip(*ends, strict=True), strict=True)):
        failed, start_s, end_s = world.outage or (-1, 0.0, 0.0)
        outage = (round(start_s * 1e9), round(end_s * 1e9)) if failed == number else (0, 0)
        words += ["link", *devices, int(one.rate_mbps * 1e6), one.queue, round(one.delay_ms * 1e6), 0, 0, *outage]
    all_devices = [device for end in ends for device in end]
    process = subprocess.Popen(  # noqa: S603 - compiled from the file beside this one
        [str(link), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=all_devices
    )
    from_sender.send(from_receiver.recv(1))
    is_ready, _, _ = select.select([from_receiver], [], [], LIMIT_S)
    rows = read_message(from_receiver) if is_ready else []
    output, _ = process.communicate()
    for number in (sender, receiver):
        os.kill(number, 9)
        os.waitpid(number, 0)
    for file in (*all_devices, from_sender.detach(), from_receiver.detach()):
        os.close(file)
    return rows, output


def measured(rows: list[list[int]], output: str, links: int) -> tuple[Run, float, float]:
    """Return the behaviour of a connection, times in s from the first SYN; and mean and maximum lateness in s."""
    origin, late = 0, [0, 0, 0]
    opened: list[float | None] = [None] * links
    new, resent, lost, highest = [0] * links, [0] * links, [0] * links, [-1] * links
    payload = 0
    for line in output.splitlines():
        kind, *words = line.split()
        numbers = [int(word) for word in words]
        match kind:
            case "origin":
                (origin,) = numbers
            case "late":
                late = numbers
            case "syn":
                link, at = numbers
                opened[link] = round(at / 1e9, 4) if opened[link] is None else opened[link]
            case "data":
                link, _, seq, size, fate = numbers
                is_new = seq > highest[link]
                highest[link] = max(highest[link], seq)
                (new if is_new else resent)[link] += size if is_new else 1
                lost[link] += fate != FORWARDED
                payload = max(payload, size)
    times = [(at - origin) / 1e9 for at, _ in rows]
    totals = [0, *(total for _, total in rows)]
    gap = max(itertools.pairwise([*times[:1], *times]), key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))
    grid = [STEP_S * number for number in range(1, int(times[-1] / STEP_S) + 1)] if times else []
    run = {
        "completion_s": round(times[-1], 4) if times else None,
        "opened_s": opened,
        "payload": payload,
        "new_bytes": new,
        "retransmissions": resent,
        "lost": lost,
        "stall_s": [round(at, 4) for at in gap],
        "received": [totals[bisect.bisect(times, at)] for at in grid],
    }
    return run, late[1] / 1e9, late[2] / 1e9


def repetition(link: Path, world: MultipathWorld, control: str) -> Run | None:
    """Run a set-up once over links that were not late; None if all attempts were late."""
    for _ in range(MOST_TRIES):
        run, late_s, latest_s = measured(*transfer(link, world, control), len(world.links))
        if run["completion_s"] and late_s <= LATE_S and latest_s <= LATEST_S:
            return run | {"late_us": [round(late_s * 1e6, 1), round(latest_s * 1e6)]}
        sys.stdout.write(f"late by {late_s * 1e6:g} us in the mean and {latest_s * 1e6:g} us at most: again\n")
    return None


def record(asked: Sequence[str], repetitions: int, *, anew: bool) -> None:
    """Record the missing repetitions of the requested set-ups, and keep earlier recordings."""
    known = worlds()
    names = [name for name in known if name in asked] or list(known)
    controls = [control for control in CONTROLS if control in asked] or list(CONTROLS)
    runs = json.loads(OUT.read_text(encoding="utf-8"))["runs"] if OUT.exists() else {}
    with tempfile.TemporaryDirectory() as place:
        link = Path(place) / "link"
        shell("cc", "-O2", "-D_GNU_SOURCE", "-o", str(link), str(LINK))
        for name, control in itertools.product(names, controls):
            done = [] if anew else runs.get(name, {}).get(control, [])
            for _ in range(len(done), repetitions):
                if run := repetition(link, known[name], control):
                    done.append(run)
                    sys.stdout.write(f"{name} {control} {run | {'received': None}}\n")
                    sys.stdout.flush()
            if done:
                runs.setdefault(name, {})[control] = done
                write({name: runs[name] for name in known if name in runs})


def write(runs: dict[str, dict[str, list[Run]]]) -> None:
    """Write the recordings, one line per repetition."""
    worlds_text = []
    for name, by_control in runs.items():
        lines = []
        for control, done in by_control.items():
            texts = ",\n".join(f"   {json.dumps(run, separators=(',', ':'))}" for run in done)
            lines.append(f'  "{control}": [\n{texts}\n  ]')
        worlds_text.append(f' "{name}": {{\n' + ",\n".join(lines) + "\n }")
    head = {"kernel": f"Linux {platform.release().partition('-')[0]}", "step_s": STEP_S}
    text = json.dumps(head)[:-1] + ',\n"runs": {\n' + ",\n".join(worlds_text) + "\n}}\n"
    OUT.write_text(text, encoding="utf-8")


def main() -> None:
    """Record what the command line requests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="how many there are to be then")
    parser.add_argument("--anew", action="store_true", help="throw away what is recorded of what is asked for")
    parser.add_argument("asked", nargs="*", metavar="WORLD|CONTROL")
    options = parser.parse_args()
    record(options.asked, options.repetitions, anew=options.anew)


if __name__ == "__main__":
    main()
