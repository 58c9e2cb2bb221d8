"""Record Linux's queue disciplines, into ``queue_linux.json``; not part of the program.

``queue_linux_build.sh FOLDER [TREE]`` builds the kernel; then, as root: ``python queue_linux.py FOLDER [WORLD ...]``,
forty minutes for all set-ups. The file boots that kernel with itself as the first process. Time in it is simulated
(``time-travel=inf-cpu``): computation takes no time, and a sleep ends exactly on time. Nothing is late, and the machine
has no influence. Repetitions only differ by the kernel's random draws: RED, PIE, DualPI2, the hash of FQ-CoDel, and in
has no influence. Repetitions only differ by the kernel's random draws: RED, PIE, DualPI2 and the hash of FQ-CoDel. In
TCP set-ups, start times in microseconds have an effect too. Reading a clock takes 256 ns, so it advances in such steps.

Three network namespaces form a line: sender, router, receiver, with veth pairs of MTU 1486 between them. A full packet
has 1500 bytes including its Ethernet header, and Linux's disciplines count this size. The discipline is at the router
below a token bucket of one packet (``tbf rate R burst 1501``), which is the link; there is no other queue. A token
bucket requests the next packet when it has released one, and holds it until its time. The discipline thus releases a
packet when a link would start to send it, and packets leave at the end of their transmission time. Only the first
packet of a busy period leaves immediately, as if the link had just sent one. The packet in the token bucket still
counts in the discipline's length. ``qdisc_peek_head`` leaves it in the queue (FIFOs, RED), and ``qdisc_peek_dequeued``
still counts it (the others). ``netem`` delays packets of the receiver by the RTT. ``disciplines`` holds the commands,
and as the last entry the output of ``tc -d qdisc show``.

``udp`` set-ups send a burst of four packets at time 0 (the first leaves immediately, the others wait). From
``first_ns`` they send one packet per ``every_ns``. Packets are numbered from 0 in sending order, including the burst.
Each of ``sources`` uses its own ports, only the first sends a burst, and ``from_s`` is added to ``first_ns``. ``runs``
holds the repetitions. From the second one on it only holds short values, and whether the same packets were lost and
marked (``lost_as_first``):

* ``sent``, ``delivered``: packets by source. ``lost``: numbers of lost packets of the first 1000 (200 if the discipline
  is random), each as the difference from the previous one (the first from -1). ``marked``: numbers of packets that
  arrived with CE, in the same form. ``lost_in_all``, ``marked_in_all``: totals.
* ``lost_at_ms``: for the first 100 lost packets the time at which the next delivered one was taken from the queue;
  the time of the drop for disciplines that drop at the head.
* ``off_grid_us``: maximum deviation of delivery times from whole transmission times of a link; 0 with several sources.
* ``sojourn_ms``: quantiles 0.05, 0.25, 0.5, 0.75, 0.95, 1 of the time from arrival to leaving the queue, by source;
  negative if a packet found the link idle and the token bucket released it immediately.
* ``state``: statistics of the discipline, every 100 ms; names of columns in ``state_columns``.
* ``prob_each_15_ms``: the probability of PIE and DualPI2 in the first 6 s. The kernel reports it without its integer
  part, which is reconstructed from samples every 5 ms.
* ``counters``: the kernel's counters at the end.

``tcp`` set-ups are greedy flows of ``controls`` that start 0.1 s apart, measured from :data:`WARM_S` to the end.
``goodput_mbps`` is the acknowledged data of each flow. ``queue_packets`` has quantiles as above, and the mean, sampled
every 5 ms, or every 2 ms with DCTCP. Further values are ``marks_per_s``, ``drops_per_s``, and from the start ``cwnd``
of the first flow every 0.25 s. With DCTCP: ``alpha`` and ``dctcp_cwnd`` of all its flows, every 25 ms (quantiles and
mean), and ``queue_series``, 400 samples. With DualPI2: ``prob`` and the delays of both queues, quantiles and mean.
Flows to port 9000 use the first control; with ``dualpi2-dctcp`` a filter puts them into the L queue for any ECN field.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from queue_linux_netlink import state, step
from queue_linux_worlds import DISCIPLINES, FRAME, PORT, TCP, UDP
from records import RECORDS

HERE = Path(__file__).resolve()
OUT = RECORDS / "queue_linux.json"
HEADERS = 14 + 20 + 8
WARM_S = 5.0
WINDOW_BYTES = 600_000
"""Receive window: larger than any link and queue here can hold."""
CLOCK, ABSOLUTE, SLACK, TIMESTAMPS = 1, 1, 29, 35
STEP_MS, LOOK_MS = 100, 5
TICK_MS = 25
"""Interval of the senders' samples."""
SAMPLE_MS = {True: 2, False: 5}
"""Interval of the queue's samples, by whether a flow uses DCTCP."""
MOST = 1000
"""Number of stored packet numbers; 200 for random disciplines."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1)
KEPT = {
    "codel": ("count", "lastcount", "dropping"),
    "pie": ("prob", "delay_us"),
    "red": (),
    "fq_codel": ("new_flows_len", "old_flows_len"),
    "dualpi2": ("prob", "delay_c_us", "delay_l_us"),
}
"""Columns of disciplines that are stored over time, after queue length and bytes."""
RANDOM = {"pie", "red", "dualpi2"}

library = ctypes.CDLL(None)


class Timespec(ctypes.Structure):
    """C structure ``timespec``."""

    _fields_ = (("s", ctypes.c_long), ("ns", ctypes.c_long))


def sleep_until(at_ns: int) -> None:
    """Sleep until a time of the monotonic clock."""
    library.clock_nanosleep(CLOCK, ABSOLUTE, ctypes.byref(Timespec(*divmod(at_ns, 10**9))), None)


def shell(*lines: str) -> None:
    """Run system commands."""
    subprocess.run(";".join(("set -e", *lines)), check=True, shell=True)  # noqa: S602 - only what stands in this file


def child(run: Any, *arguments: object) -> tuple[int, socket.socket]:  # noqa: ANN401 - any function
    """Run a function in a child process with its own network namespace; return its ID, and a connection to it."""
    ours, theirs = socket.socketpair()
    number = os.fork()
    if not number:
        try:
            library.unshare(0x4000_0000)  # CLONE_NEWNET
            library.prctl(SLACK, 1, 0, 0, 0)
            theirs.send(b".")
            theirs.recv(1)
            run(theirs, *arguments)
        except BaseException:  # noqa: BLE001 - nobody else would tell
            traceback.print_exc()
        finally:
            os._exit(0)
    ours.recv(1)
    return number, ours


def send_message(end: socket.socket, what: object) -> None:
    """Send a message to another process."""
    text = json.dumps(what).encode()
    end.sendall(struct.pack("<Q", len(text)) + text)


def receive_message(end: socket.socket) -> Any:  # noqa: ANN401 - messages have any type
    """Receive a message from another process."""
    (length,) = struct.unpack("<Q", end.recv(8, socket.MSG_WAITALL))
    return json.loads(end.recv(length, socket.MSG_WAITALL))


def network(sender: int, receiver: int, rtt_ms: float, rate_mbps: float, discipline: list[str]) -> None:
    """Set up links between two namespaces, with this one as the router."""
    lines = ["sysctl -qw net.ipv4.ip_forward=1 2>/dev/null || echo 1 > /proc/sys/net/ipv4/ip_forward"]
    for number, (name, pid) in enumerate((("s0", sender), ("d0", receiver))):
        mac = f"02:00:00:00:0{number}"
        lines += [
            f"ip link add name r{number} mtu 1486 address {mac}:01 type veth"
            f" peer name {name} mtu 1486 address {mac}:02",
            f"ip link set {name} netns {pid}",
            f"ip addr add 10.{number}.0.2/24 dev r{number}",
            f"ip link set r{number} up",
            f"ip neigh add 10.{number}.0.1 lladdr {mac}:02 dev r{number} nud permanent",
        ]
    if rtt_ms:
        lines.append(f"tc qdisc add dev r0 root netem delay {rtt_ms}ms limit 100000")
    lines.append(f"tc qdisc add dev r1 root handle 1: tbf rate {rate_mbps}mbit burst 1501 limit 100000000")
    kind, *more = discipline
    if not kind.startswith("step"):
        lines += [f"tc qdisc add dev r1 parent 1:1 handle 3: {kind}", *more]
    shell(*lines)
    if kind.startswith("step"):
        step(int(kind.split()[1]) * FRAME)


def own_network(number: int) -> None:
    """Set up this namespace's end of a link."""
    name = ("s0", "d0")[number]
    mac = f"02:00:00:00:0{number}"
    shell(
        f"ip addr add 10.{number}.0.1/24 dev {name}",
        f"ip link set {name} gso_max_segs 1 up",
        f"ip neigh add 10.{number}.0.2 lladdr {mac}:01 dev {name} nud permanent",
        f"ip route add default via 10.{number}.0.2",
    )


