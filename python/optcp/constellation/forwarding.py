"""Where every node sends packets while satellites move: forwarding tables and the delays of the links that they use.

# Model

Every step each satellite and station has the next hop of its shortest path in metres to each station, as
:mod:`optcp.constellation.paths` has it; tables are those of one instant everywhere at once. Of all tables those
entries are kept that a packet can meet: of nodes on a path, and of those that were on one ``RETAINED_S`` ago.

# References

Hypatia (S. Kassing et al., IMC 2020), whose tables change every 100 ms.

# Limitations

A packet that waits longer than ``RETAINED_S`` may meet an entry that is out of date.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.constellation import orbits
from optcp.constellation.paths import Snapshot, distances

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from optcp.constellation.paths import Constellation
    from optcp.constellation.series import Series
    from optcp.constellation.stations import Station

NOWHERE = -1
"""No route."""
RETAINED_S = 5.0
"""How long nodes keep correct entries once they are on no path: forty full queues of 100 packets at 10 Mb/s."""
TOLERANCE_NS = 10.0
"""How far delays may be from those that are interpolated."""

State = tuple[float, "NDArray[np.integer[Any]]"]
"""An instant, and the next hop of every node to each station, shape (stations, satellites + stations): satellites by
number, then stations by their place; :data:`NOWHERE` without a route."""


def states(shell: Constellation, stations: Sequence[Station], seconds: Iterable[float]) -> Iterator[State]:
    """Find the tables of some instants.

    Parameters
    ----------
    shell
        The satellites.
    stations
        All ends of paths; none relays.
    seconds
        The instants, in order.
    """
    for at in seconds:
        yield float(at), next_hops(Snapshot(shell, float(at)), stations)


def next_hops(now: Snapshot, stations: Sequence[Station]) -> NDArray[np.int64]:
    """Return the next hops at an instant, as :data:`State` has them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    size, count = now.shell.size, len(stations)
    ground = np.array([distances(now.shell, one, now.seconds, now.positions) for one in stations])
    place, seen = np.nonzero(np.isfinite(ground))
    a, b = now.isls.T
    # From destinations outwards; links of stations have that direction alone, so that none relays.
    source = np.concatenate([a, b, size + place])
    target = np.concatenate([b, a, seen])
    weights = np.concatenate([now.isl_km, now.isl_km, ground[place, seen]])
    graph = csr_array((weights, (source, target)), shape=(size + count, size + count))
    far, before = dijkstra(graph, indices=size + np.arange(count), return_predecessors=True)
    found = np.where(before < 0, NOWHERE, before).astype(np.int64)
    for number, reach in enumerate(ground):
        total = reach + far[:, :size]
        first = total.argmin(axis=1)
        there = np.isfinite(total[np.arange(count), first])
        found[:, size + number] = np.where(there, first, NOWHERE)
    np.fill_diagonal(found[:, size:], NOWHERE)
    return found


def along(found: Series) -> Iterator[State]:
    """Find the tables of a series of paths, which need not be the shortest: other nodes have their shortest paths.

    Nodes off the path have routes for as long as packets may be there, ``RETAINED_S`` from a change on.
    """
    size, stations = found.shell.size, (found.start, found.end)
    before: tuple[int, ...] | None = None
    changed_s = -np.inf
    for at, path in zip(found.seconds.tolist(), found.paths, strict=True):
        if before not in (None, path):
            changed_s = at
        before = path
        if at <= changed_s + RETAINED_S:
            nexts = next_hops(Snapshot(found.shell, at), stations)
        else:
            nexts = np.full((2, size + 2), NOWHERE)
        nexts[[0, 1], [size + 1, size]] = NOWHERE
        for to, way in enumerate(((*path[::-1], size), (*path, size + 1)) if path else ()):
            for node, following in itertools.pairwise((size + 1 - to, *way)):
                nexts[to, node] = following
        yield at, nexts


@dataclass(frozen=True)
class Entry:
    """What a node does from an instant on.

    Attributes
    ----------
    at_s
        From when on.
    node, to
        The node and the destination, by number: satellites, then stations.
    next
        The next node; :data:`NOWHERE` without a route.
    """

    at_s: float
    node: int
    to: int
    next: int


@dataclass
class Tables:
    """What of the tables packets can meet.

    Attributes
    ----------
    size
        How many satellites there are; stations have the numbers behind them.
    entries
        In order of time.
    used
        For each two nodes that are linked in an entry, the smaller number first: from when until when, in order.
    paths
        By pair: from when on it has which path, node by node from one station to the other; empty without one.
    """

    size: int
    entries: list[Entry] = field(default_factory=list)
    used: dict[tuple[int, int], list[tuple[float, float]]] = field(default_factory=dict)
    paths: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = field(default_factory=dict)


def tables(
    found: Iterable[State], pairs: Sequence[tuple[int, int]], size: int, retained_s: float = RETAINED_S
) -> Tables:
    """Keep of tables what packets between pairs of stations can meet.

    Parameters
    ----------
    found
        The tables, in order of time.
    pairs
        Two stations each, by place; packets go both ways.
    size
        How many satellites there are.
    retained_s
        How long nodes keep correct entries once they are on no path.
    """
    made = Tables(size)
    sources: dict[int, set[int]] = {}
    for a, b in pairs:
        sources.setdefault(b, set()).add(a)
        sources.setdefault(a, set()).add(b)
    towards = {to: _Towards(to, sorted(sources[to]), retained_s, made) for to in sorted(sources)}
    at = 0.0
    for at, nexts in found:
        for to, one in towards.items():
            one.step(at, nexts[to])
        for pair in pairs:
            known = made.paths.setdefault(pair, [])
            path = towards[pair[1]].ways[pair[0]]
            if not known or known[-1][1] != path:
                known.append((at, path))
    for one in towards.values():
        one.end(at)
    made.used = {link: _united(spans) for link, spans in sorted(made.used.items())}
    return made


