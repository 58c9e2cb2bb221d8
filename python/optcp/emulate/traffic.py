"""Real TCP connections for the flows of a scenario: a program that runs in a network namespace.

It reads its task as JSON from standard input, and prints the errors of connections as JSON. It uses the standard
library only, so that it starts fast.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any

FIRST_PORT = 20_000
"""Port of the sender of the first flow; each flow has the next one."""
SERVER_PORT = 7_000
CHUNK = 1 << 16
TCP_CONGESTION = 13


def receive(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Accept connections and discard their data, until the standard input ends."""
    server = socket.create_server((task["address"], SERVER_PORT), backlog=4096)

    def discard(connection: socket.socket) -> None:
        # The operating system takes each packet at once, but wakes this program only for a whole chunk.
        chunk, flags = bytearray(CHUNK), socket.MSG_WAITALL | socket.MSG_TRUNC
        with connection:
            try:
                while connection.recv_into(chunk, flags=flags):
                    pass
            except OSError:
                pass

    def accept() -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=discard, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    return []


def send(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Open the connections at their times, and send their data until the end of the run."""
    found: list[dict[str, Any]] = []
    print("ready", flush=True)
    began = float(sys.stdin.readline())
    until = began + task["stop_s"]
    threads = [
        threading.Thread(target=_transfer, args=(flow, began, until, found), daemon=True) for flow in task["flows"]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0) + 1)
    return found


def _transfer(flow: dict[str, Any], began: float, until: float, found: list[dict[str, Any]]) -> None:
    result: dict[str, Any] = {"name": flow["name"], "error": None}
    found.append(result)
    time.sleep(max(began + flow["start_s"] - time.monotonic(), 0))
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, flow["congestion"].encode())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            connection.bind(("", flow["port"]))
            connection.connect((flow["to"], SERVER_PORT))
            _write(connection, flow["bytes"], until)
            # The socket stays open until its data is acknowledged.
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(max(until - time.monotonic(), 0.001))
            connection.recv(1)
    except TimeoutError:
        pass
    except OSError as error:
        result["error"] = error.strerror or str(error)


def _write(connection: socket.socket, size: int | None, until: float) -> None:
    data = bytes(CHUNK)
    left = size
    while (left is None or left > 0) and (time_left := until - time.monotonic()) > 0:
        connection.settimeout(time_left)
        sent = connection.send(data if left is None else data[:left])
        left = None if left is None else left - sent


def main() -> None:
    """Read the task and carry it out."""
    task = json.loads(sys.stdin.readline())
    print(json.dumps({"send": send, "receive": receive}[task["role"]](task)), flush=True)


if __name__ == "__main__":
    main()
