"""Forwarding tables of all nodes while satellites move, and delays of the links in use.

# Model

In every step, each satellite and station forwards along its shortest path (in metres) to each station, as in
:mod:`optcp.constellation.paths`. All tables change at the same time. Only entries that a packet can use are kept: the
entries of nodes on a path, or on one within the last ``RETAINED_S``.

# References

Hypatia (S. Kassing et al., IMC 2020), whose tables change every 100 ms.

# Limitations

A packet that waits longer than ``RETAINED_S`` may meet an outdated entry.
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
"""Next hop of a node without a route."""
RETAINED_S = 5.0
"""Time for which a node keeps correct entries after it left a path: 40 full queues of 100 packets at 10 Mb/s."""
TOLERANCE_NS = 10.0
"""Maximum error of interpolated delays."""

State = tuple[float, "NDArray[np.integer[Any]]"]
"""A time, and the next hop of every node to each station, shape (stations, satellites + stations). Nodes are satellites
by number, then stations by index; :data:`NOWHERE` without a route."""


def states(shell: Constellation, stations: Sequence[Station], seconds: Iterable[float]) -> Iterator[State]:
    """Compute the tables at given times.

    Parameters
    ----------
    shell
        The satellites.
    stations
        All endpoints of paths; stations do not relay.
    seconds
        Times, ascending.
    """
    for at in seconds:
        yield float(at), next_hops(Snapshot(shell, float(at)), stations)


def next_hops(now: Snapshot, stations: Sequence[Station]) -> NDArray[np.int64]:
    """Return the next hops at one time, in the form of :data:`State`."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    size, count = now.shell.size, len(stations)
    ground = np.array([distances(now.shell, one, now.seconds, now.positions) for one in stations])
    place, seen = np.nonzero(np.isfinite(ground))
    a, b = now.isls.T
    # Search from the destinations. Links of stations are directed away from them, so that no station relays.
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
    """Compute the tables for a series of given paths; nodes off the path use shortest paths.

    Nodes off the path have routes for ``RETAINED_S`` after a change, as long as packets may be there.
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
    """A forwarding entry.

    Attributes
    ----------
    at_s
        Time from which the entry is valid.
    node, to
        Numbers of the node and the destination: satellites, then stations.
    next
        Next node; :data:`NOWHERE` without a route.
    """

    at_s: float
    node: int
    to: int
    next: int


@dataclass
class Tables:
    """The part of the tables that packets can meet.

    Attributes
    ----------
    size
        Number of satellites; the numbers of stations follow.
    entries
        Entries, sorted by time.
    used
        Sorted time intervals in which entries use a link, by its two nodes, the smaller number first.
    paths
        Paths of each pair, each with the time from which it holds; nodes from one station to the other, or empty.
    """

    size: int
    entries: list[Entry] = field(default_factory=list)
    used: dict[tuple[int, int], list[tuple[float, float]]] = field(default_factory=dict)
    paths: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = field(default_factory=dict)


def tables(
    found: Iterable[State], pairs: Sequence[tuple[int, int]], size: int, retained_s: float = RETAINED_S
) -> Tables:
    """Reduce the tables to the entries that packets between pairs of stations can use.

    Parameters
    ----------
    found
        Tables, sorted by time.
    pairs
        Pairs of stations by index; packets go in both directions.
    size
        Number of satellites.
    retained_s
        Time for which a node keeps correct entries after it left a path.
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
    """Collects the entries towards one destination."""

    def __init__(self, to: int, sources: list[int], retained_s: float, made: Tables) -> None:
        self.to, self.sources, self.retained_s, self.made = to, sources, retained_s, made
        self.ways: dict[int, tuple[int, ...]] = {}
        # Nodes on a path, and the time until which former ones keep their entries.
        self.on: set[int] = set()
        self.left: dict[int, float] = {}
        # Next hop of each node whose entry must be correct, and the time since when.
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
        """All nodes from a station to the destination; empty without a route."""
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
    """Compute the delays of all links in use, sampled so that linear interpolation is off by at most 10 ns.

    Yields
    ------
    Two nodes, times in s, shape (n,), and propagation delays in ns, shape (n,).
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
    """Sampling times: at an interval d, linear interpolation is off by at most d^2 / 8 times the second derivative."""
    middle = np.linspace(since, until, max(3, round(until - since) + 1))
    h = 0.5
    ahead, now, behind = (where.delay_ns(link, middle + shift) for shift in (h, 0.0, -h))
    bend = float(np.abs(ahead - 2 * now + behind).max()) / h**2
    gap = np.sqrt(8 * TOLERANCE_NS / max(bend, 1e-9))
    return np.round(np.linspace(since, until, int(np.ceil((until - since) / gap)) + 1), 6)


class _Places:
    """Positions of nodes by number."""

    def __init__(self, shell: Constellation, stations: Sequence[Station]) -> None:
        self.shell, self.stations = shell, stations

    def at(self, node: int, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        if node >= self.shell.size:
            return self.stations[node - self.shell.size].position(seconds, self.shell.greenwich_deg)
        return self.shell.positions(seconds, [node])[..., 0, :]

    def delay_ns(self, link: tuple[int, int], seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b = (self.at(node, seconds) for node in link)
        return np.asarray(np.linalg.norm(a - b, axis=-1) / orbits.LIGHT_KM_S * 1e9)
