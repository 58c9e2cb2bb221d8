"""Packets as lines of an ns-2 trace, which many scripts read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from optcp.export import packets
from optcp.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from optcp.export.packets import World
    from optcp.study.saved import Table

PICOSECONDS = 10**12
FLAGS = "-------"
REFUSED = ("queue-full", "link-down", "scripted", "random-loss", "periodic-loss")
"""Losses of packets that their port had not taken."""

Identity = tuple[str, bool, int]
"""Flow, whether it is an ACK, and number. Packets of one identity cannot be told apart: the oldest comes first."""
Line = tuple[int, str]
"""When, in picoseconds, and the text."""


@dataclass
class Copy:
    """A packet under way: its number in the trace, and the ports that took it."""

    number: int
    passed: set[str] = field(default_factory=set)


def files(directory: Path) -> Iterator[Path]:
    """Write a trace of every run in a directory that observed packets, in the twelve columns of ns-2."""
    for run, observation, table in packets.observed(directory):
        target = run.directory / f"{observation}.tr"
        lines = Trace(packets.World.of(run.scenario)).lines(table)
        write_text(target, "".join(f"{line}\n" for line in lines))
        yield target


class Event(NamedTuple):
    """A row of an observation."""

    what: str
    at: int
    identity: Identity
    size: int
    port: str
    reason: str


class Trace:
    """The lines of a trace.

    ``+`` and ``-``: a chosen port took a packet, and began to send it. ``d``: a packet was lost. ``r``: a segment came
    to its receiver, or an ACK to its sender. Where a source's own port was not chosen, ``+`` is when the source sent.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.under_way: dict[Identity, list[Copy]] = {}
        self.queues: dict[str, deque[tuple[Identity, Copy, int]]] = {}
        self.copies = 0

    def lines(self, table: Table) -> list[str]:
        """Make the lines of an observation, in the order of time."""
        chosen = set(table.rows(table.is_("event", "queued")).distinct("port"))
        numbers = {name: table.numbers(name).tolist() for name in ("time_ps", "ack", "seq", "bytes")}
        texts = {name: table.texts(name) for name in ("event", "flow", "port", "reason")}
        found: list[Line] = []
        for row, at in enumerate(numbers["time_ps"]):
            identity = (texts["flow"][row], bool(numbers["ack"][row]), numbers["seq"][row])
            size, port, reason = numbers["bytes"][row], texts["port"][row], texts["reason"][row]
            found += self._of(Event(texts["event"][row], at, identity, size, port, reason), chosen)
        # A transmission is known when it ends, and stands where it began.
        found.sort(key=lambda line: line[0])
        return [text for _, text in found]

    def _of(self, event: Event, chosen: set[str]) -> Iterator[Line]:
        path = self.world.flows[event.identity[0]].path
        match event.what:
            case "sent" | "resent":
                copy = self._new(event.identity)
                if f"{path[0]}->{path[1]}" not in chosen:
                    yield self._line("+", event, (path[0], path[1]), copy)
            case "arrived" | "acked":
                copy = self._gone(event.identity, lambda _: True)
                ends = (path[1], path[0]) if event.identity[1] else (path[-2], path[-1])
                yield self._line("r", event, ends, copy)
            case "queued":
                copy = self._find(event.identity, lambda copy: event.port not in copy.passed) or self._new(
                    event.identity
                )
                copy.passed.add(event.port)
                self.queues.setdefault(event.port, deque()).append((event.identity, copy, event.at))
                yield self._line("+", event, self.world.ports[event.port].ends, copy)
            case "transmitted":
                copy, since = self._next(event)
                began = max(since, event.at - self._transmission(event))
                yield self._line("-", event._replace(at=began), self.world.ports[event.port].ends, copy)
            case _:
                taken = event.reason not in REFUSED
                copy = self._gone(event.identity, lambda copy: (event.port in copy.passed) == taken)
                queue = self.queues.get(event.port)
                if queue:
                    self.queues[event.port] = deque(entry for entry in queue if entry[1] is not copy)
                yield self._line("d", event, self.world.ports[event.port].ends, copy)

    def _new(self, identity: Identity) -> Copy:
        copy = Copy(self.copies)
        self.copies += 1
        self.under_way.setdefault(identity, []).append(copy)
        return copy

    def _find(self, identity: Identity, fits: Callable[[Copy], bool]) -> Copy | None:
        return next(filter(fits, self.under_way.get(identity, ())), None)

    def _gone(self, identity: Identity, fits: Callable[[Copy], bool]) -> Copy:
        """Take out the oldest copy that fits or, where what would tell was not observed, the oldest one."""
        # An ACK is first seen where it is queued, comes, or is lost.
        copy = self._find(identity, fits) or self._find(identity, lambda _: True) or self._new(identity)
        self.under_way[identity].remove(copy)
        return copy

    def _next(self, event: Event) -> tuple[Copy, int]:
        """Take the packet that a port has sent out of its queue: also when it came."""
        queue = self.queues[event.port]
        place = next(place for place, (identity, _, _) in enumerate(queue) if identity == event.identity)
        _, copy, since = queue[place]
        del queue[place]
        return copy, since

    def _transmission(self, event: Event) -> int:
        rate = self.world.ports[event.port].rate
        return event.size * 8 * PICOSECONDS // rate if rate else 0

    def _line(self, sign: str, event: Event, ends: tuple[str, str], copy: Copy) -> Line:
        name, ack, seq = event.identity
        flow, nodes = self.world.flows[name], self.world.nodes
        kind = "ack" if ack else "tcp" if flow.tcp else "cbr"
        source, destination = (f"{nodes[flow.path[end]]}.{flow.number}" for end in (0, -1))
        if ack:
            # ns-2 acknowledges the last segment that came in order, not the one that is expected next.
            source, destination, seq = destination, source, seq - 1
        seconds = f"{event.at // PICOSECONDS}.{event.at % PICOSECONDS:012d}"
        head = f"{sign} {seconds} {nodes[ends[0]]} {nodes[ends[1]]} {kind} {event.size} {FLAGS}"
        return event.at, f"{head} {flow.number} {source} {destination} {seq} {copy.number}"
