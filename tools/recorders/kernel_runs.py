"""Record Linux's TCP in the set-ups of ``kernel_worlds.toml`` and ``kernel_outages.toml``, into files next to them.

The machine's own kernel sends between two network namespaces, each with a TUN device. Between them ``kernel_link.c``
is the link, in real time. The program needs root, ``/dev/net/tun`` and a C compiler; no packet leaves the machine.
Sender, receiver and link have real-time priority. The link reports how late it delivered packets. A repetition with a
maximum above :data:`LATEST_S` or a mean above :data:`LATE_S` is discarded and repeated.

All kernel settings have their defaults, except for buffers: the sender's never limits, and the set-up gives the
receiver's. A large receive buffer comes with an initial window of 2000 segments.

Usage: ``python tools/recorders/kernel_runs.py [--experiment outages] [--repetitions N] [--anew] [--traces FOLDER]
[WORLD|CONTROL ...]``
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import itertools
import json
import os
import platform
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linux_uml_runs import ADDRESS, NO_THRESHOLD, SETTINGS, child, network_end, shell
from optcp.errors import nearest
from optcp_papers.evidence.kernel_worlds import CONTROLS, DIRECTIONS, MSS_BYTES, Flow, World, worlds
from records import RECORDS

Run = dict[str, Any]


HERE = Path(__file__).resolve()
LINK = HERE.with_name("kernel_link.c")
OUT = {"kernel": RECORDS / "kernel_runs.json", "outages": RECORDS / "kernel_outages.json"}
REPETITIONS = 5
MOST_TRIES = 4
"""Attempts per repetition before the machine counts as too busy."""
LATE_S, LATEST_S = 50e-6, 2e-3
STEPS = {"kernel": 0.25, "outages": 0.1}
"""Interval of a series, in s."""
FORWARDED, MARKED = 0, 4
"""Fates of packets that are not lost, in the link's output."""
SAMPLE_S, LONG_SAMPLE_S = 0.001, 0.01
LIMIT_S = 60
"""Maximum duration of a transfer, in s."""
SENDER, RECEIVER = 1, 2
"""Numbers of the ends in their addresses."""
ZEROS = memoryview(bytes(1 << 20))
FIRST_PORT = 9000
TUN = Path("/dev/net/tun")
INFO, ESTABLISHED = struct.Struct("<BB6x 16x I 40x I 4x II 16x I 16x Q 16x I"), 1
"""Fields of ``tcp_info``: state, recovery state, unacknowledged segments, RTT in us, ssthresh, cwnd, all
retransmissions, acknowledged bytes, and unsent bytes."""
PROGRAMS = ("cc", "ip")


