"""Dedicated backup paths of demands, as scenarios find them: their hops, and whether they share a risk."""

from __future__ import annotations

import functools
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core

if TYPE_CHECKING:
    from optcp.outage.network import Network
    from optcp.outage.routing import Pair


@dataclass(frozen=True)
class Backup:
    """Working path and backup path of a demand.

    Attributes
    ----------
    working
        Hops of the working path.
    spare
        Hops of the backup path, 0 without one.
    shares
        Whether the backup path shares a risk with the part of the working path that it replaces.
    """

    working: int
    spare: int
    shares: bool


@functools.lru_cache(maxsize=32)
def dedicated(network: Network, us_a_km: float) -> dict[Pair, Backup]:
    """Return the backup of each demand with a path; working paths are given ones, or of the shortest disjoint pair."""
    pairs = list(network.paths(us_a_km))
    lines = [
        'stop = "1 s"', "[topology]", f"{network.kind} = {json.dumps(network.reference, ensure_ascii=False)}",
        'rate = "1 Gbps"', 'queue = "1 packets"', *network.keys(us_a_km), "[[protection]]", 'flows = "each"',
        'scheme = "1:1"', 'backup = "auto"', 'switch_delay = "10 ms"',
    ]  # fmt: skip
    for a, b in pairs:
        given = network.given.get((a, b))
        path = f"path = {json.dumps(given)}" if given else f'from = "{a}"\nto = "{b}"\npath = "shortest-pair"'
        lines += ["[[flows]]", 'group = "each"', path]
    resolved = json.loads(_core.Scenario.parse("\n".join(lines) + "\n", "backups.toml").resolved())
    routes = {name: route for entry in resolved["flows"] for route in entry["routes"] for name in route["flows"]}
    backups = {name: entry for entry in resolved["protection"] for name in entry["lsps"]}
    links, at_risk = network.ports(), network.at_risk()
    found = {}
    for name, route in routes.items():
        path, spare, shares = route["path"], [], False
        if name in backups:
            entry = backups[name]
            spare = entry["ports"]
            first, last = (path.index(entry["backup"][end]) for end in (0, -1))
            replaced = [links[port] for port in route["ports"][first:last]]
            shared = set(itertools.chain.from_iterable(at_risk.get(link, ()) for link in replaced))
            shares = any(links[port] in shared for port in spare)
        found[path[0], path[-1]] = Backup(len(path) - 1, len(spare), shares)
    return found
