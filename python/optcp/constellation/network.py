"""Scenario of a satellite network, with a queue at every hop and a forwarding table at every node.

# Model

Each station and satellite has one transmitter with one queue for its ground-satellite links, modelled as a node
``X.dish``. The links after it have delays and a rate of 8 Tb/s. A satellite has a transmitter and a queue for each
inter-satellite link. All transmitters have the same rate.

A node chooses the next hop of a packet on arrival, and keeps this choice if tables change while the packet is queued.
Tables change every step, at all nodes at once. Delays change continuously, and a packet gets the delay at the start of
its transmission. Packets in flight at a change arrive, and are forwarded from there. After a change to a shorter path
they overtake others, one hop at a time. A packet at a node without a route is lost.

# References

The experiment a_b of Hypatia (Kassing and others, IMC 2020; snkas/hypatia at 0ac531c, snkas/basic-sim at 3b32597). It
uses 10 Mb/s, 100 packets, segments of 1380 B, an initial window of ten, SACK, timestamps, and an ACK for every second
segment.

# Choices

The shell, pairs of stations, how often tables change, the rate.

# Limitations

A satellite's links to the ground do not disturb each other, regardless of their number. Weather and pointing times are
not modelled. Entries are kept for five seconds for packets that a change has left behind
(:mod:`optcp.constellation.forwarding`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.constellation import beside, forwarding, places
from optcp.constellation.series import apart, steps
from optcp.constellation.world import HEAD, OBSERVED, OF_ONE, World, check_length, check_rate, milliseconds, node
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from optcp.constellation.forwarding import Tables
    from optcp.constellation.hypatia import HypatiaNetwork
    from optcp.constellation.paths import Constellation
    from optcp.constellation.series import Series
    from optcp.constellation.stations import Station

AT_ONCE = "8 Tbps"
"""Rate of links that only have a delay: 1 ps per byte."""

TEMPLATE = """\
# {title}, as in Hypatia's experiment (IMC 2020).
#
# S17 is satellite 17, X.dish the transmitter of X to the links between satellites and ground, where its packets wait.
# delays.csv has the propagation delays, forwarding.csv where nodes send packets.
# Change first: congestion (`optcp list congestion`), queue.
{head}
[[nodes]]
names = [{nodes}]

[[links]]                     # from each station and satellite to the ground-satellite links
chains = [
{dishes}
]
rate = "$rate"
delay = "0 s"
queue = "$queue"
reverse = {{ rate = "{at_once}", queue = "unlimited" }}

[[links]]                     # between satellites and ground
chains = [
{ground}
]
rate = "{at_once}"
delay = "4 ms"
queue = "unlimited"
{isls}
[[schedules]]
file = "delays.csv"
delays = "linear"

[forwarding]
file = "forwarding.csv"

