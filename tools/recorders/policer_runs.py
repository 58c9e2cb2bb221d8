"""Record Linux's TCP behind a policer, as in the scenario ``policed``, into ``kernel_policed.json``.

The machine's own kernel sends for :data:`END_S` over a link in real time (``paths_link.c``), whose policer has the rate
and bursts of docs/details/token-buckets.md. ``mptcp_runs.py`` has the same requirements and settings.

Usage: ``python tools/recorders/policer_runs.py [--repetitions N] [--anew] [CONTROL ...]``
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernel_runs import LATE_S, LATEST_S, MOST_TRIES, ZEROS, set_realtime_priority
from linux_uml_runs import child, shell
from mptcp_runs import ADDRESS, FORWARDED, LINK, PORT, RECEIVER, SENDER, enter_namespace
from optcp_papers.evidence.policed import AFTER_S, BURSTS_KB, CONTROLS, END_S
from records import RECORDS

Run = dict[str, Any]

OUT = RECORDS / "kernel_policed.json"
REPETITIONS = 3
RATE_BPS, POLICED_BPS, DELAY_MS, QUEUE = 100_000_000, 10_000_000, 20, 667
"""Rates of the link and of the policer, delay in each direction, and packets in the queue."""


def receive(gives: socket.socket) -> None:
    """Accept a connection and read its data until killed."""
    enter_namespace(RECEIVER, gives, 1)
    server = socket.create_server((ADDRESS.format(link=0, end=RECEIVER), PORT))
    buffer = bytearray(1 << 20)
    set_realtime_priority(40)
    gives.send(b".")
    connection, _ = server.accept()
    while connection.recv_into(buffer):
        pass


def send(gives: socket.socket, control: str) -> None:
    """Send data until the run ends."""
    enter_namespace(SENDER, gives, 1)
    gives.recv(1)
    set_realtime_priority(30)
    sender = socket.socket()
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    sender.connect((ADDRESS.format(link=0, end=RECEIVER), PORT))
    end = time.monotonic() + END_S
    sender.settimeout(END_S)
    with contextlib.suppress(TimeoutError):
        while time.monotonic() < end:
            sender.send(ZEROS)
    gives.send(b".")
    time.sleep(END_S)


def transfer(link: Path, control: str, burst_kb: int) -> str:
    """Run once, and return the output of the link."""
    receiver, from_receiver = child(receive)
    sender, from_sender = child(send, control)
    devices = [socket.recv_fds(end, 1, 1)[1][0] for end in (from_sender, from_receiver)]
    words = ["link", *devices, RATE_BPS, QUEUE, DELAY_MS * 1_000_000, POLICED_BPS, burst_kb * 1000, 0, 0]
    process = subprocess.Popen(  # noqa: S603 - compiled from the file beside this one
        [str(link), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=devices
    )
    from_sender.send(from_receiver.recv(1))
    from_sender.recv(1)
    output, _ = process.communicate()
    for number in (sender, receiver):
        os.kill(number, 9)
        os.waitpid(number, 0)
    for file in (*devices, from_sender.detach(), from_receiver.detach()):
        os.close(file)
    return output


def measured(output: str) -> tuple[Run, float, float]:
    """Return goodput and losses of the measured part; and mean and maximum lateness in s.

    Goodput is the new data that pass the policer, which arrive a constant delay later.
    """
    passed: set[int] = set()
    new_bytes = sent = lost = 0
    late = [0, 0, 0]
    for line in output.splitlines():
        kind, *words = line.split()
        if kind == "late":
            late = [int(word) for word in words]
        elif kind == "data":
            _, at, seq, size, fate = map(int, words)
            is_measured = AFTER_S <= at / 1e9 < END_S
            is_new = fate == FORWARDED and seq not in passed
            if is_new:
                passed.add(seq)
            new_bytes += size if is_new and is_measured else 0
            sent += is_measured
            lost += is_measured and fate != FORWARDED
    run = {
        "goodput_mbps": round(8e-6 * new_bytes / (END_S - AFTER_S), 3),
        "lost_pct": round(100 * lost / sent, 3) if sent else None,
    }
    return run, late[1] / 1e9, late[2] / 1e9


def repetition(link: Path, control: str, burst_kb: int) -> Run | None:
    """Run once over a link that was not late; None if all attempts were late."""
    for _ in range(MOST_TRIES):
        run, late_s, latest_s = measured(transfer(link, control, burst_kb))
        if run["lost_pct"] is not None and late_s <= LATE_S and latest_s <= LATEST_S:
            return run | {"late_us": [round(late_s * 1e6, 1), round(latest_s * 1e6)]}
        sys.stdout.write(f"late by {late_s * 1e6:g} us in the mean and {latest_s * 1e6:g} us at most: again\n")
    return None


def record(asked: Sequence[str], repetitions: int, *, anew: bool) -> None:
    """Record the missing repetitions of the requested controls, and keep earlier recordings."""
    runs = json.loads(OUT.read_text(encoding="utf-8"))["runs"] if OUT.exists() else {}
    head = {"kernel": f"Linux {platform.release().partition('-')[0]}", "after_s": AFTER_S, "end_s": END_S}
    with tempfile.TemporaryDirectory() as place:
        link = Path(place) / "link"
        shell("cc", "-O2", "-D_GNU_SOURCE", "-o", str(link), str(LINK))
        for control, burst_kb in itertools.product(asked or CONTROLS, BURSTS_KB):
            by_burst = runs.setdefault(control, {})
            done = [] if anew else by_burst.get(str(burst_kb), [])
            for _ in range(len(done), repetitions):
                if run := repetition(link, control, burst_kb):
                    done.append(run)
                    sys.stdout.write(f"{control} {burst_kb} kB {run}\n")
                    sys.stdout.flush()
            by_burst[str(burst_kb)] = done
            OUT.write_text(json.dumps(head | {"runs": runs}, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Record what the command line requests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="how many there are to be then")
    parser.add_argument("--anew", action="store_true", help="throw away what is recorded of what is asked for")
    parser.add_argument("asked", nargs="*", choices=(*CONTROLS, []), metavar="CONTROL")
    options = parser.parse_args()
    record(options.asked, options.repetitions, anew=options.anew)


if __name__ == "__main__":
    main()
