"""Network with its links and traffic demands."""

from __future__ import annotations

import bisect
import functools
import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from optcp import _core
from optcp.errors import InputError
from optcp.outage.layers import Layers
from optcp.outage.routing import given_paths, is_split, split
from optcp.scenarios import topologies, weights
from optcp.scenarios.own_names import OwnNames
from optcp.topology import is_file, units
from optcp.topology.names import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from optcp.scenarios.topologies import Topology
    from optcp.topology.model import Network as FileNetwork

US_A_KM = 5.0
"""Propagation delay in fibre, in µs per km."""
MOST_COST = 2**32 - 1
"""Maximum cost of a link in a file."""
MOST_NS = 2**32 - 1
"""Maximum cost of a link, in ns."""


@dataclass(frozen=True)
class Network:
    """Topology with its demands.

    Attributes
    ----------
    kind, reference
        Key ("name" or "file") and value in ``[topology]``.
    nodes
        Names, in the order of the topology.
    links
        Both nodes, optional name, and length in km of each link.
    demands
        Demand from one node to another, in bit/s or any unit.
    rates
        Rate from one node to another in bit/s, by link direction; empty unless the file states the rate of every link.
        Of parallel links the highest rate counts.
    volumes
        Whether the demands are in bit/s.
    unrated
        Names of links without a rate, if the file states the rates of others.
    ecmp
        Whether routers split each demand over all paths of minimum cost.
    costs
        Costs of each link in both directions, by its name in scenarios; empty for delays as costs.
    given
        Working paths of demands, in place of the path of minimum delay.
    layers
        Fibres under the links, None without them.
    """

    kind: str
    reference: str
    nodes: tuple[str, ...]
    links: tuple[tuple[str, str, str | None, float], ...]
    demands: Mapping[tuple[str, str], float] = field(repr=False, hash=False)
    rates: Mapping[tuple[str, str], float] = field(default_factory=dict, repr=False, hash=False)
    volumes: bool = False
    unrated: tuple[str, ...] = ()
    ecmp: bool = False
    costs: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False, hash=False)
    given: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict, repr=False, hash=False)
    layers: Layers | None = field(default=None, repr=False, hash=False)

    @property
    def title(self) -> str:
        """Reference for headings; the name of the directory for "." and "..", which say nothing."""
        return self.reference if Path(self.reference).name.strip(".") else Path(self.reference).resolve().name

    @classmethod
    def find(
        cls, reference: str, matrix: str | None = None, *, time: str | None = None, ecmp: bool = False,
        paths: str | None = None,
    ) -> Network:  # fmt: skip
        """Read a topology by its name (``sndlib/abilene``) or from a file.

        Parameters
        ----------
        matrix
            CSV file with lines ``from,to,weight``. The default is the demands of the topology, or else a gravity model:
            the product of the numbers of links of both nodes.
        time
            Time of day of the matrix, one of :func:`optcp.scenarios.topologies.times`.
        ecmp
            Whether routers split each demand over all paths of minimum cost: by the costs of the file if every link has
            one, else by delay.
        paths
            File of :func:`optcp.outage.routing.given_paths`.

        Raises
        ------
        InputError
            If the topology does not exist, a link has no length, or the matrix has no pair of its nodes.
        """
        kind = _kind(reference)
        found = topologies.find(kind, reference, "scenario.toml")
        names = found.nodes
        of_file = topologies.network_of(kind, reference, "scenario.toml")
        layers = Layers.find(reference, of_file) if kind == "file" else None
        lengths = [length for *_, length in found.links]
        if None in lengths:
            a, b, *_ = found.links[lengths.index(None)]
            raise InputError(
                f"{reference}: the link {names[a]}-{names[b]} has no length, and its nodes have no coordinates"
            )
        laid = tuple((names[a], names[b], name, (length or 0) / 1e6) for a, b, name, length in found.links)
        wanted, volumes = _demands(of_file, found) if matrix is None else _wanted(matrix, found, reference, time)
        wanted = {pair: demand for pair, demand in wanted.items() if pair[0] != pair[1] and demand > 0}
        if not wanted:
            if matrix is not None:
                at = f" at {time}" if time else ""
                raise InputError(f"{matrix}: no pair of nodes has a weight above zero{at}")
            degree = {name: sum(name in link[:2] for link in laid) for name in names}
            wanted = {(a, b): float(degree[a] * degree[b]) for a, b in itertools.permutations(names, 2)}
        rates, unrated = _rates(of_file, found)
        made = cls(kind, reference, tuple(names), laid, wanted, rates, volumes, unrated, ecmp)
        if ecmp:
            made = replace(made, costs=_costs(made))
        if layers:
            made = made._over(layers)
        return made if paths is None else replace(made, given=given_paths(paths, made))

    def _over(self, layers: Layers) -> Network:
        """Return the network with fibres, which determine the lengths of the links over them."""
        taken = {*layers.ducts.values(), *(one.name for one in layers.fibres)}
        if again := next((risk for risk in self.risks() if plain(risk) in taken), None):
            raise InputError(
                f"{self.reference}: the shared risk `{again}` has the name of a fibre or duct; give it another name "
                "or leave it out: links over a fibre share its risk and the risk of its duct"
            )
        km = map(layers.km, self.link_names())
        links = ((*link[:3], link[3] if over is None else over) for link, over in zip(self.links, km, strict=True))
        return replace(self, links=tuple(links), layers=layers)

    def scale(self, rate_mbps: float) -> float:
        """Return the factor of all rates and demands by which the fastest link of the file gets this rate."""
        return rate_mbps * 1e6 / max(self.rates.values()) if self.rates else 1.0

    def rate_mbps(self, hop: tuple[str, str], rate_mbps: float) -> float:
        """Return the rate of a link direction in the scenarios, where the fastest link has ``rate_mbps``."""
        return self.rates[hop] * self.scale(rate_mbps) / 1e6 if self.rates else rate_mbps

    def busiest(self, us_a_km: float) -> float:
        """Return the load of the busiest link, as a share of its rate if the file has rates; 0 without any path."""
        return busiest(self.loads(us_a_km, self.demands), lambda hop: self.rates.get(hop, 1.0))

    def has_demands(self) -> bool:
        """Whether the topology includes demands."""
        return bool(self.topology().demands)

    def has_places(self) -> bool:
        """Whether all nodes have coordinates."""
        return None not in self.topology().places

    def risks(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the links of each shared risk of the file."""
        by_risk: dict[str, tuple[str, ...]] = {}
        for name, link in zip(self.link_names(), self.of_file().links, strict=True):
            for risk in link.risks:
                by_risk[risk] = (*by_risk.get(risk, ()), name)
        return by_risk

    def at_risk(self) -> dict[str, set[str]]:
        """Return the links that share a risk, a fibre or a duct with each link."""
        groups = list(self.risks().values())
        if self.layers:
            fibres = [(at,) for at in range(len(self.layers.fibres))]
            groups += [self.layers.links_over(one) for one in (*fibres, *map(self.layers.in_duct, self.layers.ducts))]
        found: dict[str, set[str]] = defaultdict(set)
        for group in groups:
            for link in group:
                found[link].update(group)
        return found

    def of_file(self) -> FileNetwork:
        """Return the network as the file describes it."""
        return topologies.network_of(self.kind, self.reference, "scenario.toml")

    def topology(self) -> Topology:
        """Return the topology of the file or collection."""
        return topologies.find(self.kind, self.reference, "scenario.toml")

    def link_names(self) -> list[str]:
        """Return the names of links in scenarios."""
        return [name or f"{a}-{b}" for a, b, name, _ in self.links]

    @functools.cached_property
    def own_names(self) -> OwnNames:
        """Names of nodes in the file."""
        return OwnNames.of({f"topology.{self.kind}": self.reference}, "")

    @functools.cached_property
    def shown_links(self) -> dict[str, str]:
        """Names of links for tables, by name in scenarios: with the names of nodes in the file, if these are unique."""
        links = zip(self.link_names(), self.links, strict=True)
        shown = {name: self.own_names.link(name, a, b) for name, (a, b, *_) in links}
        return shown if len(set(shown.values())) == len(shown) else {name: name for name in shown}

    def parts(self) -> int:
        """Return the number of connected parts."""
        import networkx as nx

        graph = nx.Graph([(a, b) for a, b, *_ in self.links])
        graph.add_nodes_from(self.nodes)
        return int(nx.number_connected_components(graph))

    def ends(self, link: str) -> tuple[str, str]:
        """Return the two nodes of a link."""
        a, b, *_ = self.links[self.link_names().index(link)]
        return a, b

    def ports(self) -> dict[str, str]:
        """Return the link of each port, as named in results."""
        found: dict[str, str] = {}
        for name, (a, b, own, _) in zip(self.link_names(), self.links, strict=True):
            prefix = f"{own}:" if own else ""
            found |= {f"{prefix}{one}->{other}": name for one, other in ((a, b), (b, a))}
        return found

    def keys(self, us_a_km: float) -> list[str]:
        """Return the last keys of ``[topology]`` in scenarios: delays, costs, shared risks and fibres."""
        per_km = f'delay_per_km = "{round(1000 * us_a_km)} ns"'
        return [
            per_km,
            'cost = "file"' if self.costs else 'cost = "delay"',
            *(['risks = "file"'] if self.risks() else []),
            *(['fibres = "file"', "[optical]", per_km] if self.layers else []),
        ]

    def without(self, *failed: str) -> Network:
        """Return the network without some links, and without the given paths that need them."""
        links = tuple(one for name, one in zip(self.link_names(), self.links, strict=True) if name not in failed)
        joined = {hop for a, b, *_ in links for hop in ((a, b), (b, a))}
        given = {pair: path for pair, path in self.given.items() if joined.issuperset(itertools.pairwise(path))}
        return replace(self, links=links, given=given)

    def path(self, a: str, b: str, us_a_km: float) -> list[str] | None:
        """Return the path of minimum delay between two nodes, or None."""
        return self.paths(us_a_km, [(a, b)]).get((a, b))

    def pair_hops(self, pairs: Iterable[tuple[str, str]], us_a_km: float) -> dict[tuple[str, str], list[int]]:
        """Return the hops of the shortest pair of disjoint paths, the shorter path (with any bridges) first."""
        pairs = list(pairs)
        return dict(zip(pairs, self.graph(us_a_km).pair_hops(self._places(pairs)), strict=True))

    def paths(self, us_a_km: float, pairs: Iterable[tuple[str, str]] | None = None) -> dict[tuple[str, str], list[str]]:
        """Return the path of minimum delay of each pair, as nodes; unconnected pairs are omitted.

        Parameters
        ----------
        pairs
            Pairs of nodes; by default those with demand, ordered by their first node, with their given paths.
        """
        given = self.given if pairs is None else {}
        if pairs is None:
            begins = list(dict.fromkeys(a for a, _ in self.demands))
            pairs = sorted(self.demands, key=lambda pair: begins.index(pair[0]))
        pairs = list(pairs)
        found = zip(pairs, self.graph(us_a_km).paths(self._places(pairs)), strict=True)
        return {pair: list(given.get(pair, (self.nodes[at] for at in path))) for pair, path in found if path}

    def loads(self, us_a_km: float, volumes: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
        """Return the load of each direction of the links, in the unit of the volumes of pairs."""
        if self.ecmp:
            return split(self._arcs(us_a_km), volumes)
        loads: dict[tuple[str, str], float] = {}
        for pair, path in self.paths(us_a_km).items():
            for hop in itertools.pairwise(path if pair in volumes else ()):
                loads[hop] = loads.get(hop, 0.0) + volumes[pair]
        return loads

    def is_split(self, us_a_km: float) -> bool:
        """Return whether ECMP splits a demand."""
        return is_split(self._arcs(us_a_km), self.demands)

    def _arcs(self, us_a_km: float) -> list[tuple[str, str, int]]:
        """Return both nodes and the cost of each link direction."""
        # As in scenarios: a cost of 1 per microsecond, rounded up.
        ps_a_mm = round(1000 * us_a_km)
        arcs = []
        for name, (a, b, _, km) in zip(self.link_names(), self.links, strict=True):
            delay = max(1, -(-round(km * 1e6) * ps_a_mm // 10**9))
            there, back = self.costs.get(name, (delay, delay))
            arcs += [(a, b, there), (b, a, back)]
        return arcs

    def graph(self, us_a_km: float = US_A_KM) -> _core.Graph:
        """Return the graph with node indices and link delays in ns as costs."""
        ends = self._places([(a, b) for a, b, *_ in self.links])
        costs = (min(round(1000 * max(1.0, km * us_a_km)), MOST_NS) for *_, km in self.links)
        return _core.Graph(len(self.nodes), [(*pair, cost) for pair, cost in zip(ends, costs, strict=True)])

    def _places(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
        place = {name: at for at, name in enumerate(self.nodes)}
        return [(place[a], place[b]) for a, b in pairs]


def _kind(reference: str) -> str:
    """Return "file" or "name" for a network reference."""
    return "file" if is_file(reference) else "name"


def _demands(of_file: FileNetwork, found: Topology) -> tuple[dict[tuple[str, str], float], bool]:
    """Return the demands of a topology, and whether they are in bit/s."""
    volumes = topologies.volumes(of_file)
    if volumes is not None:
        return {(found.nodes[a], found.nodes[b]): float(bps) for a, b, bps in volumes}, True
    return {(found.nodes[a], found.nodes[b]): float(demand) for a, b, demand in found.demands}, False


def _costs(network: Network) -> dict[str, tuple[int, int]]:
    """Return the costs of the links of a file in both directions; empty unless each is a whole number above zero."""
    if not any(cost is not None for link in network.of_file().links for cost in link.costs):
        return {}
    found = {}
    written = topologies.link_values(network.kind, network.reference, "scenario.toml", "cost", "file")
    for name, both in zip(network.link_names(), written, strict=True):
        costs = [int(cost) if cost and cost.isdecimal() else 0 for cost in both]
        if not all(0 < cost <= MOST_COST for cost in costs):
            return {}
        found[name] = costs[0], costs[1]
    return found


def _rates(of_file: FileNetwork, found: Topology) -> tuple[dict[tuple[str, str], float], tuple[str, ...]]:
    """Return the rates of a topology in bit/s by direction, and the links without one if others have one.

    There are no rates unless every link has one.
    """
    rates: dict[tuple[str, str], float] = {}
    unrated: dict[str, None] = {}
    for (a, b, name, _), both in zip(found.links, topologies.rates(of_file), strict=True):
        ends = found.nodes[a], found.nodes[b]
        for hop, bps in zip((ends, ends[::-1]), both, strict=True):
            if bps is None:
                unrated[name or "-".join(ends)] = None
            else:
                rates[hop] = max(rates.get(hop, 0.0), float(bps))
    return ({}, tuple(unrated) if rates else ()) if unrated else (rates, ())


def _wanted(
    matrix: str, found: Topology, reference: str, time: str | None
) -> tuple[dict[tuple[str, str], float], bool]:
    """Return the demands of a matrix, and whether they are in bit/s; rows of the same pair are added.

    A heading such as ``from,to,volume (Gbps)`` states the unit.
    """
    known = found.by_name()
    wanted: dict[tuple[str, str], float] = defaultdict(float)
    read = topologies.matrix(matrix, "scenario.toml", time)
    weights.check_nodes(matrix, read, known, reference)
    _, unit = units.heading(read["heading"][1][2]) if read["heading"] else ("", "")
    if not unit:
        for _, a, b, weight in read["rows"]:
            wanted[found.nodes[known[a]], found.nodes[known[b]]] += weight
        return {pair: float(weight) for pair, weight in wanted.items()}, False
    factor = units.factor("rate", unit)
    if factor is None:
        raise InputError(f"{matrix}: the unit `{unit}` of the last column is not a rate such as `Mbps`")
    written = topologies.matrix_values(matrix, "scenario.toml")
    for number, a, b, _ in read["rows"]:
        wanted[found.nodes[known[a]], found.nodes[known[b]]] += float(written[number] * factor)
    return dict(wanted), True


def busiest(loads: Mapping[tuple[str, str], float], rate: Callable[[tuple[str, str]], float]) -> float:
    """Return the load of the busiest link direction as a share of its rate, in the unit of the loads."""
    return max((load / rate(hop) for hop, load in loads.items()), default=0.0)


def systematic(demands: Mapping[tuple[str, str], float], count: int, seed: int) -> list[tuple[str, str]]:
    """Draw pairs in proportion to their demands by systematic sampling with a random start.

    Each pair is drawn its share of ``count`` times, rounded down or up.
    """
    pairs = list(demands)
    ends = list(itertools.accumulate(demands.values()))
    first = random.Random(seed).random()  # noqa: S311 - a draw of an experiment
    step = ends[-1] / count
    return [pairs[bisect.bisect_right(ends, (place + first) * step)] for place in range(count)]