{flows}
{observed}"""

ISLS = """
[[links]]                     # between satellites
chains = [
{isls}
]
rate = "$rate"
delay = "7 ms"
queue = "$queue"
"""

FLOW = """\
[[flows]]
group = "{group}"
from = "{a}"
to = "{b}"
tcp = "long"
"""


def network(
    shell: Constellation,
    pairs: Sequence[tuple[Station, Station]],
    length_s: float,
    step_s: float = 0.1,
    first_s: float = 0.0,
    rate_mbps: float = 10.0,
    each: Callable[[NDArray[np.float64]], Iterable[float]] = iter,
) -> World:
    """Create a scenario of flows between pairs of stations.

    Parameters
    ----------
    shell
        Constellation.
    pairs
        Sender and receiver of each flow.
    length_s
        How long the run is.
    step_s
        How often tables change.
    first_s
        When it begins, from 2000-01-01 00:00 UT.
    rate_mbps
        Rate of every link in Mb/s.
    each
        Wrapper of the iterator over the times of table changes, to show progress.

    Returns
    -------
    :class:`~optcp.constellation.world.World`
        The scenario, with ``forwarding.csv``, ``delays.csv``, and ``places.csv`` for pictures.

    Raises
    ------
    InputError
        If a pair is one place, or has no path all the time; if the rate or the times are impossible.
    """
    stations = list(dict.fromkeys(station for pair in pairs for station in pair))
    numbers = {station: place for place, station in enumerate(stations)}
    for a, b in pairs:
        apart(a, b)
    seconds = steps(length_s, step_s, first_s)
    found = forwarding.tables(
        forwarding.states(shell, stations, each(seconds)), [(numbers[a], numbers[b]) for a, b in pairs], shell.size
    )
    return of_tables(shell, stations, found, (float(seconds[0]), float(seconds[0]) + length_s), rate_mbps)


def network_of(found: Series, rate_mbps: float = 10.0) -> World:
    """Create a scenario of a flow over a series of paths, starting with the series.

    Parameters
    ----------
    found
        Paths, which need not be the shortest.
    rate_mbps
        Rate of every link in Mb/s.

    Raises
    ------
    InputError
        If there is no path all the time; if the rate is impossible, or the time too short.
    """
    made = forwarding.tables(forwarding.along(found), [(0, 1)], found.shell.size)
    return of_tables(found.shell, (found.start, found.end), made, (float(found.seconds[0]), found.end_s), rate_mbps)


def network_of_states(found: HypatiaNetwork, start: str, end: str, rate_mbps: float = 10.0) -> World:
    """Create a scenario of a flow between two ground stations that follows the forwarding states of Hypatia.

    Raises
    ------
    InputError
        If a station does not exist, both are equal, there is never a path, or a file is invalid.
    """
    pair = found.station(start) - found.size, found.station(end) - found.size
    made = forwarding.tables(found.states, [pair], found.size)
    ends_s = found.states.steps * found.states.step_ms / 1000
    return of_tables(found, found.stations, made, (0.0, ends_s), rate_mbps)


def of_tables(
    shell: Constellation, stations: Sequence[Station], found: Tables, span_s: tuple[float, float], rate_mbps: float
) -> World:
    """Create a scenario from forwarding tables; ``span_s`` is its start and end."""
    check_rate(rate_mbps)
    begins, ends = span_s
    check_length(ends - begins)
    for (a, b), changes in found.paths.items():
        if not any(path for _, path in changes):
            raise InputError(f"no path from {stations[a].name} to {stations[b].name} at any time")
    names = _Names(shell.size, stations)
    of_ground = [link for link in found.used if link[1] >= shell.size]
    dishes = sorted({one for link in of_ground for one in link})
    isls = [link for link in found.used if link[1] < shell.size]
    nodes = sorted({one for link in found.used for one in link})
    pairs = list(found.paths)
    of_stations = [one - shell.size for one in nodes if one >= shell.size]
    # A single flow is named after its kind, and each of several flows after its ends.
    many = len(pairs) > 1
    ends_of = [tuple(names.of(shell.size + one) for one in pair) for pair in pairs]
    flows = [(f"{a}-{b}" if many else "long", a, b) for a, b in ends_of]
    senders = dict.fromkeys(a for a, _ in ends_of)
    title = _title(shell, stations, pairs)
    text = TEMPLATE.format(
        title=title,
        head=HEAD.format(title=title, stop=f"{ends - begins:.9g}", rate=f"{rate_mbps:.9g}"),
        nodes=_listed([*(names.of(one) for one in nodes), *(names.dish(one) for one in dishes)]),
        dishes=_chains((names.of(one), names.dish(one)) for one in dishes),
        ground=_chains((names.dish(a), names.dish(b)) for a, b in of_ground),
        isls=ISLS.format(isls=_chains((names.of(a), names.of(b)) for a, b in isls)) if isls else "",
        at_once=AT_ONCE,
        flows="\n".join(FLOW.format(group=group, a=a, b=b) for group, a, b in flows),
        observed=OBSERVED.format(first=", ".join(f'["{a}", "{a}.dish"]' for a in senders)) + ("" if many else OF_ONE),
    )
    delays = _delays(shell, stations, found, span_s, names)
    where = places.places(
        {names.stations[place]: stations[place] for place in dict.fromkeys([*pairs[0], *of_stations])},
        shell,
        [one for one in nodes if one < shell.size],
        places.times(begins, ends),
    )
    rows = _forwarding(found, begins, names)
    return World(text, {"delays.csv": delays, "forwarding.csv": rows, beside.PLACES: places.written(where)})


def _title(shell: Constellation, stations: Sequence[Station], pairs: Sequence[tuple[int, int]]) -> str:
    if len(pairs) > 1:
        return f"{len(pairs)} flows over {shell.name}"
    ((a, b),) = pairs
    return f"{stations[a].name} to {stations[b].name} over {shell.name}"


class _Names:
    """Names of nodes in the scenario."""

    def __init__(self, size: int, stations: Sequence[Station]) -> None:
        self.size = size
        plain = [node(one.name, f"place{place}") for place, one in enumerate(stations)]
        # Two cities may have the same ASCII name.
        self.stations = [name if plain.count(name) == 1 else f"{name}-{place}" for place, name in enumerate(plain)]

    def of(self, number: int) -> str:
        return f"S{number}" if number < self.size else self.stations[number - self.size]

    def dish(self, number: int) -> str:
        return f"{self.of(number)}.dish"

    def link(self, a: int, b: int) -> str:
        """Return the name of a link, the smaller number first."""
        name = self.of if b < self.size else self.dish
        return f"{name(a)}-{name(b)}"

    def next(self, a: int, b: int) -> str:
        """Return the table entry for a next hop."""
        if b == forwarding.NOWHERE:
            return "none"
        if max(a, b) < self.size:
            return self.of(b)
        return f"{self.dish(a)} > {self.dish(b)} > {self.of(b)}"


def _forwarding(found: Tables, begins: float, names: _Names) -> str:
    rows = ["at (ms), node, to, next"]
    for one in found.entries:
        at = milliseconds(one.at_s - begins)
        rows.append(f"{at}, {names.of(one.node)}, {names.of(one.to)}, {names.next(one.node, one.next)}")
    return "\n".join([*rows, ""])


def _delays(
    shell: Constellation, stations: Sequence[Station], found: Tables, span_s: tuple[float, float], names: _Names
) -> str:
    rows: list[tuple[float, str]] = []
    for link, at, delay_ns in forwarding.delays(shell, stations, found, *span_s):
        name = names.link(*link)
        rows += [
            (one, f"{milliseconds(one - span_s[0])}, {name}, {ns}")
            for one, ns in zip(at.tolist(), delay_ns, strict=True)
        ]
    rows.sort(key=lambda row: row[0])
    return "\n".join(["at (ms), link, delay (ns)", *(row for _, row in rows), ""])


def _chains(chains: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f'  ["{a}", "{b}"],' for a, b in chains)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