def set_realtime_priority(priority: int) -> None:
    """Set a real-time priority for this process."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def enter_namespace(number: int, gives: socket.socket, world: World) -> None:
    """Enter a new network namespace with the settings of a set-up and a TUN device connected to the link."""
    settings = SETTINGS | {"tcp_sack": str(int(world.sack))}
    if not world.pairs:
        settings["tcp_min_tso_segs"] = "1"
    if not world.large_buffer:
        del settings["tcp_rmem"]
    network_end(number, gives, settings)
    if world.fq and number == SENDER:
        shell("tc", "qdisc", "replace", "dev", "t0", "root", "fq")


def receive(gives: socket.socket, world: World) -> None:
    """Accept connections and read their data until killed."""
    enter_namespace(RECEIVER, gives, world)
    servers = [socket.create_server((ADDRESS.format(2), FIRST_PORT + number)) for number in range(2)]
    for server in servers if world.marks_above is not None else []:
        # DCTCP's receiver reports each mark, and Prague's sender counts these reports.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")
    read_everything(gives, servers)


def read_everything(gives: socket.socket, servers: list[socket.socket]) -> None:
    """Accept connections of these servers and read their data until killed, once the other end is notified."""
    poll = select.epoll()
    ends: dict[int, socket.socket] = {server.fileno(): server for server in servers}
    for number in ends:
        poll.register(number, select.EPOLLIN)
    set_realtime_priority(40)
    buffer = bytearray(1 << 20)
    gives.send(b".")
    while True:
        for number, _ in poll.poll():
            if ends[number] in servers:
                connection, _ = ends[number].accept()
                ends[connection.fileno()] = connection
                poll.register(connection.fileno(), select.EPOLLIN)
            elif not ends[number].recv_into(buffer):
                poll.unregister(number)


class Sender:
    """Sending end of one flow."""

    def __init__(self, number: int, control: str, flow: Flow) -> None:
        self.start, self.writes, self.rows = flow.start_s, list(flow.writes), list[tuple[float, ...]]()
        self.address = (ADDRESS.format(2), FIRST_PORT + number)
        self.left = 0
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connecting = self.connected = self.done = False

    def step(self, now: float) -> None:
        """Connect, sample, and write the data that are due."""
        if not self.connecting:
            if now >= self.start:
                self.socket.setblocking(False)
                self.socket.connect_ex(self.address)
                self.connecting = True
            return
        state, *_ = info = INFO.unpack(self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO.size))
        if not self.connected:
            self.connected = state == ESTABLISHED
            if not self.connected:
                return
        _, recovery, unacked, rtt, ssthresh, cwnd, resent, acked, unsent = info
        self.rows.append((now, recovery, cwnd, ssthresh, acked, unacked, rtt, resent))
        self.done = not (self.writes or self.left or unacked or unsent)
        while self.writes and self.start + self.writes[0][0] <= now:
            self.left += self.writes.pop(0)[1] * MSS_BYTES
        with contextlib.suppress(BlockingIOError):
            while self.left:
                self.left -= self.socket.send(ZEROS[: self.left])


def send(gives: socket.socket, world: World, control: str) -> None:
    """Send the data of a set-up, and return windows, thresholds and acknowledged bytes over time."""
    enter_namespace(SENDER, gives, world)
    senders = [Sender(number, flow.congestion or control, flow) for number, flow in enumerate(world.flows)]
    gives.recv(1)
    set_realtime_priority(30)
    sample_s = LONG_SAMPLE_S if world.until_s else SAMPLE_S
    start = time.monotonic()
    while not all(sender.done for sender in senders):
        for sender in senders:
            if not sender.done:
                sender.step(time.monotonic() - start)
        # Wake up immediately when a SYN exchange ends, to write without delay.
        select.select([], [sender.socket for sender in senders if sender.connecting > sender.connected], [], sample_s)
        if time.monotonic() - start > (world.until_s or LIMIT_S):
            break
    text = json.dumps([sender.rows for sender in senders]).encode()
    gives.sendall(struct.pack("<Q", len(text)) + text)


def read_message(end: socket.socket) -> Any:  # noqa: ANN401 - messages have any type
    """Read the message of a child process."""
    (length,) = struct.unpack("<Q", end.recv(8, socket.MSG_WAITALL))
    return json.loads(end.recv(length, socket.MSG_WAITALL))


def transfer(link: Path, world: World, control: str) -> tuple[list[Any], str]:
    """Run a set-up; return the samples of each flow, and the output of the link."""
    receiver, from_receiver = child(receive, world)
    sender, from_sender = child(send, world, control)
    devices = [socket.recv_fds(end, 1, 1)[1][0] for end in (from_sender, from_receiver)]
    words: list[str | int] = [*devices, int(world.rate_mbps * 1e6), world.queue]
    for at, there, back in world.paths:
        words += ["delay", round(at * 1e9), round(there * 1e6), round(back * 1e6)]
    for segment, nth in world.lost:
        words += ["lost", 0, segment, nth]
    for outage in world.outages:
        times = (round(outage.start_s * 1e9), round(outage.end_s * 1e9))
        words += ["outage", *times, 1 + DIRECTIONS.index(outage.direction)]
    if world.marks_above is not None:
        words += ["mark", world.marks_above, 0, 0]
    process = subprocess.Popen(  # noqa: S603 - compiled from the file beside this one
        [str(link), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=devices
    )
    from_sender.send(from_receiver.recv(1))
    samples = read_message(from_sender)
    output, _ = process.communicate()
    for number in (sender, receiver):
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)
    for file in (*devices, from_sender.detach(), from_receiver.detach()):
        os.close(file)
    return samples, output


def parse_link_output(text: str) -> tuple[dict[int, dict[str, list[list[int]]]], list[int]]:
    """Parse the link's output: data and ACKs by flow in order of time, without SACK; and the lateness of packets."""
    flow: dict[int, dict[str, list[list[int]]]] = {}
    late: list[int] = []
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "late":
            late = [int(word) for word in words]
        else:
            number, *rest = [int(word) for word in words if "-" not in word[1:]]
            flow.setdefault(number, {"data": [], "ack": []})[kind].append(rest)
    for kinds in flow.values():
        kinds["ack"].sort()
    return flow, late


