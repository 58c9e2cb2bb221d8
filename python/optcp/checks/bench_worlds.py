"""Generated scenarios of ``optcp bench``: a mesh, short flows at random, a fat-tree, queues.

Random values are hashes, so that all machines and Python versions generate the same scenarios.
"""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING

from optcp import _core
from optcp.scenarios.shipped import scenarios
from optcp.scenarios.topologies import find

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Flows of the mesh, by TCP.
CUBIC, BBR = 40, 10
#: Ports of a switch of the fat-tree.
K = 8
#: Routers and flows of the ring with chords.
ROUTERS, FLOWS = 50, 500
#: Every queue discipline, drop-tail first.
QUEUES = [entry["name"] for entry in _core.catalogue() if entry["family"] == "queues"]


def mesh() -> str:
    """germany50 with TI-LFA: 50 flows between random pairs of cities, and a link that fails."""
    cities, *_ = find("name", "sndlib/germany50", "")
    flows = "".join(
        f'\n[[flows]]\ngroup = "flow{flow}"\nfrom = "{source}"\nto = "{target}"\n'
        f'tcp = "{"cubic" if flow < CUBIC else "bbr"}"\nstart = "uniform(0 s, 100 ms)"\n'
        for flow in range(CUBIC + BBR)
        for source, target in [_two(cities, f"pair {flow}")]
    )
    return f"""
title = "Mesh: germany50, TI-LFA, {CUBIC} CUBIC and {BBR} BBR flows"
stop = "4 s"

[tcp.cubic]
profile = "linux-6"

[tcp.bbr]
profile = "linux-6"
congestion = "bbr"
pacing = "rate"

[topology]
name = "sndlib/germany50"
rate = "1 Gbps"
queue = "500 packets"
cost = "delay"

[routing]
repair = "ti-lfa"
detection = "20 ms"
hold_down = "50 ms"
flooding = "10 ms"
spf = "20 ms"
update = "uniform(0 s, 100 ms)"
{flows}
[[failures]]
link = ["Frankfurt", "Fulda"]
at = "2 s"
"""


def ring() -> str:
    """A ring of routers with chords, links of 1 to 5 ms, and NewReno between random pairs of routers."""
    names = [f"R{router}" for router in range(ROUTERS)]
    pairs = [(a, (a + 1) % ROUTERS) for a in range(ROUTERS)] + [(a, (a + 7) % ROUTERS) for a in range(0, ROUTERS, 2)]
    links = "".join(
        f'\n[[links]]\nchain = ["R{a}", "R{b}"]\nrate = "1 Gbps"\n'
        f'delay = "{1 + _number(f"delay {a} {b}") % 5} ms"\nqueue = "500 packets"\n'
        for a, b in pairs
    )
    flows = "".join(
        f'\n[[flows]]\ngroup = "flow{flow}"\nfrom = "{source}"\nto = "{target}"\npath = "shortest"\n'
        'tcp = "newreno"\nstart = "uniform(0 s, 500 ms)"\n'
        for flow in range(FLOWS)
        for source, target in [_two(names, f"ring pair {flow}")]
    )
    return f"""
title = "Mesh of {ROUTERS} routers"
stop = "4 s"

[tcp.newreno]
profile = "rfc"
mss = "1448 B"
header = "52 B"
ack_size = "52 B"
initial_window = 10
initial_ssthresh = "64 segments"
min_rto = "250 ms"

[[nodes]]
names = {json.dumps(names)}
{links}{flows}"""


def lbas() -> str:
    """The bundle of the LBAS paper."""
    return scenarios()["lbas"].read_text(encoding="utf-8")


def short_flows(load: float) -> str:
    """Flows of Pareto sizes, 50 kB on average, that come at random and share 5 Gb/s."""
    mean_bits, rate = 50_000 * 8, 5_000_000_000
    return f"""
title = "Short flows: load {load}"
stop = "10 s"

[[nodes]]
names = ["R", "D", "far"]

[[nodes]]
group = "server"
count = 50

[[links]]
chain = ["server", "R"]
rate = "10 Gbps"
delay = "uniform(1 ms, 50 ms)"
queue = "unlimited"

[[links]]
chain = ["R", "D"]
rate = "5 Gbps"
delay = "20 ms"
queue = "20000 packets"

[[links]]
chain = ["D", "far"]
rate = "10 Gbps"
delay = "1 ms"
queue = "unlimited"

[[flows]]
group = "web"
path = ["server", "R", "D", "far"]
tcp = "linux-6"
arrivals = "{round(load * rate / mean_bits)} flows/s"
sizes = {{ kind = "pareto", mean = "50 kB", shape = 1.2, largest = "100 MB" }}
"""


