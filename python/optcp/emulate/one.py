"""One run in real time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.emulate import hosts, traffic
from optcp.emulate.clock import stops_clock, wait_for_start
from optcp.emulate.sockets import sampled
from optcp.errors import InputError, RunFailed, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optcp.emulate.sockets import Sample

MOST_LATE_S = 0.002
"""Lateness that 99.9 % of the packets of a valid run do not exceed."""
PRIORITY = 10
"""Real-time priority of the emulation, below the operating system."""
CHECK_S = 0.02
"""Interval of checks whether the command has ended."""
GRACE_S = 2.0
"""Time that programs have to end."""
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
CONTROLS = ("reno", "cubic", "bbr", "vegas", "dctcp")
"""Congestion controls that Linux has, under the same names."""


@dataclass(frozen=True)
class Task:
    """Task of a run.

    Attributes
    ----------
    nodes
        Namespace of each node whose packets are real.
    command
        Program in the namespace of the first node, with whose end the run ends. Without one, real TCP connections carry
        the flows of the scenario.
    services
        Programs that start before it: namespace, and command for the shell.
    congestion
        Congestion control of the operating system for all flows; by default the one of their TCP.
    """

    nodes: Mapping[str, str]
    command: Sequence[str] = ()
    services: Sequence[tuple[str, str]] = ()
    congestion: str | None = None


@dataclass(frozen=True)
class Emulated:
    """Result of a run in real time.

    Attributes
    ----------
    run
        Result of the simulated network.
    ended_s
        End of the run in s.
    packets
        Number of packets that left the simulation.
    refused
        Number of these that an interface did not take.
    median_s, p999_s, max_s
        Lateness: real time minus simulated time at which packets left the simulation.
    overrun
        Packets that the operating system dropped before they were read.
    status
        Exit status of the command; None without one, or if the scenario ended first.
    sockets
        States of the TCP sockets of all nodes, every 10 ms.
    """

    run: _core.Run
    ended_s: float
    packets: int
    refused: int
    median_s: float
    p999_s: float
    max_s: float
    overrun: int = 0
    status: int | None = None
    sockets: list[Sample] = field(default_factory=list)

    @property
    def fault(self) -> str | None:
        """Return why the run is not valid; None if it is."""
        if self.overrun:
            return f"{self.overrun} packets were dropped because they were not read in time"
        if self.refused:
            return f"{self.refused} packets were refused by their interface"
        if self.p999_s > MOST_LATE_S:
            return (
                f"99.9 % of the packets were up to {1e3 * self.p999_s:.1f} ms late, "
                f"more than {1e3 * MOST_LATE_S:.0f} ms: use a faster or less busy machine, or lower rates"
            )
        return None


def check_names(resolved: dict[str, Any], task: Task) -> None:
    """Check the names of nodes and namespaces against a resolved scenario.

    Raises
    ------
    InputError
        If one is unknown or not suitable.
    """
    known = [name for node in resolved["nodes"] for name in _names(node)]
    for node in task.nodes:
        if node not in known:
            raise InputError(f"--node {node}: the scenario has no such node; {nearest(node, known)}")
    machines = hosts.named(task.nodes)
    for namespace, _ in task.services:
        _host(machines, namespace)


def check_congestion(task: Task) -> None:
    """Check that the operating system has the congestion control of a task.

    Raises
    ------
    InputError
        If it does not.
    """
    known = AVAILABLE.read_text(encoding="ascii").split()
    if task.congestion is not None and task.congestion not in known:
        raise InputError(f"--congestion {task.congestion}: not available here; {nearest(task.congestion, known)}")


def once(scenario: _core.Scenario, seed: int, task: Task, capture: Path | None = None) -> Emulated:
    """Execute a scenario in real time.

    Raises
    ------
    InputError
        If a node is unknown, no flow is between the nodes, or a name is wrong.
    RunFailed
        If this machine cannot do it, or a program cannot be started.
    """
    hosts.check()
    resolved = json.loads(scenario.resolved())
    check_names(resolved, task)
    check_congestion(task)
    emulation = _core.Emulation(scenario, seed, list(task.nodes), waiting=stops_clock())
    flows = emulation.flows()
    if not flows:
        raise InputError(f"the scenario has no TCP flow between {' and '.join(task.nodes)}")
    machines = hosts.named(task.nodes)
    with hosts.created(machines, max(flow["mtu"] for flow in flows)) as devices, contextlib.ExitStack() as stack:
        for namespace, command in task.services:
            host = _host(machines, namespace)
            stack.enter_context(_program(host.command("sh", "-c", command)))
        taps = [(host.node, list(host.addresses), device) for host, device in zip(machines, devices, strict=True)]
        if task.command:
            wait_for_start()
            main = stack.enter_context(_program(machines[0].command(*task.command), machines))
            with sampled(machines) as samples:
                run, report = _executed(emulation, taps, capture, lambda: main.poll() is None)
            return Emulated(run=run, overrun=_overrun(machines), status=main.poll(), sockets=samples, **report)
        plan = [(host, _of_host(host, machines, flows, resolved, task.congestion)) for host in machines]
        for host, _ in plan:
            stack.enter_context(_child(host, {"role": "receive", "address": host.addresses[0]}))
        senders = [stack.enter_context(_child(host, {"role": "send", **one})) for host, one in plan if one["flows"]]
        wait_for_start()
        for sender in senders:
            _tell(sender, f"{time.monotonic()}\n")
        # These connections use IPv4.
        with sampled(machines, [socket.AF_INET]) as samples:
            run, report = _executed(emulation, taps, capture, lambda: True)
        overrun = _overrun(machines)
        connections = [one for sender in senders for one in _answer(sender)]
    for one in connections:
        if one["error"] is not None and one["error"] != "Connection timed out":
            raise RunFailed(f"connection of flow `{one['name']}`: {one['error']}")
    return Emulated(run=run, overrun=overrun, sockets=samples, **report)


def _executed(
    emulation: _core.Emulation, taps: list[Any], capture: Path | None, go_on: Callable[[], bool]
) -> tuple[_core.Run, dict[str, Any]]:
    """Execute a run in another thread, and end it when ``go_on`` returns False. This thread hears Ctrl-C."""
    cancel = _core.Cancel()

    def work() -> tuple[_core.Run, dict[str, Any]]:
        with _hurried():
            return emulation.run(taps, cancel, capture=capture)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(work)
        try:
            while not wait([running], CHECK_S).done:
                if not go_on():
                    cancel.cancel()
        finally:
            cancel.cancel()
        return running.result()


def _names(node: Any) -> list[str]:  # noqa: ANN401 - a node of a resolved scenario
    return [node] if isinstance(node, str) else [node["name"]]


def _host(machines: Sequence[hosts.Host], namespace: str) -> hosts.Host:
    found = next((host for host in machines if namespace in (host.namespace, host.node)), None)
    if found is None:
        names = [host.namespace for host in machines]
        raise InputError(f"--also {namespace}: no such namespace; {nearest(namespace, names)}")
    return found


def _of_host(
    host: hosts.Host,
    machines: Sequence[hosts.Host],
    flows: Sequence[dict[str, Any]],
    resolved: dict[str, Any],
    congestion: str | None,
) -> dict[str, Any]:
    """Return the task of the sender at a host."""
    addresses = {one.node: one.addresses[0] for one in machines}
    tasks = [
        {
            "name": flow["name"],
            "to": addresses[flow["to"]],
            "port": traffic.FIRST_PORT + number,
            "start_s": flow["start_ps"] / 1e12,
            "bytes": flow["bytes"],
            "congestion": congestion or _control(flow, resolved["tcp"]),
        }
        for number, flow in enumerate(flows)
        if flow["from"] == host.node
    ]
    return {"flows": tasks, "stop_s": resolved["stop_ps"] / 1e12}


def _control(flow: dict[str, Any], tables: dict[str, Any]) -> str:
    name = tables[flow["tcp"]]["congestion"]
    if name not in CONTROLS:
        raise InputError(
            f"flow `{flow['name']}`: Linux has no congestion control `{name}`; choose one with --congestion"
        )
    return str(name)


@contextlib.contextmanager
def _hurried() -> Iterator[None]:
    """Run this thread before others, where the operating system allows it."""
    alone = (os.cpu_count() or 1) < 2 and not stops_clock()
    if alone or not hasattr(os, "sched_setscheduler"):
        yield
        return
    before = os.sched_getscheduler(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, before, os.sched_param(0))


@contextlib.contextmanager
def _program(command: Sequence[str], machines: Sequence[hosts.Host] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program, and end it with all its children."""
    named = {f"OPTCP_{host.node}": host.addresses[0] for host in machines}
    with subprocess.Popen(command, start_new_session=True, env={**os.environ, **named}) as process:
        try:
            yield process
        finally:
            _end(process)


