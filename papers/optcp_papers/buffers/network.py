"""Scenario of germany50 with access-limited flows, and the flows of each link after a switchover."""

import functools
import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from optcp import _core
from optcp.outage.network import US_A_KM, Network, systematic
from optcp.papers.kit import Settings
from optcp_papers.buffers.cells import AT_S
from optcp_papers.buffers.fluid import fluid_bytes
from optcp_papers.buffers.law import Flows, switchover_bytes
from optcp_papers.buffers.paper import ACCESS_MBPS

NETWORK = "sndlib/germany50"
DETOUR = 1.3
"""Ratio of fibre length to great-circle distance, as in the outage study."""
COUNT, PEAK, STEP_MBPS, HOSTS_SEED = 150, 0.8, 100, 1
"""Number of flows, maximum load of a link, step of the rates of links, and seed of the pairs."""
ACCESS_MS = 5
INTERVAL_S, STOP_S = 0.005, 9.4
Hop = tuple[str, str]


@dataclass(frozen=True)
class Merge:
    """Link with the longest predicted queue after a switchover.

    Attributes
    ----------
    hop
        Its two nodes, in the direction of the packets.
    rtt_s
        Mean RTT of its flows after the switchover.
    flows
        Its flows.
    alone
        Whether none of these flows crosses another overloaded link.
    """

    hop: Hop
    rtt_s: float
    flows: tuple[Flows, ...]
    alone: bool


