"""Scenario of a network whose adjacencies have two parallel links, with long flows, short RPCs and live video."""

import functools
import itertools
import json
from collections import defaultdict
from dataclasses import dataclass

from optcp import _core
from optcp.outage.network import US_A_KM, Network, systematic

NETWORKS = {name: f"sndlib/{name}" for name in ("abilene", "geant", "nobel-eu", "germany50")}
QUICK_NETWORK = "abilene"
DETOUR = 1.3
"""Ratio of fibre length to great-circle distance, as in the outage study."""
FAILS_S, REPAIRED_S, STOPS_S = 3.0, 8.0, 13.0
"""Times of failure and repair, and end of a run."""
LONG_MBPS, VIDEO_MBPS, RPC_BYTES, RPC_EVERY_MS = 4.0, 1.0, 10_000, 100
QUEUE_MS, ACCESS_MS = 40, 1
ACCESS_COST = 1_000_000
"""Cost of access links, high enough that no path leads through a host."""
SILENCED = ("idle-failure", "shallow-queue", "not-covered", "cut-for-good", "oversubscribed", "few-seeds", "no-effect")


@dataclass(frozen=True)
class Sessions:
    """Sessions and links of a scenario.

    Attributes
    ----------
    long, rpc, video
        Number of sessions of each kind.
    peak
        Load of the busiest adjacency, as a share of its capacity.
    hosts_seed
        Seed for drawing the pairs of sessions.
    parallel
        Number of parallel links of equal cost between two adjacent routers.
    """

    long: int
    rpc: int
    video: int
    peak: float
    hosts_seed: int
    parallel: int = 2


@dataclass(frozen=True)
class World:
    """Scenario of a network, with the names of its adjacencies.

    Attributes
    ----------
    links
        Name of each adjacency but bridges, its two nodes and its length in km. Its parallel links have the name and a
        number.
    core
        The checked scenario.
    """

    links: tuple[tuple[str, str, str, float], ...]
    core: _core.Scenario


@functools.cache
def world(name: str, sessions: Sessions) -> World:
    """Return the scenario of a network of the study."""
    network = Network.find(NETWORKS[name])
    links = tuple((f"adjacency{at}-", a, b, km) for at, (a, b, _, km) in enumerate(network.links))
    bridges = network.graph(US_A_KM * DETOUR).bridges()
    pairs = {
        kind: systematic(network.demands, count, sessions.hosts_seed + at)
        for at, (kind, count) in enumerate(
            {"long": sessions.long, "rpc": sessions.rpc, "video": sessions.video}.items()
        )
    }
    rate_mbps = _busiest_mbps(network, pairs) / (sessions.parallel * sessions.peak)
    text = "\n".join([*_network(network, links, rate_mbps, sessions.parallel), *_traffic(network, pairs)]) + "\n"
    kept = tuple(link for link, bridge in zip(links, bridges, strict=True) if not bridge)
    return World(kept, _core.Scenario.parse(text, "prr.toml"))


def _busiest_mbps(network: Network, pairs: dict[str, list[tuple[str, str]]]) -> float:
    """Return the load of the busiest direction of an adjacency."""
    paths = network.paths(US_A_KM * DETOUR)
    # Servers are at the second node of a pair: long flows go there, and responses and videos come from there.
    loads: dict[tuple[str, str], float] = defaultdict(float)
    rpc_mbps = RPC_BYTES * 8 / (RPC_EVERY_MS * 1000)
    for kind, mbps in {"long": LONG_MBPS, "rpc": rpc_mbps, "video": VIDEO_MBPS}.items():
        for pair in pairs[kind]:
            path = paths[pair] if kind == "long" else paths[pair][::-1]
            for hop in itertools.pairwise(path):
                loads[hop] += mbps
    return max(loads.values())


