"""Routing of demands other than by shortest paths: equal-cost multipath, and given paths."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from typing import TYPE_CHECKING

from optcp.common import rows
from optcp.errors import InputError, nearest
from optcp.scenarios import topologies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from optcp.outage.network import Network

Pair = tuple[str, str]
"""Two nodes."""

COLUMNS = ("from", "to", "path")
"""Columns of a file of paths."""


def split(arcs: Iterable[tuple[str, str, int]], volumes: Mapping[Pair, float]) -> dict[Pair, float]:
    """Return the load of each link direction if each router splits traffic equally over all links of minimum cost.

    Parallel links of equal cost have equal loads, and the result is the load of one of them.

    Parameters
    ----------
    arcs
        Both nodes and cost of each link direction.
    volumes
        Volume by pair of nodes. Pairs without a path are left out.
    """
    loads: dict[Pair, float] = defaultdict(float)
    for node, hops, share in _shares(arcs, volumes):
        for other in dict.fromkeys(hops):
            loads[node, other] += share
    return dict(loads)


def is_split(arcs: Iterable[tuple[str, str, int]], volumes: Mapping[Pair, float]) -> bool:
    """Return whether a router has several links of minimum cost for traffic; parameters as of :func:`split`."""
    return any(len(hops) > 1 for _, hops, _ in _shares(arcs, volumes))


def _shares(
    arcs: Iterable[tuple[str, str, int]], volumes: Mapping[Pair, float]
) -> Iterator[tuple[str, list[str], float]]:
    """Yield each router with traffic to one node, its next hops, and the volume for each of them."""
    after: dict[str, list[tuple[str, int]]] = defaultdict(list)
    before: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for a, b, cost in arcs:
        after[a].append((b, cost))
        before[b].append((a, cost))
    carried: dict[str, dict[str, float]] = defaultdict(dict)
    for (a, b), volume in volumes.items():
        carried[b][a] = volume
    for to, amounts in carried.items():
        distance = _distances(before, to)
        left = defaultdict(float, {node: volume for node, volume in amounts.items() if node in distance})
        for node in sorted(distance, key=lambda one: -distance[one])[:-1]:
            hops = [other for other, cost in after[node] if distance.get(other, math.inf) + cost == distance[node]]
            share = left[node] / len(hops)
            for other in hops:
                left[other] += share
            if share:
                yield node, hops, share


def _distances(before: Mapping[str, list[tuple[str, int]]], to: str) -> dict[str, int]:
    """Return the minimum cost from each node that has a path (Dijkstra); ``before`` has the nodes before each node."""
    found: dict[str, int] = {}
    queue = [(0, to)]
    while queue:
        cost, node = heapq.heappop(queue)
        if node not in found:
            found[node] = cost
            for other, more in before.get(node, ()):
                heapq.heappush(queue, (cost + more, other))
    return found


def given_paths(file: str, network: Network) -> dict[Pair, tuple[str, ...]]:
    """Read the working paths of demands from a CSV file with the columns ``from``, ``to`` and ``path``.

    A path has the names of its nodes, separated by semicolons or by `` - ``.

    Raises
    ------
    InputError
        If the file cannot be read, or a row has no path between its nodes.
    """
    known, names = network.topology().by_name(), network.nodes
    links = {frozenset(link[:2]) for link in network.links}
    found: dict[Pair, tuple[str, ...]] = {}
    for number, row in topologies.table(file, "scenario.toml"):
        fields, where = dict(row), f"`{file}`, line {number}"
        if absent := [column for column in COLUMNS if column not in fields]:
            raise InputError(f"{where}: expected the columns `from`, `to` and `path`, found no `{absent[0]}`")
        written = {"from": [fields["from"]], "to": [fields["to"]]}
        written["path"] = fields["path"].split(";" if ";" in fields["path"] else " - ")
        for column, named in written.items():
            for name in map(str.strip, named):
                if name not in known:
                    near = nearest(name, known)
                    shown = rows.short(name)
                    raise InputError(f"{where}: column `{column}`: no node {shown!r} in {network.reference}; {near}")
        (a,), (b,), path = ([names[known[name.strip()]] for name in named] for named in written.values())
        if (path[0], path[-1]) != (a, b) or len(set(path)) < len(path):
            raise InputError(
                f"{where}: column `path`: expected a path from {rows.short(fields['from'])} to "
                f"{rows.short(fields['to'])} without repeated nodes, found `{rows.short(fields['path'])}`"
            )
        for hop in itertools.pairwise(path):
            if frozenset(hop) not in links:
                shown = " and ".join(map(network.own_names.node, hop))
                raise InputError(f"{where}: column `path`: no link connects {shown}")
        if (a, b) in found:
            raise InputError(f"{where}: the demand has a path in an earlier line")
        found[a, b] = tuple(path)
    if not found:
        raise InputError(f"`{file}`: expected lines with `from`, `to` and `path` after the heading, found none")
    return found
