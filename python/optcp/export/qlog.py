"""Event logs of senders as qlog, for example for qvis (draft-ietf-quic-qlog-main-schema-05 and -quic-events-04).

These drafts define qlog 0.3, whose event names current viewers read. A log is a JSON text sequence with the events of
all connections in the order of time. ``group_id`` is the name of the flow. Packets of QUIC have their packet numbers;
segments of TCP are numbered in the order in which they were sent.
"""

from __future__ import annotations

import heapq
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common.files import replacing
from optcp.errors import InputError
from optcp.export import observations, tabular
from optcp.export.packets import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.data.table import Table
    from optcp.export import Chosen
    from optcp.scenarios.run import Run

    Row = tuple[Any, ...]
    Body = dict[str, Any]

RECORD_SEPARATOR = "\x1e"
PICOSECONDS_PER_MS = 10**9
RECEIVED, UPDATED, SENT, IN_NETWORK = range(4)
"""Order of events at the same time: a sender receives or notices something, then acts; then a port may drop packets."""
STATES = {"slow-start": "slow_start", "avoidance": "congestion_avoidance"}
"""Names of RFC 9002 for the phases of a sender; other phases keep their names."""
PROBED = ("slow-start", "avoidance")
"""Phases in which a retransmission of TCP is a tail loss probe."""
PACKET_TYPE = "1RTT"
PACKET_THRESHOLD = 3
"""kPacketThreshold of RFC 9002 section 6.1.1, and DupThresh of RFC 5681 section 3.2."""
PERSISTENT_CONGESTION_THRESHOLD = 3
"""kPersistentCongestionThreshold of RFC 9002 section 7.6.1."""
MINIMUM_WINDOW = 2
"""kMinimumWindow of RFC 9002 section 7.2, in packets."""