@dataclass(frozen=True, eq=False)
class World:
    """Scenario of the network.

    Attributes
    ----------
    routes
        Nodes of the path of each flow.
    rates_bps
        Rate of each link direction: the smallest multiple of the step with at most the maximum load in both directions.
    """

    network: Network
    routes: tuple[tuple[str, ...], ...]
    rates_bps: Mapping[Hop, int]

    @functools.cached_property
    def lengths_s(self) -> dict[Hop, float]:
        """Propagation delay of each link direction, in whole microseconds."""
        return {
            hop: max(1, round(km * US_A_KM * DETOUR)) / 1e6
            for a, b, _, km in self.network.links
            for hop in ((a, b), (b, a))
        }

    def rtt_s(self, route: tuple[str, ...]) -> float:
        """Return the RTT without queues of a flow."""
        return 2 * (2 * ACCESS_MS / 1000 + sum(self.lengths_s[hop] for hop in itertools.pairwise(route)))

    @functools.cached_property
    def scenario(self) -> _core.Scenario:
        """The checked scenario, without a switchover."""
        return _core.Scenario.parse("\n".join(self._lines()) + "\n", "buffers.toml")

    def _lines(self) -> Iterator[str]:
        nodes = self.network.nodes
        yield from (
            f'stop = "{STOP_S} s"', 'silence = ["few-seeds", "oversubscribed", "shallow-queue"]',
            "[parameters]", 'congestion = "cubic"', "[tcp.host]", 'profile = "linux-6"', 'congestion = "$congestion"',
            "[[nodes]]", f"names = {json.dumps(nodes)}", "[[nodes]]", 'group = "host"', f"count = {len(self.routes)}",
            "[[nodes]]", 'group = "sink"', f"count = {len(nodes)}",
        )  # fmt: skip
        for a, b, *_ in self.network.links:
            yield from (
                "[[links]]", f"chain = {json.dumps([a, b])}", f'rate = "{self.rates_bps[a, b]} bps"',
                f'delay = "{1e6 * self.lengths_s[a, b]:.0f} us"', 'queue = "unlimited"',
            )  # fmt: skip
        for at, node in enumerate(nodes):
            yield from (
                "[[links]]", f"chain = {json.dumps([node, f'sink{at}'])}", 'rate = "10 Gbps"',
                f'delay = "{ACCESS_MS} ms"', 'queue = "unlimited"',
            )  # fmt: skip
        for at, route in enumerate(self.routes):
            path = [f"host{at}", *route, f"sink{nodes.index(route[-1])}"]
            yield from (
                "[[links]]", f"chain = {json.dumps(path[:2])}", f'rate = "{ACCESS_MBPS} Mbps"',
                f'delay = "{ACCESS_MS} ms"', f'queue = "{1e6 * self.rtt_s(route):.0f} us"',
                'reverse = { rate = "1 Gbps", queue = "unlimited" }',
                "[[flows]]", f'group = "flow{at}"', f"path = {json.dumps(path)}", 'tcp = "host"',
                'start = "uniform(0 s, 2 s)"',
            )  # fmt: skip
        yield from ("[[protection]]", *(f"{key} = {json.dumps(value)}" for key, value in self._entry(*self.used[0])))
        yield from (
            "[[observe]]", 'name = "ports"', 'kind = "ports"', f"links = {json.dumps(self.network.link_names())}",
            f'after = "{AT_S:g} s"', f'interval = "{INTERVAL_S} s"',
        )  # fmt: skip

    def _entry(self, a: str, b: str) -> list[tuple[str, object]]:
        """Return the keys of the protection of one link direction."""
        groups = [f"flow{at}" for at, route in enumerate(self.routes) if (a, b) in itertools.pairwise(route)]
        keys = {
            "flows": groups,
            "scheme": "local",
            "link": [a, b],
            "backup": self.detours[a, b],
            "switch_delay": "50 ms",
        }
        return list(keys.items())

    @functools.cached_property
    def used(self) -> tuple[Hop, ...]:
        """Link directions with flows that a detour can replace, in the order of the network."""
        carried = {hop for route in self.routes for hop in itertools.pairwise(route)}
        links = [hop for a, b, *_ in self.network.links for hop in ((a, b), (b, a))]
        return tuple(hop for hop in links if hop in carried and hop in self.detours)

    @functools.cached_property
    def links(self) -> tuple[Hop, ...]:
        """Links with flows in at least one direction."""
        return tuple((a, b) for a, b, *_ in self.network.links if (a, b) in self.used or (b, a) in self.used)

    @functools.cached_property
    def detours(self) -> dict[Hop, list[str]]:
        """Shortest path around each link, in both directions; bridges have none."""
        found = {}
        for name, (a, b, *_) in zip(self.network.link_names(), self.network.links, strict=True):
            for hop in ((a, b), (b, a)):
                if path := self.network.without(name).path(*hop, US_A_KM * DETOUR):
                    found[hop] = path
        return found

    def switched(self, a: str, b: str) -> Settings:
        """Return the settings in which a command moves both directions of a link to its detour."""
        entries = [dict(self._entry(*hop)) for hop in ((a, b), (b, a)) if hop in self.used]
        command = {"at": f"{AT_S:g} s", "command": "forced-switch"}
        return {"protection": [{**entry, "commands": [command]} for entry in entries]}

    def after(self, a: str, b: str) -> list[tuple[tuple[str, ...], Flows]]:
        """Return each flow after the switchover of a link, with its path."""
        found = []
        for route in self.routes:
            now = route
            for hop in ((a, b), (b, a)):
                if hop in itertools.pairwise(route):
                    at = route.index(hop[0])
                    now = (*route[:at], *self.detours[hop], *route[at + 2 :])
            found.append((now, Flows(1, ACCESS_MBPS * 1e6, self.rtt_s(route), self.rtt_s(now))))
        return found

    def merge(self, a: str, b: str, tcp: str) -> Merge:
        """Return the link with the longest predicted queue after the switchover of a link."""
        by_hop: dict[Hop, list[tuple[tuple[str, ...], Flows]]] = defaultdict(list)
        for now, flow in self.after(a, b):
            for hop in set(itertools.pairwise(now)):
                by_hop[hop].append((now, flow))
        overloaded = {hop for hop, on in by_hop.items() if len(on) * ACCESS_MBPS * 1e6 > self.rates_bps[hop]}
        merges = []
        for hop, on in by_hop.items():
            others = overloaded - {hop}
            alone = not any(others & set(itertools.pairwise(now)) for now, _ in on)
            flows = tuple(flow for _, flow in on)
            merges.append(Merge(hop, sum(flow.after_s for flow in flows) / len(flows), flows, alone))
        return max(merges, key=lambda one: self.law_bytes(one, tcp) / self.rates_bps[one.hop])

    def law_bytes(self, merge: Merge, tcp: str) -> float:
        """Return the predicted buffer in bytes."""
        return switchover_bytes(tcp, merge.flows, self.rates_bps[merge.hop], merge.rtt_s)

    def fluid_bytes(self, merge: Merge, tcp: str) -> float:
        """Return the buffer by the fluid model in bytes."""
        return fluid_bytes(tcp, merge.flows, self.rates_bps[merge.hop], merge.rtt_s)


@functools.cache
def world() -> World:
    """Return the scenario of the study."""
    network = Network.find(NETWORK)
    pairs = systematic(network.demands, COUNT, HOSTS_SEED)
    paths = network.paths(US_A_KM * DETOUR)
    routes = tuple(tuple(paths[pair]) for pair in pairs)
    counts: dict[frozenset[str], list[int]] = defaultdict(lambda: [0, 0])
    for route in routes:
        for a, b in itertools.pairwise(route):
            counts[frozenset((a, b))][a < b] += 1
    rates = {}
    for a, b, *_ in network.links:
        steps = math.ceil(max(counts[frozenset((a, b))]) * ACCESS_MBPS / (PEAK * STEP_MBPS))
        rates[a, b] = rates[b, a] = max(1, steps) * STEP_MBPS * 10**6
    return World(network, routes, rates)