def _network(
    network: Network, links: tuple[tuple[str, str, str, float], ...], rate_mbps: float, parallel: int
) -> list[str]:
    """Return the lines of senders, routers, links and ducts."""
    hosts = range(len(network.nodes))
    lines = [
        f'stop = "{STOPS_S:g} s"',
        f"silence = {json.dumps(SILENCED)}",
        "[parameters]", 'repath = "none"', 'link = "adjacency0-0"', 'duct = "duct-adjacency0-"',
        # Each case replaces these failures.
        "[[failures]]", 'link = "$link"', f'at = "{FAILS_S:g} s"', f'repair = "{REPAIRED_S:g} s"',
        "[[failures]]", 'risk = "$duct"', f'at = "{REPAIRED_S + 1:g} s"',
        "[tcp.host]", 'profile = "linux-6"', 'repath = "$repath"',
        "[routing]", 'ecmp = "hash-threshold"', 'detection = "1 h"', 'flooding = "2 ms"', 'spf = "20 ms"',
        'update = "uniform(20 ms, 200 ms)"',
        "[[nodes]]", f"names = {json.dumps(network.nodes)}",
        "[[nodes]]", f'names = {json.dumps([f"client{at}" for at in hosts])}',
        "[[nodes]]", f'names = {json.dumps([f"server{at}" for at in hosts])}',
        "[[links]]",
        f"chains = {json.dumps([[f'{side}{at}', network.nodes[at]] for side in ('client', 'server') for at in hosts])}",
        'rate = "1 Gbps"', f'delay = "{ACCESS_MS} ms"', 'queue = "1000 packets"', f"cost = {ACCESS_COST}",
    ]  # fmt: skip
    for name, a, b, km in links:
        lines += [
            "[[links]]", f'name = "{name}"', f"count = {parallel}", f"chain = {json.dumps([a, b])}",
            f'rate = "{rate_mbps:.1f} Mbps"', f'delay = "{max(1, round(km * US_A_KM * DETOUR))} us"',
            f'queue = "{QUEUE_MS} ms"', 'cost = "delay"',
            "[[risks]]", f'name = "duct-{name}"', f'links = ["{name}"]',
        ]  # fmt: skip
    return lines


def _traffic(network: Network, pairs: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Return the lines of flows, applications and observations."""
    place = {name: at for at, name in enumerate(network.nodes)}
    paths = network.paths(US_A_KM * DETOUR)
    km = {frozenset(link[:2]): link[3] for link in network.links}
    lines = ["[[nodes]]", 'group = "host"', f"count = {len(pairs['long'])}"]
    for at, pair in enumerate(pairs["long"]):
        way_ms = sum(km[frozenset(hop)] for hop in itertools.pairwise(paths[pair])) * US_A_KM * DETOUR / 1000
        queue_bytes = max(3000, round(LONG_MBPS * 125 * 2 * (way_ms + 2 * ACCESS_MS)))
        lines += [
            "[[links]]", f"chain = {json.dumps([f'host{at}', pair[0]])}", f'rate = "{LONG_MBPS:g} Mbps"',
            f'delay = "{ACCESS_MS} ms"', f'queue = "{queue_bytes} B"', f"cost = {ACCESS_COST}",
            'reverse = { rate = "1 Gbps" }',
            "[[flows]]", 'group = "long"', f'from = "host{at}"', f'to = "server{place[pair[1]]}"', 'tcp = "host"',
            'start = "uniform(0 s, 1 s)"',
        ]  # fmt: skip
    kinds = {
        "rpc": [
            'kind = "request-response"', f'size = "{RPC_BYTES} B"', "rounds = 1000",
            f'think = "uniform({RPC_EVERY_MS // 2} ms, {3 * RPC_EVERY_MS // 2} ms)"',
        ],
        "video": [
            'kind = "video"', f'rate = "{VIDEO_MBPS:g} Mbps"', 'chunk = "500 ms"', 'buffer = "2 s"', 'startup = "2 s"',
            "rounds = 100",
        ],
    }  # fmt: skip
    for kind, keys in kinds.items():
        for at, (a, b) in enumerate(pairs[kind]):
            lines += [
                "[[applications]]", f'group = "{kind}{at}"', f'from = "client{place[a]}"', f'to = "server{place[b]}"',
                'tcp = "host"', 'start = "uniform(0 s, 0.5 s)"', *keys,
            ]  # fmt: skip
    return [
        *lines,
        "[[observe]]", 'name = "outages"', 'kind = "outages"', f'after = "{FAILS_S:g} s"', 'groups = ["long"]',
        "[[observe]]", 'name = "operations"', 'kind = "operations"',
    ]  # fmt: skip