STATE = ("cwnd_bytes", "ssthresh_bytes", "flight_segments", "phase", "timeouts", "ecn_reductions")
"""Columns of the state of a sender."""
NETWORK = ("dropped", "trimmed", "marked")
"""Events of the network that become markers: senders do not notice them."""


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write a log of every observation of packets of the chosen runs (``<cell>-seed-N-NAME.sqlog``).

    Raises
    ------
    optcp.errors.InputError
        If there is no such run, or the runs did not observe packets from the start and the states of senders.
    """
    study = tabular.opened(directory, chosen)
    observations.need(study, ("packets", "tcp"), directory, "qlog", each=True)
    for run in observations.runs(study):
        entries = run.scenario["observe"]
        states = next(entry["name"] for entry in entries if entry["kind"] == "tcp")
        for entry in entries:
            if entry["kind"] != "packets":
                continue
            if entry["after_ps"]:
                raise InputError(
                    f"{directory}: the observation {entry['name']!r} begins after the start of the run, so packet "
                    "numbers are unknown; remove its key `after`, and run the scenario again"
                )
            target = tabular.folder(study) / f"{run.id}-{entry['name']}.sqlog"
            with run.trusted(), replacing(target) as file:
                for record in Log(run, run[entry["name"]], run[states]).records():
                    file.write(f"{RECORD_SEPARATOR}{record}\n".encode())
            yield target, ""


@dataclass
class Connection:
    """A sender, as far as its log needs it.

    Attributes
    ----------
    name
        Name of the flow.
    tcp
        Its resolved options.
    next_number
        Number of the next packet.
    numbers
        Number of the latest transmission of each segment that is not acknowledged.
    edge
        All segments below this one are acknowledged.
    state
        Last row of the observation of its state, by column.
    timeout_ps
        Time of the last RTO or probe timeout.
    """

    name: str
    tcp: dict[str, Any]
    next_number: int = 0
    numbers: dict[int, int] = field(default_factory=dict)
    edge: int = 0
    state: dict[str, Any] = field(default_factory=dict)
    timeout_ps: int = -1

    @property
    def is_quic(self) -> bool:
        """Whether it is QUIC."""
        return bool(self.tcp["recovery"] == "quic")

    @property
    def mss(self) -> int:
        """Data bytes of a packet."""
        return int(self.tcp["mss_bytes"])

    def parameters(self) -> Body:
        """Return the parameters of its recovery."""
        body = {
            "timer_granularity": self.tcp["tick_ps"] // PICOSECONDS_PER_MS,
            "max_datagram_size": self.mss + self.tcp["header_bytes"],
            "initial_congestion_window": self.tcp["initial_window_segments"] * self.mss,
        }
        if self.is_quic:
            body |= {
                "reordering_threshold": PACKET_THRESHOLD,
                "minimum_congestion_window": MINIMUM_WINDOW * self.mss,
                "persistent_congestion_threshold": PERSISTENT_CONGESTION_THRESHOLD,
            }
        return body

    def send(self, at: int, segment: int, size: int, *, again: bool) -> Iterator[tuple[str, Body]]:
        """Yield the events of a packet that leaves, and before it of the loss that it repairs."""
        trigger = ""
        if again:
            trigger, lost = self._reason(at)
            if lost is not None and segment in self.numbers:
                body = {"header": _header(self.numbers[segment])}
                yield "recovery:packet_lost", body | ({"trigger": lost} if lost else {})
        number = self.next_number
        self.next_number += 1
        self.numbers[segment] = number
        sent = {"header": _header(number), "raw": {"length": size}, "frames": self._frames(segment, size)}
        yield "transport:packet_sent", sent | ({"trigger": trigger} if trigger else {})

    def _reason(self, at: int) -> tuple[str, str | None]:
        """Return the reasons of a retransmission and of the loss, empty if unknown; None: nothing is thought lost."""
        phase = self.state.get("phase")
        if self.is_quic:
            # RFC 9002 section 6.2.4: a probe timeout does not declare losses.
            return ("pto_probe", None) if at == self.timeout_ps else ("", "")
        if phase == "loss":
            return "retransmit_timeout", "pto_expired"
        if phase in PROBED and self.tcp["tail_loss_probe"]:
            return "pto_probe", None
        if phase == "recovery" and self.tcp["loss_detection"] == "duplicates":
            return "retransmit_reordered", "reordering_threshold"
        return "", ""

    def _frames(self, segment: int, size: int) -> list[Body]:
        place = segment - int(self.tcp["handshake"])
        if place >= 0:
            return [{"frame_type": "stream", "stream_id": 0, "offset": place * self.mss, "length": self.mss}]
        payload = max(size - int(self.tcp["header_bytes"]), 0)
        return [{"frame_type": "crypto", "offset": 0, "length": payload}] if self.is_quic else []

    def receive(self, edge: int, blocks: str, size: int) -> Iterator[tuple[str, Body]]:
        """Yield the event of an ACK that arrives."""
        edges = [tuple(int(end) for end in block.split(":")) for block in blocks.split()]
        acked = [self.numbers.pop(segment) for segment in range(self.edge, edge) if segment in self.numbers]
        self.edge = max(self.edge, edge)
        if self.is_quic:
            ranges = [[start, end - 1] if end - 1 > start else [start] for start, end in edges]
        else:
            for start, end in edges:
                acked += [self.numbers.pop(segment) for segment in range(start, end) if segment in self.numbers]
            ranges = _ranges(acked)
        frame: Body = {"frame_type": "ack"} | ({"acked_ranges": ranges} if ranges else {})
        # The numbers of packets with ACKs are not simulated.
        body = {"header": {"packet_type": PACKET_TYPE}, "raw": {"length": size}, "frames": [frame]}
        yield "transport:packet_received", body

    def update(self, at: int, state: dict[str, Any]) -> Iterator[tuple[str, Body]]:
        """Yield the events of a new state."""
        before, self.state = self.state, state
        if state["timeouts"] > before.get("timeouts", 0):
            self.timeout_ps = at
            yield "recovery:loss_timer_updated", {"timer_type": "pto", "event_type": "expired"}
        if state["phase"] != before.get("phase"):
            named = {"new": STATES.get(state["phase"], state["phase"])}
            if before:
                named = {"old": STATES.get(before["phase"], before["phase"]), **named}
            marked = state["ecn_reductions"] > before.get("ecn_reductions", 0)
            yield "recovery:congestion_state_updated", named | ({"trigger": "ECN"} if marked else {})
        metrics, known = self._metrics(state), self._metrics(before) if before else {}
        if changed := {name: value for name, value in metrics.items() if known.get(name) != value}:
            yield "recovery:metrics_updated", changed

    def _metrics(self, state: dict[str, Any]) -> dict[str, int]:
        flight = state["flight_segments"]
        metrics = {
            "congestion_window": state["cwnd_bytes"],
            "ssthresh": state["ssthresh_bytes"],
            "bytes_in_flight": flight * self.mss,
            "packets_in_flight": flight,
        }
        # A threshold that is not set yet is infinite.
        return {name: int(value) for name, value in metrics.items() if math.isfinite(value)}


class Log:
    """The records of a log.

    Parameters
    ----------
    run
        The run.
    packets, states
        Its observations of packets and of the states of senders.
    """

    def __init__(self, run: Run, packets: Table, states: Table) -> None:
        self.run = run
        self.packets = packets
        self.states = states
        self.world = World.of(run)
        self.connections: dict[str, Connection | None] = {}
        tcp = [group["tcp"] for group in run.scenario["flows"]]
        protocols = {"QUIC" if run.scenario["tcp"][name]["recovery"] == "quic" else "TCP" for name in tcp}
        self.protocol = protocols.pop() if len(protocols) == 1 else None

    def records(self) -> Iterator[str]:
        """Yield the header and the events as JSON texts."""
        yield json.dumps(self._header(), ensure_ascii=False)
        for at, name, body, flow in self._events():
            event: Body = {"name": name, "group_id": flow, "data": body}
            if self.protocol is None:
                connection = self.connections[flow]
                event["protocol_type"] = ["QUIC" if connection and connection.is_quic else "TCP"]
            # Digits of picoseconds instead of a rounded number.
            whole, part = divmod(at, PICOSECONDS_PER_MS)
            time = f"{whole}.{f'{part:09d}'.rstrip('0') or '0'}"
            yield f'{{"time": {time}, {json.dumps(event, ensure_ascii=False)[1:]}'

    def _header(self) -> Body:
        common: Body = {"time_format": "relative", "reference_time": 0.0}
        if self.protocol is not None:
            common["protocol_type"] = [self.protocol]
        about = {"seed": self.run.seed, "scenario_sha256": self.run.scenario_sha256, "cell": self.run.cell}
        trace = {"vantage_point": {"name": "senders", "type": "client"}, "common_fields": common}
        return {
            "qlog_version": "0.3",
            "qlog_format": "JSON-SEQ",
            "title": self.run.title,
            "description": "simulated by OpTCP",
            "summary": about,
            "trace": trace,
        }

    def _events(self) -> Iterator[tuple[int, str, Body, str]]:
        """Yield time, name, body and flow of the events, in the order of time."""
        masks = {
            order: np.logical_or.reduce([self.packets.is_("event", event) for event in events])
            for order, events in ((RECEIVED, ("acked",)), (SENT, ("sent", "resent")), (IN_NETWORK, NETWORK))
        }
        columns = ("time_ps", "event", "flow", "ack", "seq", "port", "bytes", "reason", "sack")
        sources: list[Iterator[tuple[int, int, Row]]] = [
            _ordered(UPDATED, observations.rows(self.states, ("time_ps", "flow", *STATE))),
            *(_ordered(order, observations.rows(self.packets, columns, which=mask)) for order, mask in masks.items()),
        ]
        for at, order, row in heapq.merge(*sources, key=lambda one: one[:2]):
            flow = row[1] if order == UPDATED else row[2]
            known = flow in self.connections
            connection = self._connection(flow)
            if connection is None:
                continue
            if not known:
                yield at, "recovery:parameters_set", connection.parameters(), flow
            for name, body in self._of(connection, order, row):
                yield at, name, body, flow

    def _connection(self, flow: str) -> Connection | None:
        """Return a connection; None for datagrams."""
        if flow not in self.connections:
            tcp = self.world.flow(flow).tcp
            self.connections[flow] = Connection(flow, tcp) if tcp is not None else None
        return self.connections[flow]

    @staticmethod
    def _of(connection: Connection, order: int, row: Row) -> Iterator[tuple[str, Body]]:
        if order == UPDATED:
            at, _, *values = row
            yield from connection.update(at, dict(zip(STATE, values, strict=True)))
            return
        at, event, _, ack, seq, port, size, reason, blocks = row
        if order == SENT:
            yield from connection.send(at, seq, size, again=event == "resent")
        elif order == RECEIVED:
            yield from connection.receive(seq, blocks, size)
        else:
            why = f" ({reason})" if reason else ""
            message = f"{'ACK' if ack else 'segment'} {seq} {event} at {port}{why}"
            yield "simulation:marker", {"type": event, "message": message}


def _ordered(order: int, rows: Iterator[Row]) -> Iterator[tuple[int, int, Row]]:
    """Yield time and order of each row, and the row."""
    return ((row[0], order, row) for row in rows)


def _header(number: int) -> Body:
    return {"packet_type": PACKET_TYPE, "packet_number": number}


def _ranges(numbers: list[int]) -> list[list[int]]:
    """Return the first and last number of each run of successive numbers."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ranges
