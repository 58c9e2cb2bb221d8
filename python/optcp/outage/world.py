"""Scenarios of an outage study: a network with long and short flows, and one failure."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from optcp import _core
from optcp.errors import InputError
from optcp.outage.capacity import volumes
from optcp.outage.network import US_A_KM, systematic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.outage.network import Network
    from optcp.outage.routing import Pair

MOST_FLOWS = 50_000
"""Maximum number of long flows; each has its own host."""
LEAST_QUEUE_BYTES = 3000
"""Minimum queue limit of a link whose rate is scaled."""
MSS_SHARE = 1448 / 1500
"""Payload of a full segment of Linux as a share of its packet size."""
ACCESS_MS = (1.0, 5.0)
"""Range of the uniformly distributed one-way delay of access links."""
ACCESS_COST = 1_000_000
"""Cost of access links, high enough that no path leads through a host."""

SILENCED = ("idle-failure", "shallow-queue", "not-covered", "cut-for-good", "oversubscribed", "few-seeds", "no-effect")
"""Warnings that the text of these scenarios causes, so that a user cannot act on them."""

WEB_SEARCH = (
    (10_000, 15.0), (20_000, 20.0), (30_000, 30.0), (50_000, 40.0), (80_000, 53.0), (200_000, 60.0), (1_000_000, 70.0),
    (2_000_000, 80.0), (5_000_000, 90.0), (10_000_000, 97.0), (30_000_000, 100.0),
)  # fmt: skip
"""Flow sizes of a web search cluster (HPCC's traffic generator): bytes, and the percentage of flows up to them."""
HADOOP = (
    (100, 1.0), (300, 5.0), (400, 20.0), (500, 30.0), (600, 40.0), (700, 50.0), (1_000, 60.0), (2_000, 67.0),
    (7_000, 70.0), (30_000, 72.0), (50_000, 82.0), (80_000, 87.0), (120_000, 90.0), (300_000, 95.0), (1_000_000, 97.5),
    (2_000_000, 99.0), (10_000_000, 100.0),
)  # fmt: skip
"""Flow sizes of a Hadoop cluster, in the same form."""
SIZES = {"web-search": WEB_SEARCH, "hadoop": HADOOP}


@dataclass(frozen=True)
class Assumptions:
    """Assumptions of an outage study about everything but the network. Assumptions left at their default are reported.

    Attributes
    ----------
    rate_mbps
        Rate of every link, in Mb/s. If the file states rates, it is the rate of the fastest link, and all rates and
        demands are scaled by one factor.
    peak
        Load of the busiest link without a failure, as a share of its rate.
    flow_mbps
        Access rate of a long flow, in Mb/s.
    short_share
        Share of the traffic of each pair that short flows carry.
    short_mbps
        Access rate of the senders of short flows, in Mb/s.
    sizes, clamp_mb
        Size distribution of short flows, "web-search" or "hadoop", and its maximum in MB.
    detour
        Ratio of fibre length to great-circle distance.
    queue_ms
        Queue size of a port, as the time that it takes to drain.
    hosts_seed
        Seed for drawing the pairs of long flows.
    warm_up_s, window_s
        Time of the failure (plus 0 to 100 ms), and the measurement time after it.
    optical_detection_ms, optical_protection_ms, optical_restoration_s
        Detection of failures in the optical layer, then switchover to a backup path, or computation and set-up.
    hold_off_ms
        Time that routers or protection give the optical layer, in addition to their detection.
    """

    rate_mbps: float = 100.0
    peak: float = 0.6
    flow_mbps: float = 4.0
    short_share: float = 0.2
    short_mbps: float = 20.0
    sizes: str = "web-search"
    clamp_mb: float = 5.0
    detour: float = 1.3
    queue_ms: float = 40.0
    hosts_seed: int = 1
    warm_up_s: float = 4.0
    window_s: float = 4.0
    optical_detection_ms: float = 10.0
    optical_protection_ms: float = 50.0
    optical_restoration_s: float = 8.0
    hold_off_ms: float = 100.0

    @classmethod
    def names(cls) -> list[str]:
        """Names of all assumptions."""
        return [one.name for one in fields(cls)]

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """The size distribution, truncated at ``clamp_mb``: bytes, and the percentage of flows up to them."""
        largest = self.clamp_mb * 1e6
        return (*((size, share) for size, share in SIZES[self.sizes] if size < largest), *self._clamped(largest))

    def _clamped(self, largest: float) -> list[tuple[float, float]]:
        known = SIZES[self.sizes]
        if largest >= known[-1][0]:
            return [known[-1]]
        place = next(at for at, (size, _) in enumerate(known) if size >= largest)
        (below, low), (above, high) = known[place - 1] if place else (0.0, 0.0), known[place]
        return [(largest, low + (high - low) * (largest - below) / (above - below)), (largest, 100.0)]

    @property
    def mean_size(self) -> float:
        """The mean size of a short flow in bytes."""
        mean, size_before, share_before = 0.0, 0.0, 0.0
        for size, share in self.points:
            mean += (share - share_before) / 100 * (size + size_before) / 2
            size_before, share_before = size, share
        return mean


@dataclass(frozen=True)
class World:
    """A network under assumptions, as a scenario.

    Attributes
    ----------
    long
        Pair of nodes of each long flow.
    """

    network: Network
    assumed: Assumptions
    long: tuple[tuple[str, str], ...]
    text: str

    @classmethod
    def of(cls, network: Network, assumed: Assumptions, matrix: str | None = None) -> World:
        """Scale the demands to the peak load, and draw the pairs of the long flows.

        Parameters
        ----------
        matrix
            File with the result of :func:`matrix_of`, if the demands do not belong to the topology.

        Raises
        ------
        InputError
            If no pair has a path, or the number of flows is too large.
        """
        paths = network.paths(US_A_KM * assumed.detour)
        if not paths:
            raise InputError(f"{network.reference}: no pair of nodes with a demand has a path")
        _check_slowest(network, assumed)
        demands = {pair: network.demands[pair] for pair in paths}
        total_mbps = sum(volumes(network, assumed).values())
        count = max(1, round(total_mbps * (1 - assumed.short_share) / assumed.flow_mbps))
        if count > MOST_FLOWS:
            raise InputError(
                f"{network.reference}: {count} long flows of {assumed.flow_mbps:g} Mb/s exceed the limit of "
                f"{MOST_FLOWS}; raise flow_mbps or lower rate_mbps"
            )
        long = tuple(systematic(demands, count, assumed.hosts_seed))
        return cls(network, assumed, long, _text(network, assumed, long, total_mbps * assumed.short_share, matrix))

    @property
    def core(self) -> _core.Scenario:
        """The checked scenario."""
        return _core.Scenario.parse(self.text, "outage.toml")


def matrix_of(network: Network) -> str:
    """The demands between the hosts of short flows, as a CSV file for ``matrix`` of a scenario."""
    place = {name: at for at, name in enumerate(network.nodes)}
    return "".join(f"source{place[a]},sink{place[b]},{much:.0f}\n" for (a, b), much in network.demands.items())


def _text(
    network: Network, assumed: Assumptions, long: Iterable[tuple[str, str]], short_mbps: float, matrix: str | None
) -> str:
    rtt_ms = {
        pair: 2 * sum(_delays_ms(network, path, assumed)) + 2 * sum(ACCESS_MS)
        for pair, path in network.paths(US_A_KM * assumed.detour).items()
    }
    short = _short(network, volumes(network, assumed), short_mbps, matrix) if short_mbps else {}
    access = f'"uniform({ACCESS_MS[0]:g} ms, {ACCESS_MS[1]:g} ms)"'
    end_s = assumed.warm_up_s + 0.1 + assumed.window_s
    lines = [
        f"title = {_quoted(f'What a failure costs on {network.reference}')}",
        f'stop = "{end_s:g} s"',
        f"silence = {json.dumps(SILENCED)}",
        "[parameters]",
        'path = "routed"',
        'size = "greedy"',
        f"protected = {json.dumps(['long', *short])}",
        'detection = "10 ms"',
        "[tcp.long]",
        'profile = "linux-6"',
        "[tcp.short]",
        'profile = "linux-6"',
        "handshake = true",
        "[topology]",
        f"{network.kind} = {_quoted(network.reference)}",
        'group = "router"',
        *_rate(network, assumed),
        f'queue = "{assumed.queue_ms:g} ms"',
        *network.keys(US_A_KM * assumed.detour),
        "[routing]",
        'repair = "none"',
        'detection = "$detection"',
        'flooding = "2 ms"',
        'spf = "20 ms"',
        'update = "uniform(20 ms, 200 ms)"',
    ]
    for side in ("source", "sink"):
        lines += ["[[nodes]]", f'group = "{side}"', f"count = {len(network.nodes)}"]
    lines += [
        "[[links]]", 'chain = ["source", "router"]', f'rate = "{assumed.short_mbps:g} Mbps"', f"delay = {access}",
        'queue = "1000 packets"', f"cost = {ACCESS_COST}", 'reverse = { rate = "1 Gbps" }',
        "[[links]]", 'chain = ["router", "sink"]', 'rate = "1 Gbps"', f"delay = {access}", 'queue = "1000 packets"',
        f"cost = {ACCESS_COST}",
    ]  # fmt: skip
    place = {name: at for at, name in enumerate(network.nodes)}
    lines += ["[[nodes]]", 'group = "host"', f"count = {len(list(long))}"]
    for at, pair in enumerate(long):
        queue_bytes = max(3000, round(assumed.flow_mbps * rtt_ms[pair] * 125))
        lines += [
            "[[links]]", f'chain = ["host{at}", "{pair[0]}"]', f'rate = "{assumed.flow_mbps:g} Mbps"',
            f"delay = {access}",
            f'queue = "{queue_bytes} B"', f"cost = {ACCESS_COST}", 'reverse = { rate = "1 Gbps" }',
            "[[flows]]", 'group = "long"', *_path(network, pair, f"host{at}", f"sink{place[pair[1]]}"),
            'tcp = "long"', 'size = "$size"', 'start = "uniform(0 s, 1 s)"',
        ]  # fmt: skip
    points = ", ".join(f'["{size:.0f} B", {share:g}]' for size, share in assumed.points)
    for group, (mbps, path) in short.items():
        flows_a_s = 1e6 * mbps * MSS_SHARE / 8 / assumed.mean_size
        lines += [
            "[[flows]]", f'group = "{group}"', *path, 'tcp = "short"', f'arrivals = "{flows_a_s:.4g} flows/s"',
            f'sizes = {{ kind = "points", points = [{points}] }}',
        ]  # fmt: skip
    lines += [
        "[[failures]]", f'node = "{network.nodes[0]}"', f'at = "{assumed.warm_up_s:g} s"',
        'later = "uniform(0 s, 100 ms)"',
        "[[observe]]", 'name = "outages"', 'kind = "outages"', f'after = "{assumed.warm_up_s:g} s"',
        "[[observe]]", 'name = "ends"', 'kind = "completions"',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _short(
    network: Network, mbps: Mapping[Pair, float], total_mbps: float, matrix: str | None
) -> dict[str, tuple[float, list[str]]]:
    """Return the rate in Mb/s and the keys of the path of each group of short flows.

    The pairs of nodes share one group. With given paths, each pair has its own group.
    """
    if not network.given:
        weights = 'weights = "demands"' if matrix is None else f"matrix = {_quoted(matrix)}"
        return {"short": (total_mbps, [f'pairs = {{ from = "source", to = "sink", {weights} }}', 'path = "$path"'])}
    place, share = {name: at for at, name in enumerate(network.nodes)}, total_mbps / sum(mbps.values())
    return {
        f"short{at}": (share * much, _path(network, (a, b), f"source{place[a]}", f"sink{place[b]}"))
        for at, ((a, b), much) in enumerate(mbps.items())
    }


def _path(network: Network, pair: Pair, source: str, sink: str) -> list[str]:
    """Return the keys of the path of flows between two hosts: the given one, or the one of the mechanism."""
    if pair in network.given:
        return [f"path = {json.dumps([source, *network.given[pair], sink], ensure_ascii=False)}"]
    return [f'from = "{source}"', f'to = "{sink}"', 'path = "$path"']


def _check_slowest(network: Network, assumed: Assumptions) -> None:
    """Refuse a scale at which the queue of the slowest link holds less than two packets."""
    slowest = min((network.rate_mbps(hop, assumed.rate_mbps) for hop in network.rates), default=assumed.rate_mbps)
    holds = slowest * assumed.queue_ms * 125
    if network.rates and holds < LEAST_QUEUE_BYTES:
        needed = assumed.rate_mbps * LEAST_QUEUE_BYTES / holds
        raise InputError(
            f"{network.reference}: with rate_mbps={assumed.rate_mbps:g} the slowest link has {slowest:.3g} Mb/s, and "
            f"its queue of {assumed.queue_ms:g} ms holds less than two packets; set rate_mbps to {needed:.3g} or more"
        )


def _rate(network: Network, assumed: Assumptions) -> list[str]:
    """Return the keys of the rates of links."""
    if not network.rates:
        return [f'rate = "{assumed.rate_mbps:g} Mbps"']
    return ['rate = "file"', f"rate_scale = {network.scale(assumed.rate_mbps):.12g}"]


def _quoted(text: str) -> str:
    """Quote a string for TOML, whose escapes include the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _delays_ms(network: Network, path: list[str], assumed: Assumptions) -> list[float]:
    km = {frozenset(link[:2]): link[3] for link in reversed(network.links)}
    return [km[frozenset(hop)] * US_A_KM * assumed.detour / 1000 for hop in itertools.pairwise(path)]
