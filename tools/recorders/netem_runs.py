"""Compare an emulated link with netem, in the simulated time of a user-mode kernel; prints the tables of a page.

The kernel is one of ``tools/uml/build.sh``. In it, this file sends ICMP echoes, first alone and then during a TCP
transfer with CUBIC. It uses three links of equal rate, delay, queue and losses:

* ``emulated``: the link of a scenario, by ``optcp emulate``.
* ``router``: netem between two routers, as a scenario describes a link. Its first qdisc has the rate, the limit
  and the losses; the second has the delay, without a limit. Frames count without the 14 bytes of Ethernet.
* ``host``: one netem with rate, delay and losses at each end of one veth pair, as netem is often used. Its limit
  counts packets in flight too, so that it is the queue and the bandwidth-delay product.

Segmentation offload is off: else netem counts up to 64 KB as one packet.

Usage: ``python tools/recorders/netem_runs.py KERNEL [--runs N] [--folder DIR] [--rate MBPS] [--delay MS] [--loss P]``
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import functools
import itertools
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = dict[str, Any]

RATES_MBPS, DELAYS_MS, LOSSES_PCT = (10, 50, 100), (5, 20, 100), (0, 1)
LINKS = ("emulated", "router", "host")
QUEUE, SEGMENT = 100, 1500
"""Packets in the queue, the one in transmission included, and bytes of a full segment."""
RUNS, TRANSFER_S, ECHOES = 20, 5, 20
"""Transfers over a link with losses, their duration, and echoes before the first."""
SCENARIO = """title = "a link"
stop = "36000 s"
nodes = [{{ names = ["A", "B"] }}]
links = [{{ chain = ["A", "B"], rate = "{rate} Mbps", delay = "{delay} ms", queue = "{queue} packets" }}]
flows = [{{ group = "all", path = ["A", "B"], per_source = 3, tcp = "linux-6", start = "uniform(0 s, 1 s)" }}]
losses = [{{ link = ["A", "B"], kind = "independent", probability = {probability}, packets = "both" }}]
observe = [{{ name = "drops", kind = "drops" }}]
"""
"""``both``: netem also drops packets without data. Losses are in one direction."""
SIOCETHTOOL, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO = 0x8946, 0x1F, 0x24, 0x2C
HEAD, IP_BYTES, ECHO_BYTES = struct.Struct("!BBHHH"), 20, 56
"""Header of an ICMP echo, bytes before it, and bytes after it."""
GAP_NS, ANSWER_NS = 100_000_000, 3_000_000_000
"""Time between two echoes, and time to wait for answers at the end."""
PORT = 7001
SELF = (sys.executable, str(Path(__file__).resolve()), "inside")


@dataclass(frozen=True)
class Link:
    """Rate, delay in one direction, and losses."""

    rate: int
    delay: int
    loss: int


# The part within the kernel.


def shell(*commands: str) -> None:
    """Execute commands, the words of which have no spaces."""
    for command in commands:
        subprocess.run(command.split(), check=True)  # noqa: S603 - commands of this file


def switch_offload_off(device: str) -> None:
    """Divide data into segments before a device of this namespace receives them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for what in (ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO):
            value = ctypes.create_string_buffer(struct.pack("II", what, 0))
            fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sQ", device.encode(), ctypes.addressof(value)))