def send_udp(end: socket.socket, world: dict[str, Any]) -> None:
    """Send the packets of the sources, and report their send times."""
    own_network(0)
    send_message(end, 0)
    begin = receive_message(end)
    plan: list[tuple[int, int]] = []
    for number, source in enumerate(world["sources"]):
        if not number:
            plan += [(0, number)] * 4
        at = source["first_ns"] + round(source.get("from_s", 0) * 1e9)
        while at < source["until_s"] * 1e9:
            plan.append((at, number))
            at += source["every_ns"]
    plan.sort()
    sockets, fillings = [], []
    for number, source in enumerate(world["sources"]):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, source["ect"])
        one.bind(("", 8000 + number))
        one.connect(("10.1.0.1", PORT + number))
        sockets.append(one)
        fillings.append(bytes(source["bytes"] - HEADERS - 8))
    for packet, (at, number) in enumerate(plan):
        if at or not packet:
            sleep_until(begin + at)
        sockets[number].send(struct.pack("<Q", packet) + fillings[number])
    send_message(end, plan)
    end.recv(1)


def receive_udp(end: socket.socket, world: dict[str, Any]) -> None:
    """Report number, time and ECN field of each packet after the request to stop."""
    own_network(1)
    sockets = []
    for number in range(len(world["sources"])):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        one.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)
        one.setsockopt(socket.SOL_SOCKET, 33, 1 << 27)  # SO_RCVBUFFORCE: nothing is read before the end
        one.bind(("", PORT + number))
        sockets.append(one)
    send_message(end, 0)
    end.recv(1)
    rows = []
    for one in sockets:
        one.setblocking(False)
        while True:
            try:
                data, more, _, _ = one.recvmsg(2048, 128)
            except BlockingIOError:
                break
            ancillary = {kind: content for _, kind, content in more}
            seconds, rest = struct.unpack("<qq", ancillary[TIMESTAMPS])
            rows.append((struct.unpack_from("<Q", data)[0], seconds * 10**9 + rest, ancillary[socket.IP_TOS][0] & 3))
    send_message(end, sorted(rows))
    end.recv(1)


