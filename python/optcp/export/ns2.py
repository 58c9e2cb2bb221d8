"""Packets as lines of an ns-2 trace, which many scripts read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from optcp.common.files import write_text
from optcp.export import packets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from optcp.export import Chosen
    from optcp.export.packets import Observed, World

PICOSECONDS = 10**12
FLAGS = "-------"
REFUSED = ("queue-full", "link-down", "scripted", "random-loss", "periodic-loss")
"""Losses of packets that their port had not taken."""
FLUSHED = "queue-flushed"
"""Losses of packets that stood in the queue of their port."""

Line = tuple[int, str]
"""When, in picoseconds, and the text."""


class Identity(NamedTuple):
    """Identity of a packet. Packets of equal identity are distinguished only by their possible positions."""

    flow: str
    ack: bool
    seq: int
    size: int


class Event(NamedTuple):
    """A row of an observation."""

    what: str
    at: int
    identity: Identity
    port: str
    reason: str


@dataclass(eq=False)
class Copy:
    """A packet in flight.

    Attributes
    ----------
    number
        Its number in the trace.
    node
        Where it is, or to where it was last seen to go.
    last
        The chosen port that has sent it last.
    waits
        Whether it stands in the queue of a chosen port.
    passed
        Chosen ports that have taken it.
    """

    number: int
    node: str
    last: str = ""
    waits: bool = False
    passed: set[str] = field(default_factory=set)


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write a trace of every chosen run of a study that observed packets, in the twelve columns of ns-2."""
    for seen in packets.observed(directory, chosen):
        target = seen.folder / f"{seen.stem}.tr"
        with seen.run.trusted():
            lines = Trace(packets.World.of(seen.run), seen).lines()
        write_text(target, "".join(f"{line}\n" for line in lines))
        yield target, ""