def fat_tree() -> str:
    """A fat-tree of switches with 8 ports and links of 1 us: every host sends to another one, over a core drawn."""
    half = K // 2
    pods = range(K)
    hosts = [f"h{pod}-{edge}-{host}" for pod in pods for edge in range(half) for host in range(half)]
    edges, aggregations = ([f"{kind}{pod}-{place}" for pod in pods for place in range(half)] for kind in "ea")
    cores = [f"c{first}-{second}" for first in range(half) for second in range(half)]
    access = [[host, f"e{host[1:-2]}"] for host in hosts]
    inside = [[f"e{pod}-{edge}", f"a{pod}-{place}"] for pod in pods for edge in range(half) for place in range(half)]
    above = [[f"a{pod}-{place}", f"c{place}-{core}"] for pod in pods for place in range(half) for core in range(half)]
    targets = _shuffled(hosts, "targets")
    flows = "".join(
        f"\n[[flows]]\ngroup = {json.dumps(source)}\npath = {json.dumps(_up_and_down(source, target))}\n"
        'tcp = "linux-6"\nstart = "uniform(0 s, 1 ms)"\n'
        for source, target in zip(hosts, targets, strict=True)
        if source != target
    )
    return f"""
title = "Fat-tree of {len(hosts)} hosts"
stop = "60 ms"

[[nodes]]
names = {json.dumps([*hosts, *edges, *aggregations, *cores])}

[[links]]
chains = {json.dumps([*access, *inside, *above])}
rate = "10 Gbps"
delay = "1 us"
queue = "100 packets"
{flows}"""


def bottleneck(kind: str) -> str:
    """A discipline at the one port where the packets of 100 flows wait."""
    return f"""
title = "Bottleneck: {kind}"
stop = "10 s"

[[nodes]]
names = ["A", "B", "D"]

[[nodes]]
group = "S"
count = 100

[[links]]
chain = ["S", "A"]
rate = "1 Gbps"
delay = "uniform(1 ms, 20 ms)"
queue = "1000 packets"

[[links]]
chain = ["A", "B"]
rate = "1 Gbps"
delay = "10 ms"
queue = {_queue(kind, 1000)}
reverse = {{ queue = "1000 packets" }}

[[links]]
chain = ["B", "D"]
rate = "10 Gbps"
delay = "1 ms"
queue = "1000 packets"

[[flows]]
group = "web"
path = ["S", "A", "B", "D"]
tcp = "linux-6"
start = "uniform(0 s, 1 s)"
"""


def queues(kind: str) -> str:
    """Ten ports with a discipline in a row; datagrams fill 80 % of each, and none is dropped: all have the same."""
    names = json.dumps([f"Q{place}" for place in range(11)])
    return f"""
title = "Ten queues in a row: {kind}"
stop = "4 s"

[[nodes]]
names = {names}

[[links]]
chain = {names}
rate = "1 Gbps"
delay = "100 us"
queue = {_queue(kind, 5000)}

[[traffic]]
group = "datagrams"
from = "Q0"
to = "Q10"
path = "shortest"
process = "poisson"
rate = "800 Mbps"
size = "1250 B"
"""


def _queue(kind: str, packets: int) -> str:
    red = f', min = "{packets // 5} packets"' if kind == "red" else ""
    return f'{{ kind = "{kind}", limit = "{packets} packets"{red} }}'


def _up_and_down(source: str, target: str) -> list[str]:
    """A path in the fat-tree, by the switches that a hash chooses."""
    drawn = _number(f"{source} to {target}")
    place, core = drawn % (K // 2), drawn // (K // 2) % (K // 2)
    up, down = (f"e{host[1:-2]}" for host in (source, target))
    pods = [host[1 : host.index("-")] for host in (source, target)]
    if up == down:
        return [source, up, target]
    if pods[0] == pods[1]:
        return [source, up, f"a{pods[0]}-{place}", down, target]
    return [source, up, f"a{pods[0]}-{place}", f"c{place}-{core}", f"a{pods[1]}-{place}", down, target]


def _number(of: str) -> int:
    return int.from_bytes(hashlib.sha256(of.encode()).digest()[:8], "big")


def _two(members: Sequence[str], of: str) -> tuple[str, str]:
    """Two different ones."""
    first = _number(f"{of}, from") % len(members)
    second = (first + 1 + _number(f"{of}, to") % (len(members) - 1)) % len(members)
    return members[first], members[second]


def _shuffled(members: Sequence[str], of: str) -> list[str]:
    return sorted(members, key=lambda member: _number(f"{of}: {member}"))


#: Scenarios by name.
WORLDS: dict[str, Callable[[], str]] = {
    "mesh": mesh,
    "short flows, load 0.6": lambda: short_flows(0.6),
    "short flows, load 0.9": lambda: short_flows(0.9),
    "fat-tree": fat_tree,
    **{f"bottleneck, {kind}": functools.partial(bottleneck, kind) for kind in QUEUES},
    **{f"10 queues, {kind}": functools.partial(queues, kind) for kind in ("drop-tail", "red", "codel", "fq-codel")},
}

_COUNTED = {"parameters.warm_up": "1 s", "parameters.batch": "1 s"}

#: Scenarios to run with windows and threads: the function that writes the file (None: the dumbbell), and settings.
IN_ONE_RUN: dict[str, tuple[Callable[[], str] | None, dict[str, str | int]]] = {
    f"mesh of {ROUTERS} routers": (ring, {}),
    "bundle of ten, 1 ms": (
        lbas,
        {"stop": "3 s", "parameters.bundling_degree": "10", "parameters.lightpath_delay": "1 ms", **_COUNTED},
    ),
    "bundle of two, as in the paper": (lbas, {"stop": "4 s", **_COUNTED}),
    "dumbbell": (None, {"tcp": "newreno", "flows": 1000, "seconds": 10}),
}