def quantiles(values: list[float], digits: int = 3) -> list[float]:
    """Return the stored quantiles."""
    values = sorted(values)
    return (
        [round(values[min(len(values) - 1, int(part * len(values)))], digits) for part in QUANTILES] if values else []
    )


def differences(numbers: list[int]) -> list[int]:
    """Return the differences of consecutive numbers, the first one from -1."""
    return [now - then for then, now in zip([-1, *numbers], numbers, strict=False)]


def udp(world: dict[str, Any]) -> dict[str, Any]:
    """Run unresponsive sources once."""
    sender, to_sender = child(send_udp, world)
    receiver, to_receiver = child(receive_udp, world)
    discipline = DISCIPLINES[world["discipline"]]
    network(sender, receiver, 0, 10, discipline)
    kind = discipline[0].split()[0]
    for end in (to_sender, to_receiver):
        end.send(b".")
        receive_message(end)
    index = socket.if_nametoindex("r1")
    begin = (time.monotonic_ns() // 10**9 + 1) * 10**9
    # Packets have timestamps of the other clock, which advances in the same steps.
    real = time.time_ns() - time.monotonic_ns() + 256
    send_message(to_sender, begin)
    stop = max(source["until_s"] for source in world["sources"])
    series: list[list[Any]] = []
    fine: list[float] = []
    counters: dict[str, Any] = {}
    every = LOOK_MS if kind in {"pie", "dualpi2"} else STEP_MS
    for number in range(1, int(stop * 1000 / every) + 1):
        sleep_until(begin + number * every * 10**6 - 50_000)
        counters = state(index)
        if "prob" in counters:
            # The kernel reports the fractional part of the probability, which can exceed 1 in PIE.
            last = fine[-1] if fine else 0
            counters["prob"] = round(counters["prob"] + round(last - counters["prob"]), 9)
            fine.append(counters["prob"])
        if not number * every % STEP_MS:
            series.append([counters[key] for key in ("qlen", "backlog", "drops", *KEPT.get(kind, ()))])
    plan = receive_message(to_sender)
    sleep_until(begin + round(stop * 1e9) + 3 * 10**9)
    to_receiver.send(b".")
    rows = receive_message(to_receiver)
    counters = state(index)
    finish(sender, receiver, to_sender, to_receiver)
    came = {number: (at - real - begin, field) for number, at, field in rows}
    lost = [number for number in range(len(plan)) if number not in came]
    marked = sorted(number for number, (_, field) in came.items() if field == 3)
    most = 200 if kind in RANDOM else MOST
    after, then = {}, None
    for number in reversed(range(len(plan))):
        then = number if number in came else then
        after[number] = then
    times = [packet["bytes"] * 800 for packet in world["sources"]]
    leaves = {number: came[number][0] - times[plan[number][1]] for number in came}
    at_ms = [round(leaves[after[number]] / 1e6, 4) for number in lost[:100] if after[number] is not None]
    sojourn: list[list[float]] = [[] for _ in world["sources"]]
    for number in came:
        sojourn[plan[number][1]].append((leaves[number] - plan[number][0]) / 1e6)
    # From the second delivery on, while the sources overload the link, deliveries are one transmission time apart.
    at = sorted(arrived for arrived, _ in came.values())
    off = [(arrived - at[1]) % 1_200_000 for arrived in at[1 : len(at) // 2]] if len(times) == 1 else [0]
    return {
        "sent": [sum(source == number for _, source in plan) for number in range(len(times))],
        "delivered": [len(it) for it in sojourn],
        "lost": differences(lost)[:most],
        "lost_in_all": len(lost),
        "marked": differences(marked)[:most],
        "marked_in_all": len(marked),
        "lost_at_ms": at_ms,
        "off_grid_us": max(min(it, 1_200_000 - it) for it in off) / 1000,
        "sojourn_ms": [quantiles(it) for it in sojourn],
        "state_columns": ["qlen", "backlog_bytes", "drops", *KEPT.get(kind, ())],
        "state": series,
        **({"prob_each_15_ms": [float(f"{it:.6g}") for it in fine[2::3]][:400]} if fine else {}),
        "counters": counters,
    }


def finish(sender: int, receiver: int, *ends: socket.socket) -> None:
    """Remove the network."""
    shell("ip link del r0", "ip link del r1")
    for process in (sender, receiver):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    for end in ends:
        end.close()
    time.sleep(1)


def send_tcp(end: socket.socket, world: dict[str, Any]) -> None:
    """Send without end, and report windows and further state over time."""
    own_network(0)
    settings(world)
    send_message(end, 0)
    begin = receive_message(end)
    ends: list[socket.socket] = []
    rows = []
    tick = TICK_MS * 10**6
    for number in range(int(world["stop_s"] * 1e9 / tick)):
        sleep_until(begin + number * tick)
        if not number * TICK_MS % 100 and len(ends) < len(world["controls"]):
            one = socket.socket()
            control = world["controls"][len(ends)]
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
            one.setblocking(False)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("<ii", 1, 0))
            one.connect_ex(("10.1.0.1", PORT + (control != world["controls"][0])))
            ends.append(one)
        row = []
        for one, control in zip(ends, world["controls"], strict=False):
            try:
                while one.send(bytes(1 << 18)):
                    pass
            except BlockingIOError:
                pass
            tcp_info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
            info = struct.unpack_from("<8x24I", tcp_info)
            (acked,) = struct.unpack_from("<Q", tcp_info, 120)
            more = one.getsockopt(socket.IPPROTO_TCP, 26, 32) if control == "dctcp" else b""  # TCP_CC_INFO
            alpha = struct.unpack_from("<HHI", more)[2] if more else 0
            row.append((info[18], info[17], acked, alpha))
        rows.append(row)
    send_message(end, rows)
    end.recv(1)


def settings(world: dict[str, Any]) -> None:
    """Set the TCP settings of this namespace."""
    ipv4 = Path("/proc/sys/net/ipv4")
    for name, value in (
        ("tcp_ecn", str(world["ecn"])),
        ("tcp_no_metrics_save", "1"),
        ("tcp_wmem", "4096 1000000 4000000"),
    ):
        (ipv4 / name).write_text(value, encoding="ascii")


def receive_tcp(end: socket.socket, world: dict[str, Any]) -> None:
    """Read received data."""
    own_network(1)
    settings(world)
    servers = []
    for number in range(2):
        server = socket.socket()
        # Reading only every 10 ms must have no effect. With such a large buffer the window never shrinks, and ACKs
        # leave as if all data were read immediately.
        server.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, WINDOW_BYTES)
        if "dctcp" in world["controls"] and not number:
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")
        server.bind(("10.1.0.1", PORT + number))
        server.listen(100)
        server.setblocking(False)
        servers.append(server)
    send_message(end, 0)
    begin = receive_message(end)
    ends: list[socket.socket] = []
    for number in range(1, int(world["stop_s"] * 100) + 1):
        sleep_until(begin + number * 10_000_000)
        for server in servers:
            try:
                one, _ = server.accept()
            except BlockingIOError:
                continue
            one.setblocking(False)
            ends.append(one)
        for one in ends:
            try:
                while one.recv(1 << 20):
                    pass
            except BlockingIOError:
                pass
    end.recv(1)


def tcp(world: dict[str, Any]) -> dict[str, Any]:
    """Run greedy flows once."""
    sender, to_sender = child(send_tcp, world)
    receiver, to_receiver = child(receive_tcp, world)
    discipline = DISCIPLINES[world["discipline"]]
    network(sender, receiver, world["rtt_ms"], world["rate_mbps"], discipline)
    for end in (to_receiver, to_sender):
        end.send(b".")
        receive_message(end)
    index = socket.if_nametoindex("r1")
    begin = (time.monotonic_ns() // 10**9 + 1) * 10**9
    send_message(to_receiver, begin - 5_000_000)
    send_message(to_sender, begin)
    queue, before, counters = [], {}, {}
    dual: list[list[float]] = []
    every = SAMPLE_MS["dctcp" in world["controls"]]
    for number in range(1, int(world["stop_s"] * 1000 / every)):
        sleep_until(begin + number * every * 10**6 + 333_000)
        counters = state(index)
        if number * every < WARM_S * 1000:
            before = counters
        else:
            queue.append(counters["qlen"])
            if "delay_c_us" in counters:
                dual.append([counters["prob"], counters["delay_c_us"] / 1000, counters["delay_l_us"] / 1000])
    rows = receive_message(to_sender)
    finish(sender, receiver, to_sender, to_receiver)
    span = world["stop_s"] - WARM_S
    warm = [row[2] for row in rows[int(WARM_S * 1000 / TICK_MS) - 1]]
    warm += [0] * (len(world["controls"]) - len(warm))
    goodput = [round((last[2] - first) * 8e-6 / span, 4) for first, last in zip(warm, rows[-1], strict=True)]
    result: dict[str, Any] = {
        "goodput_mbps": goodput,
        "queue_packets": [*quantiles(queue, 0), round(statistics.mean(queue), 3)],
        "drops_per_s": round((counters["drops"] - before["drops"]) / span, 4),
        "cwnd": [row[0][0] for row in rows[250 // TICK_MS - 1 :: 250 // TICK_MS]],
    }
    for key in ("marked", "ecn_mark"):
        if key in counters:
            result["marks_per_s"] = round((counters[key] - before[key]) / span, 4)
    if dual:
        for place, name in enumerate(("prob", "delay_c_ms", "delay_l_ms")):
            values = [row[place] for row in dual]
            result[name] = [*quantiles(values, 6), round(statistics.mean(values), 6)]
        result["step_marks_per_s"] = round((counters["step_marks"] - before["step_marks"]) / span, 4)
    if "dctcp" in world["controls"]:
        many = world["controls"].count("dctcp")
        late = [item for row in rows[int(WARM_S * 1000 / TICK_MS) :] for item in row[:many]]
        alpha = [item[3] / 1024 for item in late]
        result["alpha"] = [*quantiles(alpha, 4), round(statistics.mean(alpha), 5)]
        result["dctcp_cwnd"] = [
            *quantiles([item[0] for item in late], 0),
            round(statistics.mean(item[0] for item in late), 3),
        ]
        result["queue_series"] = queue[:400]
    return result


def text_of(discipline: list[str]) -> str:
    """Return every parameter of a discipline as ``tc`` prints it."""
    network(os.getpid(), os.getpid(), 0, 10, discipline)
    asked = ["tc", "-d", "qdisc", "show", "dev", "r1"]
    output = subprocess.run(asked, check=True, capture_output=True, text=True)  # noqa: S603 - what stands above
    shell("ip link del r0", "ip link del r1")
    return " ".join(line.strip() for line in output.stdout.splitlines()[1:])


def record(asked: list[str]) -> None:
    """Run every set-up as the first process of the kernel, and stop."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    shell("mount -t proc proc /proc", "mount -t sysfs sys /sys", "ip link set lo up")
    library.prctl(SLACK, 1, 0, 0, 0)
    Path("/proc/sys/net/ipv4/tcp_mem").write_text("1000000 1000000 1000000", encoding="ascii")
    runs = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    runs.setdefault("disciplines", {})
    for name, commands in DISCIPLINES.items():
        if runs["disciplines"].get(name, [])[:-1] != commands:
            runs["disciplines"][name] = [*commands, text_of(commands)]
    write(runs)
    for part_name, worlds, run in (("udp", UDP, udp), ("tcp", TCP, tcp)):
        for name, world in worlds.items():
            if asked and not any(word in f"{part_name} {name}" for word in asked):
                continue
            kind = DISCIPLINES[world["discipline"]][0].split()[0]
            repetitions = 3 if kind in RANDOM and part_name == "udp" else 2
            started = time.monotonic()
            done = [run(world) for _ in range(repetitions)]
            runs.setdefault(part_name, {})[name] = world | {"runs": thin(done)}
            shown = ("delivered", "goodput_mbps", "sojourn_ms", "queue_packets", "off_grid_us")
            first = {key: done[0][key] for key in shown if key in done[0]}
            sys.stdout.write(f"{part_name} {name}: {first} {time.monotonic() - started:.0f} s\n")
            sys.stdout.flush()
            write(runs)


LONG = ("prob_each_15_ms", "lost", "marked", "lost_at_ms", "state", "state_columns", "cwnd", "queue_series")


def thin(done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep only short values of later repetitions, and whether the others are equal."""
    first, *others = done
    kept = [first]
    for other in others:
        short = {key: value for key, value in other.items() if key not in LONG}
        if "lost" in other:
            short["lost_as_first"] = all(first[key] == other[key] for key in ("lost", "marked"))
        kept.append({"same_as_first": True} if first == other else short)
    return kept


def write(runs: dict[str, Any]) -> None:
    """Write the recordings, one line per set-up."""
    text = '{"made_by": ' + json.dumps(
        f"Linux {os.uname().release}, as a process, time-travel=inf-cpu, HZ 1000, queue_linux.py"
    )
    for key in ("disciplines", "udp", "tcp"):
        rows = runs.get(key, {})
        lines = [f' "{name}": {json.dumps(row, separators=(",", ":"))}' for name, row in rows.items()]
        text += f',\n"{key}": {{\n' + ",\n".join(lines) + "\n}"
    OUT.write_text(text + "}\n", encoding="utf-8")
    os.sync()


def boot(folder: str, asked: list[str]) -> None:
    """Boot a Linux that runs this file as its first process."""
    place = Path(folder).resolve()
    kernel = [
        str(place / "linux-source-6.1/linux"),
        "time-travel=inf-cpu",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
    ]
    kernel += [
        "rw",
        "quiet",
        "mem=1024M",
        "con=null",
        "con0=fd:0,fd:1",
        f"init={sys.executable}",
        "--",
        str(HERE),
        *asked,
    ]
    subprocess.run(kernel, check=True, env=os.environ | {"LD_PRELOAD": str(place / "floating.so")})  # noqa: S603


if __name__ == "__main__":
    if os.getpid() == 1:
        try:
            record([word.replace("_", " ") for word in sys.argv[1:]])
        except Exception:  # noqa: BLE001 - the kernel stops before anybody else could print it
            traceback.print_exc()
        os.sync()
        sys.stdout.flush()
        library.reboot(0x4321FEDC)
    else:
        boot(sys.argv[1], [word.replace(" ", "_") for word in sys.argv[2:]])