class Trace:
    """The lines of a trace.

    ``+`` and ``-``: a packet came to a chosen port, and the port began to send it. ``d``: a packet was lost. ``r``: a
    segment came to its receiver, or an ACK to its sender. Where a source's own port was not chosen, ``+`` is when the
    source sent.
    """

    def __init__(self, world: World, seen: Observed) -> None:
        self.world = world
        self.table = seen.table
        self.chosen = set(seen.ports)
        self.chosen_hops = {world.ports[port].ends for port in seen.ports}
        self.under_way: dict[Identity, list[Copy]] = {}
        self.queues: dict[str, deque[tuple[Identity, Copy, int]]] = {port: deque() for port in seen.ports}
        self.copies = 0

    def lines(self) -> list[str]:
        """Make the lines, in the order of time."""
        found = [line for event in self._events() for line in self._of(event)]
        # A transmission is known when it ends, and stands where it began.
        found.sort(key=lambda line: line[0])
        return [text for _, text in found]

    def _events(self) -> Iterator[Event]:
        numbers = (self.table.numbers(name).tolist() for name in ("time_ps", "ack", "seq", "bytes"))
        texts = (self.table.texts(name) for name in ("event", "flow", "port", "reason"))
        for at, ack, seq, size, what, flow, port, reason in zip(*numbers, *texts, strict=True):
            yield Event(what, at, Identity(flow, bool(ack), seq, size), port, reason)

    def _of(self, event: Event) -> Iterator[Line]:
        way = self._way(event.identity)
        match event.what:
            case "sent" | "resent":
                copy = self._new(event.identity, way[0])
                if way[:2] not in self.chosen_hops:
                    yield self._line("+", event, way[:2], copy)
            case "queued":
                copy = self._at(event)
                copy.waits = True
                copy.passed.add(event.port)
                self.queues[event.port].append((event.identity, copy, event.at))
                yield self._line("+", event, self._ends(event), copy)
            case "transmitted":
                copy, since = self._next(event)
                copy.node, copy.last = self._ends(event)[1], event.port
                began = max(since, event.at - self._transmission(event))
                yield self._line("-", event._replace(at=began), self._ends(event), copy)
            case "arrived" | "acked":
                copy = self._pick(event.identity, lambda copy: copy.node == way[-1], lambda _: True, way[-1])
                self._end(event.identity, copy)
                last = self.world.ports[copy.last].ends if copy.last else way[-2:]
                yield self._line("r", event, last if last[1] == way[-1] else way[-2:], copy)
            case _:
                yield from self._lost(event)

    def _lost(self, event: Event) -> Iterator[Line]:
        ends = self._ends(event)
        if event.reason == FLUSHED and event.port in self.chosen:
            copy, _ = self._next(event)
        elif event.reason in REFUSED or event.port not in self.chosen:
            copy = self._at(event)
        else:
            copy = self._pick(event.identity, lambda copy: copy.last == event.port and copy.node == ends[1])
        self._end(event.identity, copy)
        if event.reason in REFUSED and event.port in self.chosen:
            # ns-2 reports a packet that arrives at a queue before the queue refuses it.
            yield self._line("+", event, ends, copy)
        yield self._line("d", event, ends, copy)

    def _way(self, identity: Identity) -> tuple[str, ...]:
        path = self.world.flow(identity.flow).path
        return path[::-1] if identity.ack else path

    def _ends(self, event: Event) -> tuple[str, str]:
        return self.world.ports[event.port].ends

    def _new(self, identity: Identity, node: str) -> Copy:
        copy = Copy(self.copies, node)
        self.copies += 1
        self.under_way.setdefault(identity, []).append(copy)
        return copy

    def _end(self, identity: Identity, copy: Copy) -> None:
        """Forget a packet of which nothing more is heard."""
        alike = self.under_way[identity]
        alike.remove(copy)
        if not alike:
            del self.under_way[identity]

    def _at(self, event: Event) -> Copy:
        """Return the packet that enters a port: one at its node or, without an event there, before it."""
        way, node = self._way(event.identity), self._ends(event)[0]

        def before(copy: Copy) -> bool:
            if event.port in copy.passed:
                return False
            known = copy.node in way and node in way
            return not known or way.index(copy.node) <= way.index(node)

        return self._pick(event.identity, lambda copy: copy.node == node, before, node)

    def _pick(
        self,
        identity: Identity,
        fits: Callable[[Copy], bool],
        may: Callable[[Copy], bool] = lambda _: False,
        node: str = "",
    ) -> Copy:
        """Return the oldest packet that fits, else the oldest that may be it, else a new packet at a node.

        An ACK is new where it is first seen.
        """
        free = [copy for copy in self.under_way.get(identity, ()) if not copy.waits]
        found = next(filter(fits, free), None) or next(filter(may, free), None)
        return found or self._new(identity, node)

    def _next(self, event: Event) -> tuple[Copy, int]:
        """Take a packet out of a port's queue: it, and when it came."""
        queue = self.queues[event.port]
        place = next(place for place, (identity, _, _) in enumerate(queue) if identity == event.identity)
        _, copy, since = queue[place]
        del queue[place]
        copy.waits = False
        return copy, since

    def _transmission(self, event: Event) -> int:
        # Rounded up, as the simulator does.
        return -(-event.identity.size * 8 * PICOSECONDS // self.world.ports[event.port].rate)

    def _line(self, sign: str, event: Event, ends: tuple[str, ...], copy: Copy) -> Line:
        name, ack, seq, size = event.identity
        flow, nodes = self.world.flow(name), self.world.nodes
        kind = "ack" if ack else "tcp" if flow.tcp else "cbr"
        way = self._way(event.identity)
        source, destination = (f"{nodes[way[end]]}.{flow.number}" for end in (0, -1))
        # ns-2 acknowledges the last segment that came in order, not the one that is expected next.
        number = seq - 1 if ack else seq
        seconds = f"{event.at // PICOSECONDS}.{event.at % PICOSECONDS:012d}"
        head = f"{sign} {seconds} {nodes[ends[0]]} {nodes[ends[1]]} {kind} {size} {FLAGS}"
        return event.at, f"{head} {flow.number} {source} {destination} {number} {copy.number}"