@contextlib.contextmanager
def _child(host: hosts.Host, task: dict[str, Any]) -> Iterator[subprocess.Popen[str]]:
    """Start the program of :mod:`optcp.emulate.traffic` in a namespace, and wait until it is ready."""
    command = host.command(sys.executable, traffic.__file__)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        try:
            _tell(process, json.dumps(task) + "\n")
            if process.stdout is None or process.stdout.readline().strip() != "ready":
                raise RunFailed(f"the traffic of node {host.node} could not be started")
            yield process
        finally:
            _end(process)


def _tell(process: subprocess.Popen[str], text: str) -> None:
    if process.stdin is not None:
        process.stdin.write(text)
        process.stdin.flush()


def _answer(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    text = process.communicate(timeout=30)[0]
    found: list[dict[str, Any]] = json.loads(text) if text.strip() else []
    return found


def _end(process: subprocess.Popen[Any]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)


def _overrun(machines: Sequence[hosts.Host]) -> int:
    """Packets that interfaces dropped because nobody read them."""
    dropped = 0
    for host in machines:
        done = subprocess.run(
            host.command("cat", f"/sys/class/net/{hosts.INTERFACE}/statistics/tx_dropped"),
            check=False,
            capture_output=True,
            text=True,
        )
        dropped += int(done.stdout or 0)
    return dropped
