"""Capacity that backups need for single failures, computed from demands without simulating packets."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.outage import backups
from optcp.outage.network import US_A_KM, busiest

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp.outage.network import Network
    from optcp.outage.world import Assumptions

Hop = tuple[str, str]
Failures = Iterable[str] | Mapping[str, Collection[str]]
"""Names of single links, or the links that fail by the name of a failure."""

CONVERGED, DETOUR = "after convergence", "local detour"
"""Kinds of paths around failed links."""


@dataclass(frozen=True)
class Loads:
    """Load of each direction of the links.

    Attributes
    ----------
    working
        Load in Mb/s without a failure.
    after
        Load in Mb/s during each failure, by its name.
    rate_mbps
        Function that returns the rate of a direction in Mb/s.
    """

    working: Mapping[Hop, float]
    after: Mapping[str, Mapping[Hop, float]]
    rate_mbps: Callable[[Hop], float]

    @property
    def spare(self) -> float:
        """Spare capacity relative to working capacity: on each direction, for the worst failure."""
        return sum(self._most_more().values()) / sum(self.working.values())

    @property
    def added(self) -> float:
        """Capacity to add so that no direction is overloaded, relative to working capacity."""
        worst = {hop: self.working.get(hop, 0.0) + more for hop, more in self._most_more().items()}
        return sum(max(0.0, load - self.rate_mbps(hop)) for hop, load in worst.items()) / sum(self.working.values())

    def busiest_detour(self, failure: str) -> float:
        """Maximum utilization of the directions whose load rises in a failure."""
        after = self.after[failure]
        more = [load / self.rate_mbps(hop) for hop, load in after.items() if load > self.working.get(hop, 0.0) + 1e-9]
        return max(more, default=0.0)

    def _most_more(self) -> dict[Hop, float]:
        most: dict[Hop, float] = {}
        for after in self.after.values():
            for hop, load in after.items():
                most[hop] = max(most.get(hop, 0.0), load - self.working.get(hop, 0.0))
        return most


def rerouted(network: Network, assumed: Assumptions, failures: Failures) -> Loads:
    """Loads if traffic takes shortest paths without the failed links: TI-LFA, converged routing, restoration."""
    us_a_km = US_A_KM * assumed.detour
    mbps = volumes(network, assumed)
    after = {name: network.without(*links).loads(us_a_km, mbps) for name, links in _by_name(failures).items()}
    return Loads(network.loads(us_a_km, mbps), after, rate_of(network, assumed))


def detoured(network: Network, assumed: Assumptions, failures: Failures) -> Loads:
    """Loads if each pair keeps its path with a shortest detour around each failed link: local protection.

    A detour avoids all links that share a risk with its link, if possible. Over another failed link it carries nothing.
    """
    us_a_km = US_A_KM * assumed.detour
    working = network.loads(us_a_km, volumes(network, assumed))
    at_risk = network.at_risk()
    after = {}
    for name, links in _by_name(failures).items():
        loads = dict(working)
        failed = {hop for link in links for hop in itertools.permutations(network.ends(link))}
        for link in links:
            a, b = network.ends(link)
            tries = (network.without(link, *avoided).path(a, b, us_a_km) for avoided in (at_risk.get(link, ()), ()))
            around = next(filter(None, tries), None)
            for hop, way in (((a, b), around), ((b, a), around and around[::-1])):
                carried = loads.pop(hop, 0.0)
                steps = list(itertools.pairwise(way or []))
                for step in steps if failed.isdisjoint(steps) else ():
                    loads[step] = loads.get(step, 0.0) + carried
        after[name] = loads
    return Loads(working, after, rate_of(network, assumed))


def _by_name(failures: Failures) -> Mapping[str, Collection[str]]:
    return failures if isinstance(failures, Mapping) else {link: (link,) for link in failures}


@dataclass(frozen=True)
class Spare:
    """Capacity that a mechanism needs, relative to working capacity.

    Attributes
    ----------
    spare
        Capacity of backups.
    added
        Capacity to add to the network.
    """

    spare: float
    added: float


def loads_of(network: Network, assumed: Assumptions, failures: Failures) -> dict[str, Loads]:
    """Loads by kind of path around the failed links; with ECMP there are no fixed paths to detour."""
    failures = _by_name(failures)
    converged = {CONVERGED: rerouted(network, assumed, failures)}
    return converged if network.ecmp else converged | {DETOUR: detoured(network, assumed, failures)}


def spare_of(network: Network, assumed: Assumptions, failures: Failures) -> dict[str, Spare]:
    """Spare capacity by mechanism; some mechanisms share one calculation."""
    return spare_for(network, assumed, loads_of(network, assumed, failures))


def spare_for(network: Network, assumed: Assumptions, loads: Mapping[str, Loads]) -> dict[str, Spare]:
    """Spare capacity by mechanism, where known, for the result of :func:`loads_of`."""
    by_kind = {kind: Spare(one.spare, one.added) for kind, one in loads.items()}
    found = dict.fromkeys(("none", "ti-lfa", "restoration, 2 s", "restoration, 8 s"), by_kind[CONVERGED])
    if DETOUR in by_kind:
        found["local"] = by_kind[DETOUR]
    if not network.ecmp:
        dedicated = _dedicated(network, assumed)
        found |= dict.fromkeys(("1:1", "1+1"), Spare(dedicated, dedicated))
    return found


def _dedicated(network: Network, assumed: Assumptions) -> float:
    """Capacity of dedicated backups relative to working capacity.

    A backup is the second path of a disjoint pair. With given paths or shared risks, it is the one in scenarios.
    """
    us_a_km = US_A_KM * assumed.detour
    mbps = volumes(network, assumed)
    if network.given or network.at_risk():
        found = {pair: (one.working, one.spare) for pair, one in backups.dedicated(network, us_a_km).items()}
    else:
        found = {pair: (one[0], one[1]) for pair, one in network.pair_hops(mbps, us_a_km).items()}
    return sum(mbps[pair] * found[pair][1] for pair in mbps) / sum(mbps[pair] * found[pair][0] for pair in mbps)


def volumes(network: Network, assumed: Assumptions) -> dict[Hop, float]:
    """Return the volume of each demand that has a path, in Mb/s."""
    us_a_km = US_A_KM * assumed.detour
    joined = {pair: network.demands[pair] for pair in network.paths(us_a_km)}
    scale = assumed.peak / busiest(network.loads(us_a_km, joined), rate_of(network, assumed))
    return {pair: scale * much for pair, much in joined.items()}


def working(network: Network, assumed: Assumptions) -> dict[Hop, float]:
    """Return the load of each direction of the links without a failure, in Mb/s."""
    return network.loads(US_A_KM * assumed.detour, volumes(network, assumed))


def rate_of(network: Network, assumed: Assumptions) -> Callable[[Hop], float]:
    """Return a function that returns the rate of a direction of the links, in Mb/s."""
    return lambda hop: network.rate_mbps(hop, assumed.rate_mbps)