def _united(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for since, until in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], until)
        else:
            found.append((since, until))
    return found


class _Towards:
    """The entries of one destination."""

    def __init__(self, to: int, sources: list[int], retained_s: float, made: Tables) -> None:
        self.to, self.sources, self.retained_s, self.made = to, sources, retained_s, made
        self.ways: dict[int, tuple[int, ...]] = {}
        # Nodes that are on a path, and until when those that were are kept.
        self.on: set[int] = set()
        self.left: dict[int, float] = {}
        # By node whose entry must be correct: its next hop, and since when.
        self.known: dict[int, tuple[int, float]] = {}
        self.watched = np.zeros(0, dtype=np.int64)
        self.before: NDArray[np.integer[Any]] = np.zeros(0, dtype=np.int64)

    def step(self, at: float, nexts: NDArray[np.integer[Any]]) -> None:
        over = [node for node, until in self.left.items() if until <= at]
        if len(self.watched) and not over and np.array_equal(nexts[self.watched], self.before):
            return
        for node in over:
            del self.left[node]
        self.ways = {one: self._way(one, nexts) for one in self.sources}
        on = {node for one, way in self.ways.items() for node in (way[:-1] or (self.made.size + one,))}
        self.left.update(dict.fromkeys(self.on - on, at + self.retained_s))
        self.on = on
        needed: dict[int, int] = {}
        for first in (*self.on, *self.left):
            node = first
            while node not in needed and node not in (NOWHERE, self.made.size + self.to):
                needed[node] = int(nexts[node])
                node = needed[node]
        for node in self.known.keys() - needed.keys():
            self._used(node, at)
        for node, following in needed.items():
            if node in self.known and self.known[node][0] == following:
                continue
            if node in self.known:
                self._used(node, at)
            self.made.entries.append(Entry(at, node, self.made.size + self.to, following))
            self.known[node] = (following, at)
        self.known = {node: self.known[node] for node in needed}
        self.watched = np.array(sorted(needed), dtype=np.int64)
        self.before = nexts[self.watched]

    def end(self, at: float) -> None:
        for node in self.known:
            self._used(node, at)

    def _way(self, source: int, nexts: NDArray[np.integer[Any]]) -> tuple[int, ...]:
        """All nodes from a station to the destination; none without a route."""
        way = [self.made.size + source]
        while way[-1] != self.made.size + self.to:
            following = int(nexts[way[-1]])
            if following == NOWHERE:
                return ()
            way.append(following)
        return tuple(way)

    def _used(self, node: int, until: float) -> None:
        following, since = self.known[node]
        if following == NOWHERE:
            return
        link = min(node, following), max(node, following)
        self.made.used.setdefault(link, []).append((since, until + self.retained_s))


def delays(
    shell: Constellation, stations: Sequence[Station], made: Tables, begins: float, ends: float
) -> Iterator[tuple[tuple[int, int], NDArray[np.float64], NDArray[np.int64]]]:
    """Find the delays of all links in use, so often that those between differ by 10 ns at most.

    Yields
    ------
    Two nodes, instants in s, shape (n,), and the propagation delay in ns then, shape (n,).
    """
    where = _Places(shell, stations)
    for link, spans in made.used.items():
        times: list[NDArray[np.float64]] = []
        for since, until in spans:
            first, last = max(since, begins), min(until, ends)
            if last > first:
                times.append(_knots(where, link, first, last))
        if times:
            at = np.unique(np.concatenate(times))
            yield link, at, np.round(where.delay_ns(link, at)).astype(np.int64)


def _knots(where: _Places, link: tuple[int, int], since: float, until: float) -> NDArray[np.float64]:
    """Instants d apart between which a delay is all but linear: a line is off by its second derivative d^2 / 8."""
    middle = np.linspace(since, until, max(3, round(until - since) + 1))
    h = 0.5
    ahead, now, behind = (where.delay_ns(link, middle + shift) for shift in (h, 0.0, -h))
    bend = float(np.abs(ahead - 2 * now + behind).max()) / h**2
    gap = np.sqrt(8 * TOLERANCE_NS / max(bend, 1e-9))
    return np.round(np.linspace(since, until, int(np.ceil((until - since) / gap)) + 1), 6)


class _Places:
    """Where nodes are, by their numbers."""

    def __init__(self, shell: Constellation, stations: Sequence[Station]) -> None:
        self.shell, self.stations = shell, stations

    def at(self, node: int, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        if node >= self.shell.size:
            return self.stations[node - self.shell.size].position(seconds, self.shell.greenwich_deg)
        return self.shell.positions(seconds, [node])[..., 0, :]

    def delay_ns(self, link: tuple[int, int], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b = (self.at(node, seconds) for node in link)
        return np.asarray(np.linalg.norm(a - b, axis=-1) / orbits.LIGHT_KM_S * 1e9)
