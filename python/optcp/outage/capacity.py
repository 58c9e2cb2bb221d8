"""What capacity backups need, by arithmetic on demands: without packets, for any single link that fails."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.outage.network import US_A_KM, busiest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.outage.network import Network
    from optcp.outage.world import Assumptions

Hop = tuple[str, str]


@dataclass(frozen=True)
class Loads:
    """What directions of links carry.

    Attributes
    ----------
    working
        In Mb/s, before anything fails.
    after
        For each link that fails, by name: the same while it does not work, where anything differs.
    rate_mbps
        What each direction can carry.
    """

    working: Mapping[Hop, float]
    after: Mapping[str, Mapping[Hop, float]]
    rate_mbps: float

    @property
    def spare(self) -> float:
        """Capacity that backups need beside the working one, over that: on each direction for the worst link."""
        return sum(self._most_more().values()) / sum(self.working.values())

    @property
    def added(self) -> float:
        """Capacity that must be added so that no direction carries more than it can, over the working one."""
        worst = {hop: self.working.get(hop, 0.0) + more for hop, more in self._most_more().items()}
        return sum(max(0.0, load - self.rate_mbps) for load in worst.values()) / sum(self.working.values())

    def busiest_detour(self, link: str) -> float:
        """The busiest direction of those that carry more while a link does not work, as a share of its rate."""
        after = self.after[link]
        more = [load for hop, load in after.items() if load > self.working.get(hop, 0.0) + 1e-9]
        return max(more, default=0.0) / self.rate_mbps

    def _most_more(self) -> dict[Hop, float]:
        most: dict[Hop, float] = {}
        for after in self.after.values():
            for hop, load in after.items():
                most[hop] = max(most.get(hop, 0.0), load - self.working.get(hop, 0.0))
        return most


def rerouted(network: Network, assumed: Assumptions, links: Iterable[str]) -> Loads:
    """Every pair takes its shortest path without the link that fails: TI-LFA, routers that converged, restoration."""
    us_a_km = US_A_KM * assumed.detour
    before = network.paths(us_a_km)
    mbps = _scaled(network, before, assumed)
    after = {}
    for name in links:
        without = network.without(name)
        ways = without.paths(us_a_km)
        after[name] = _over({pair: path for pair, path in ways.items() if pair in mbps}, mbps)
    return Loads(_over(before, mbps), after, assumed.rate_mbps)


def detoured(network: Network, assumed: Assumptions, links: Iterable[str]) -> Loads:
    """Every pair keeps its path, but goes around the link that fails by the shortest way: local protection."""
    us_a_km = US_A_KM * assumed.detour
    before = network.paths(us_a_km)
    mbps = _scaled(network, before, assumed)
    after = {}
    for name in links:
        a, b = network.ends(name)
        around = network.without(name).path(a, b, us_a_km)
        loads = dict(_over(before, mbps))
        for hop, way in (((a, b), around), ((b, a), around and around[::-1])):
            carried = loads.pop(hop, 0.0)
            for step in itertools.pairwise(way or []):
                loads[step] = loads.get(step, 0.0) + carried
        after[name] = loads
    return Loads(_over(before, mbps), after, assumed.rate_mbps)


@dataclass(frozen=True)
class Spare:
    """What a mechanism needs beside the working capacity, over that.

    Attributes
    ----------
    spare
        Capacity of backups.
    added
        What must be built for it.
    """

    spare: float
    added: float


def spare_of(network: Network, assumed: Assumptions, links: Iterable[str]) -> dict[str, Spare]:
    """By mechanism; of those for which it is the same arithmetic as for another one, that one's."""
    links = list(links)
    routed, around = rerouted(network, assumed, links), detoured(network, assumed, links)
    dedicated = _dedicated(network, assumed)
    of_routed, of_pairs = Spare(routed.spare, routed.added), Spare(dedicated, dedicated)
    same = dict.fromkeys(("none", "ti-lfa", "restoration, 2 s", "restoration, 8 s"), of_routed)
    return {**same, "local": Spare(around.spare, around.added), "1:1": of_pairs, "1+1": of_pairs}


def _dedicated(network: Network, assumed: Assumptions) -> float:
    """What reserved backups take, each as long as the other path of its pair, over the working capacity."""
    us_a_km = US_A_KM * assumed.detour
    before = network.paths(us_a_km)
    mbps = _scaled(network, before, assumed)
    hops = network.pair_hops(before, us_a_km)
    working = sum(mbps[pair] * one[0] for pair, one in hops.items())
    return sum(mbps[pair] * one[1] for pair, one in hops.items()) / working


def _scaled(network: Network, paths: Mapping[Hop, list[str]], assumed: Assumptions) -> dict[Hop, float]:
    demands = {pair: network.demands[pair] for pair in paths}
    scale = assumed.peak * assumed.rate_mbps / busiest(paths, demands)
    return {pair: scale * much for pair, much in demands.items()}


def _over(paths: Mapping[Hop, list[str]], mbps: Mapping[Hop, float]) -> dict[Hop, float]:
    found: dict[Hop, float] = {}
    for pair, path in paths.items():
        for hop in itertools.pairwise(path):
            found[hop] = found.get(hop, 0.0) + mbps[pair]
    return found