def longest_stall(begin: float, acks: Sequence[tuple[int, int]], failed: float) -> tuple[float, float]:
    """Return start and end of the longest time without an ACK of new data that ends after ``failed``."""
    times, highest = [begin], 0
    for at, acked in acks:
        if acked > highest:
            times.append(at)
            highest = acked
    stalls = [pair for pair in itertools.pairwise(times) if pair[1] > failed]
    return max(stalls, key=lambda pair: pair[1] - pair[0], default=(begin, begin))


def measured(
    rows: list[list[float]], passed: dict[str, list[list[int]]], segments: int, step: float, failed: float = 0
) -> Run:
    """Return the behaviour of one flow whose link fails at ``failed`` ns; times in s from its first data."""
    data = [item for item in passed["data"] if item[1] >= 0]
    begin = data[0][0]
    acks = [(at, acked) for at, acked in passed["ack"] if at > begin]

    def since(at: float) -> float:
        return round((at - begin) / 1e9, 5)

    end = next((since(at) for at, acked in acks if acked >= segments * MSS_BYTES), None)
    again = [since(at) for at, _, nth, _ in data if nth > 1]
    lost = [since(at) for at, _, _, fate in data if fate not in {FORWARDED, MARKED}]
    marked = [since(at) for at, _, _, fate in data if fate == MARKED]
    thresholds: list[int] = []
    for row in rows:
        if row[3] < NO_THRESHOLD and thresholds[-1:] != [row[3]]:
            thresholds.append(int(row[3]))
    times = [row[0] - begin / 1e9 for row in rows]
    grid = [step * number for number in range(1, int((end or times[-1]) / step) + 1)]
    at = [bisect.bisect(times, time) - 1 for time in grid]
    return {
        "begin_s": round((begin - passed["data"][0][0]) / 1e9, 4),
        "completion_s": end,
        "first_loss_s": lost[0] if lost else None,
        "lost": len(lost),
        "retransmissions": len(again),
        "retransmitted_s": [again[0], again[-1]] if again else [],
        "stall_s": [since(time) for time in longest_stall(begin, acks, failed)],
        "acks": len(acks),
        **({"marked": [bisect.bisect(marked, time) for time in grid]} if marked else {}),
        "ssthresh": thresholds,
        "maximum_cwnd": max(int(row[2]) for row in rows),
        "last_cwnd": int(rows[-1][2]),
        "cwnd": [int(rows[place][2]) for place in at],
        "acked": [max(0, round(rows[place][4] / MSS_BYTES)) for place in at],
    }


def repetition(link: Path, world: World, control: str, traces: Path | None, step: float) -> list[Run] | None:
    """Run a set-up once over a link that was not late; None if all attempts were late."""
    for _ in range(MOST_TRIES):
        samples, output = transfer(link, world, control)
        passed, (packets, late_ns, latest_ns) = parse_link_output(output)
        if traces:
            traces.with_suffix(".link").write_text(output, encoding="ascii")
            traces.with_suffix(".samples").write_text(json.dumps(samples), encoding="ascii")
        if packets and late_ns / 1e9 <= LATE_S and latest_ns / 1e9 <= LATEST_S:
            failed = min((outage.start_s * 1e9 for outage in world.outages), default=0)
            flows = enumerate(zip(samples, world.flows, strict=True))
            runs = [measured(rows, passed[number], flow.segments, step, failed) for number, (rows, flow) in flows]
            return [run | {"late_us": [late_ns / 1e3, latest_ns / 1e3]} for run in runs]
        sys.stdout.write(f"late by {late_ns / 1e3:g} us in the mean and {latest_ns / 1e3:g} us at most: again\n")
    return None