def connect(names: Sequence[str], last: str) -> None:
    """Create a chain of namespaces; the first is 10.78.0.1, and ``last`` the address of the last one."""
    for name in names:
        shell(f"ip netns add {name}", f"ip -n {name} link set lo up")
        shell(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1 net.ipv4.tcp_no_metrics_save=1")
    for number, pair in enumerate(itertools.pairwise(names)):
        devices = ("right", "left")
        shell("ip link add right netns {} type veth peer name left netns {}".format(*pair))
        for end, (name, device) in enumerate(zip(pair, devices, strict=True), 1):
            shell(
                f"ip -n {name} link set {device} address 02:00:00:00:0{number}:0{end} up",
                f"ip -n {name} address add 10.78.{number}.{end}/24 dev {device}",
                f"ip netns exec {name} {' '.join(SELF)} plain {device}",
            )
        for end, (name, device) in enumerate(zip(pair, devices, strict=True), 1):
            # No ARP: its first question would wait for the delay.
            peer, mac = f"10.78.{number}.{3 - end}", f"02:00:00:00:0{number}:0{3 - end}"
            shell(f"ip -n {name} neighbour replace {peer} lladdr {mac} dev {device} nud permanent")
    for number, name in enumerate(names):
        if number < len(names) - 2:
            shell(f"ip -n {name} route add {last}/32 via 10.78.{number}.2")
        if number > 1:
            shell(f"ip -n {name} route add 10.78.0.0/24 via 10.78.{number - 1}.1")


def created(kind: str, link: Link) -> str:
    """Create namespaces from ``near`` to ``far`` with a link of netem, and return the address of ``far``."""
    lossy = f" loss random {link.loss}%" if link.loss else ""
    if kind == "host":
        connect(["near", "far"], address := "10.78.0.2")
        limit = QUEUE + link.rate * link.delay * 1000 // (8 * SEGMENT)
        both = f"netem rate {link.rate}mbit delay {link.delay}ms limit {limit}"
        shell(f"tc -n near qdisc add dev right root {both}{lossy}", f"tc -n far qdisc add dev left root {both}")
        # netem delays what TCP passes on, before the device divides it.
        shell("ip -n near link set right gso_max_segs 1", "ip -n far link set left gso_max_segs 1")
        return address
    connect(["near", "first", "second", "far"], address := "10.78.2.2")
    queue, delay = f"netem rate {link.rate}mbit -14 limit {QUEUE}", f"netem delay {link.delay}ms limit 1000000"
    shell(
        f"tc -n first qdisc add dev right root {queue}{lossy}",
        f"tc -n second qdisc add dev right root {delay}",
        f"tc -n second qdisc add dev left root {queue}",
        f"tc -n first qdisc add dev left root {delay}",
    )
    return address


def echoes(address: str, go_on: Callable[[int], bool]) -> list[int]:
    """Send an ICMP echo per gap, and return the RTTs in ns of those that are answered."""
    sent: dict[int, int] = {}
    rtts = []
    owner = os.getpid() & 0xFFFF
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
        raw.connect((address, 0))
        next_ns = time.monotonic_ns()
        number = 0
        while (ongoing := go_on(number)) or (sent and time.monotonic_ns() < max(sent.values()) + ANSWER_NS):
            if ongoing and time.monotonic_ns() >= next_ns:
                sent[number] = time.monotonic_ns()
                raw.send(echo(owner, number))
                number, next_ns = number + 1, next_ns + GAP_NS
            raw.settimeout(max(next_ns - time.monotonic_ns(), 1000) / 1e9 if ongoing else GAP_NS / 1e9)
            with contextlib.suppress(TimeoutError):
                kind, _, _, whose, which = HEAD.unpack_from(raw.recv(2048), IP_BYTES)
                if (kind, whose) == (0, owner):
                    rtts.append(time.monotonic_ns() - sent.pop(which))
    return rtts


def echo(owner: int, number: int) -> bytes:
    """Return an ICMP echo of 84 bytes with its IP header, as `ping` sends."""
    total = sum(struct.unpack("!4H", HEAD.pack(8, 0, 0, owner, number)))
    total = (total & 0xFFFF) + (total >> 16)
    return HEAD.pack(8, 0, ~total & 0xFFFF, owner, number) + bytes(ECHO_BYTES)


def transfer(address: str, seconds: int, mbps: list[float]) -> None:
    """Send data for a time, and append the throughput until the last byte arrived."""
    began_ns = time.monotonic_ns()
    data = bytes(1 << 16)
    with socket.create_connection((address, PORT)) as connection:
        while time.monotonic_ns() < began_ns + seconds * 10**9:
            connection.send(data)
        connection.shutdown(socket.SHUT_WR)
        ended_ns, received = struct.unpack("qq", connection.recv(16, socket.MSG_WAITALL))
    mbps.append(received * 8e3 / (ended_ns - began_ns))


def serve() -> None:
    """Receive transfers, one after another, and answer when the last byte arrived, and the number of bytes."""
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            received = 0
            with connection:
                while got := len(connection.recv(1 << 16)):
                    received += got
                # All namespaces have the same clock.
                connection.send(struct.pack("qq", time.monotonic_ns(), received))


def measure(address: str, runs: int, seconds: int, out: Path) -> None:
    """Measure the link from this namespace to an address, and write the results of all runs."""
    shell("sysctl -qw net.ipv4.tcp_no_metrics_save=1")
    results = []
    for run in range(runs):
        idle = echoes(address, lambda number: number < ECHOES) if run == 0 else []
        mbps: list[float] = []
        thread = threading.Thread(target=transfer, args=(address, seconds, mbps))
        thread.start()
        loaded = echoes(address, lambda _: thread.is_alive())  # noqa: B023 - used at once
        thread.join()
        results.append({"idle_ns": idle, "loaded_ns": loaded, "mbps": mbps[0]})
    out.write_text(json.dumps(results), encoding="utf-8")


def inside(words: list[str]) -> None:
    """Carry out a part that the user's call has started in the kernel."""
    if words[0] == "plain":
        switch_offload_off(words[1])
    elif words[0] == "serve":
        serve()
    elif words[0] == "emulated":
        measure(os.environ["OPTCP_B"], int(words[4]), int(words[5]), Path(words[6]))
    elif words[0] == "near":
        measure(words[1], int(words[2]), int(words[3]), Path(words[4]))
    else:
        address = created(words[0], Link(*map(int, words[1:4])))
        command = f"ip netns exec far {' '.join(SELF)} serve"
        with subprocess.Popen(command.split()) as server:  # noqa: S603 - this file
            time.sleep(1)
            shell(f"ip netns exec near {' '.join(SELF)} near {address} {' '.join(words[4:])}")
            server.kill()


# The part outside the kernel.


def recorded(kernel: Path, kind: str, link: Link, runs: int, seconds: int, folder: Path) -> list[Run]:
    """Return the runs over a link, from a file if it was recorded before."""
    out = folder / f"{kind}-{link.rate}-{link.delay}-{link.loss}-{runs}-{seconds}.json"
    if not out.exists():
        with tempfile.TemporaryDirectory() as name:
            scenario = Path(name, "link.toml")
            text = SCENARIO.format(rate=link.rate, delay=link.delay, queue=QUEUE, probability=link.loss / 100)
            scenario.write_text(text, encoding="utf-8")
            command = [
                *(sys.executable, "-m", "optcp", "emulate", str(scenario), "--kernel", str(kernel)),
                *("--node", "A", "--node", "B", "--out", f"{name}/out"),
                *("--also", f"B: sysctl -qw net.ipv4.tcp_no_metrics_save=1; {' '.join(SELF)} serve", "--"),
                *(*SELF, kind),
                *map(str, (link.rate, link.delay, link.loss, runs, seconds, out.resolve())),
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the project's own command
    runs_of_link: list[Run] = json.loads(out.read_text(encoding="utf-8"))
    return runs_of_link


def rtts(runs: list[Run], key: str, digits: int) -> str:
    """Return minimum, median and maximum of the RTTs of all runs, in ms."""
    all_ns = [rtt for run in runs for rtt in run[key]]
    return " / ".join(f"{figure / 1e6:.{digits}f}" for figure in (min(all_ns), statistics.median(all_ns), max(all_ns)))


def throughput(runs: list[Run]) -> str:
    """Return the mean throughput in Mb/s, with the 95 % interval if there are several runs."""
    from optcp.stats import means

    figures = [run["mbps"] for run in runs]
    if len(figures) == 1:
        return f"{figures[0]:.2f}"
    mean = means.mean(figures)
    return f"{mean.estimate:.2f} [{mean.low:.2f}, {mean.high:.2f}]"


def write(cells: Sequence[object]) -> None:
    """Print a row of a table."""
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")


def main() -> None:
    """Record what is missing, and print the tables."""
    if sys.argv[1:2] == ["inside"]:
        inside(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=int, default=TRANSFER_S)
    parser.add_argument("--folder", type=Path, default=Path("netem-runs"))
    parser.add_argument("--rate", type=int, nargs="*", default=RATES_MBPS)
    parser.add_argument("--delay", type=int, nargs="*", default=DELAYS_MS)
    parser.add_argument("--loss", type=int, nargs="*", default=LOSSES_PCT)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    cases = [Link(*case) for case in itertools.product(chosen.rate, chosen.delay, chosen.loss)]
    runs = {
        (kind, link): recorded(
            chosen.kernel, kind, link, chosen.runs if link.loss else 1, chosen.seconds, chosen.folder
        )
        for link in cases
        for kind in LINKS
    }
    for title, show in (
        ("Idle RTT in ms: minimum, median, maximum", functools.partial(rtts, key="idle_ns", digits=3)),
        ("RTT in the transfer in ms: minimum, median, maximum", functools.partial(rtts, key="loaded_ns", digits=2)),
        ("Throughput in Mb/s", throughput),
    ):
        sys.stdout.write(f"{title}\n\n")
        write(["Mb/s", "ms", "loss", *LINKS])
        write(["---"] * (3 + len(LINKS)))
        for link in cases:
            write([link.rate, link.delay, f"{link.loss} %", *(show(runs[kind, link]) for kind in LINKS)])
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