def fail(why: str) -> None:
    """Exit with the reason why nothing can be recorded."""
    sys.stderr.write(f"kernel_runs: {why}\n")
    raise SystemExit(2)


def check_machine(experiment: str, asked: Sequence[str]) -> None:
    """Check that this machine can record, and that the requested names exist."""
    if os.geteuid():
        fail("recording needs root, for network namespaces and real-time priority")
    if not TUN.exists():
        fail(f"recording needs {TUN}")
    for program in PROGRAMS:
        if not shutil.which(program):
            fail(f"recording needs the program `{program}`")
    for control in CONTROLS:
        if control not in available():
            fail(f"this kernel has no `{control}`, only {', '.join(available())}")
    known = (*worlds(experiment), *CONTROLS)
    for name in asked:
        if name not in known:
            fail(f"there is no world or control {name!r}; {nearest(name, known)}")


def available() -> Sequence[str]:
    """Return the congestion controls of this kernel."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()


def record(experiment: str, asked: Sequence[str], repetitions: int, traces: Path | None, *, anew: bool) -> None:
    """Record the missing repetitions of the requested set-ups, and keep earlier recordings."""
    known, out, step = worlds(experiment), OUT[experiment], STEPS[experiment]
    names = [name for name in known if name in asked] or list(known)
    controls = [control for control in CONTROLS if control in asked] or list(CONTROLS)
    runs = json.loads(out.read_text(encoding="utf-8"))["runs"] if out.exists() else {}
    head = {"kernel": f"Linux {platform.release().partition('-')[0]}", "mss": MSS_BYTES}
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        link = Path(place) / "link"
        shell("cc", "-O2", "-D_GNU_SOURCE", "-o", str(link), str(LINK))
        for name, control in itertools.product(names, controls):
            done = [] if anew else runs.get(name, {}).get(control, [])
            for number in range(len(done), repetitions):
                trace = traces / f"{name}-{control}-{number}" if traces else None
                if run := repetition(link, known[name], control, trace, step):
                    done.append(run)
            if len(done) < repetitions:
                missing.append(f"{name} {control}: {len(done)} of {repetitions}")
            if not done:
                continue
            runs.setdefault(name, {})[control] = done
            ends = [run[0]["completion_s"] for run in done]
            late = [max(run[0]["late_us"][at] for run in done) for at in (0, 1)]
            sys.stdout.write(f"{name} {control} {ends} late {late[0]:.1f}, {late[1]:.0f} us\n")
            sys.stdout.flush()
            write({name: runs[name] for name in known if name in runs}, out, head | {"step_s": step})
    if missing:
        raise SystemExit("this machine was too busy to keep real time: " + "; ".join(missing))


def write(runs: dict[str, dict[str, list[list[Run]]]], out: Path, head: dict[str, Any]) -> None:
    """Write the recordings, one line per repetition."""
    worlds_text = []
    for name, by_control in runs.items():
        lines = []
        for control, done in by_control.items():
            texts = ",\n".join(f"   {json.dumps(item, separators=(',', ':'))}" for item in done)
            lines.append(f'  "{control}": [\n{texts}\n  ]')
        worlds_text.append(f' "{name}": {{\n' + ",\n".join(lines) + "\n }")
    text = json.dumps(head)[:-1] + ',\n"runs": {\n' + ",\n".join(worlds_text) + "\n}}\n"
    out.write_text(text, encoding="utf-8")


def main() -> None:
    """Record what the command line requests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiment", choices=OUT, default="kernel", help="which set-ups")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="how many there are to be then")
    parser.add_argument("--anew", action="store_true", help="throw away what is recorded of what is asked for")
    parser.add_argument("--traces", type=Path, help="a folder for what passed, packet by packet, and for samples")
    parser.add_argument("asked", nargs="*", metavar="WORLD|CONTROL")
    options = parser.parse_args()
    check_machine(options.experiment, options.asked)
    if options.traces:
        options.traces.mkdir(parents=True, exist_ok=True)
    record(options.experiment, options.asked, options.repetitions, options.traces, anew=options.anew)


if __name__ == "__main__":
    main()
