"""Scenario of a path series: two hosts, and a link with the delay of the path.

# Model

All links of the path have the same rate, so packets queue only at the sender. The scenario has two links; the first has
the queue of the sender. The transmission times of the other links are added to the propagation delay of the second
link, separately for segments and ACKs. A packet gets the path delay at the time at which it leaves the first link.
Packets therefore overtake others after a change to a shorter path. During an outage, packets that leave the first link
are lost.

# References

The experiment a_b of Hypatia (Kassing and others, IMC 2020; snkas/hypatia at 0ac531c, snkas/basic-sim at 3b32597). It
uses 10 Mb/s, 100 packets, segments of 1380 B, an initial window of ten, SACK, timestamps, and an ACK for every second
segment.

# Limitations

In Hypatia every node chooses the next hop on arrival, so a packet in flight at a change continues over the new path.
Here it stays on the old one. Packets that overtake do not share a queue of a satellite. Packets in flight at the start
of an outage are lost here; in Hypatia, only at a node without a route. Packets of other sizes take as long as the
scenario's packets on the links that the scenario leaves out.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.errors import InputError

if TYPE_CHECKING:
    from optcp.constellation.series import Paths

SEGMENT_BYTES = 1434
"""Size of a segment on the wire: 1380 B payload, IPv4 and TCP headers with timestamps, 2 B of PPP."""
ACK_BYTES = 54
"""Size of an ACK on the wire."""
LINKS = 2
"""Number of links in the scenario."""
EVERY_S = 0.01
"""Interval of delay changes in s; each change is at most half a microsecond."""
LEAST_S = 0.1
"""Interval of the observations, in s."""
MOST_ROWS = 2_000_000
"""Maximum number of rows of a trace."""

HEAD = """\
title = "{title}"
stop = "{stop} s"

[parameters]
congestion = "reno"           # with recovery "sack": what ns-3 calls NewReno; vegas is the other one of Hypatia
queue = "101 packets"         # 100 wait, and the one that is sent counts here
rate = "{rate} Mbps"

[tcp.long]                    # ns-3's TCP as basic-sim sets it
profile = "rfc"
congestion = "$congestion"
recovery = "sack"
mss = "1380 B"
header = "42 B"               # IPv4 20, TCP 20, PPP 2; timestamps add 12
ack_size = "42 B"
timestamps = true
handshake = true
initial_window = "10 segments"
ack = "delayed"
ack_delay = "200 ms"
min_rto = "1 s"
"""
"""Common start of both kinds of scenarios, with the TCP settings."""

OBSERVED = """\
[[observe]]
name = "goodput"
kind = "goodput"
interval = "100 ms"

[[observe]]
name = "queue"
kind = "queue"
links = [{first}]
interval = "100 ms"

[[observe]]
name = "drops"
kind = "drops"
"""
"""Observations for any number of flows; ``first`` are the ports with queues."""

OF_ONE = """\

[[observe]]
name = "tcp"
kind = "tcp"

[[observe]]                   # the round trips of segments: `optcp trace DIR --kind rtt`
name = "packets"
kind = "packets"

[[observe]]
name = "reordering"
kind = "reordering"
"""
"""Additional observations for a single flow; they would be long for many."""

TEMPLATE = """\
# {start} to {end} over {shell}, one TCP flow, as in Hypatia's experiment (IMC 2020).
#
#   {a} ==== sky ---- {b}     ==== {rate} Mb/s and the queue that fills; ---- the path, whose delay path.csv has
#
# path.csv: the propagation delay of the path, and {satellite} for each satellite but the first, which is what
# its link takes to transmit a segment (an ACK: {ack}). It was written for this rate and these sizes.
# Change first: congestion (`optcp list congestion`), queue.
{head}
[[nodes]]
names = ["{a}", "sky", "{b}"]

[[links]]
name = "up"
chain = ["{a}", "sky"]
rate = "$rate"
delay = "0 s"
queue = "$queue"

[[links]]
name = "path"
chain = ["sky", "{b}"]
rate = "$rate"
delay = "{delay} ns"
queue = "$queue"
overtaking = true

[[schedules]]
file = "path.csv"

[[flows]]
group = "long"
path = ["{a}", "sky", "{b}"]
tcp = "long"

{observed}"""


@dataclass(frozen=True)
class World:
    """Scenario with the files that it reads.

    Attributes
    ----------
    toml
        Scenario as TOML.
    files
        Texts of the files next to it, by name.
    """

    toml: str
    files: dict[str, str]


def check_rate(rate_mbps: float) -> None:
    """Raise an error if the link rate is out of range."""
    if not 0.001 <= rate_mbps <= 1_000_000:
        raise InputError(f"rate of {rate_mbps:g} Mb/s: expected 0.001 to 1000000")


def check_length(length_s: float) -> None:
    """Raise an error if the scenario is shorter than an observation interval."""
    if length_s < LEAST_S:
        raise InputError(f"{length_s:g} s: expected a scenario of {LEAST_S:g} s or more")


def world(found: Paths, rate_mbps: float = 10.0) -> World:
    """Create a scenario from a series of paths.

    Parameters
    ----------
    found
        Series; the scenario starts at its start.
    rate_mbps
        Rate of every link in Mb/s.

    Raises
    ------
    InputError
        If there is no path all the time, the rate is impossible, or the time too short or too long.
    """
    check_rate(rate_mbps)
    start, end = found.names
    if not any(found.paths):
        raise InputError(f"no path from {start} to {end} at any time")
    length_s = found.end_s - float(found.seconds[0])
    check_length(length_s)
    first_ns, rows = _rows(found, rate_mbps)
    a, b = node(start, "from"), node(end, "to")
    if len({a, b, "sky"}) < 3:
        a, b = "from", "to"
    text = TEMPLATE.format(
        start=start,
        end=end,
        shell=found.over,
        a=a,
        b=b,
        satellite=f"{_transmission_ns(SEGMENT_BYTES, rate_mbps) / 1e6:.4g} ms",
        ack=f"{_transmission_ns(ACK_BYTES, rate_mbps) / 1e6:.4g} ms",
        rate=f"{rate_mbps:.9g}",
        delay=first_ns,
        head=HEAD.format(title=f"{start} to {end} over {found.over}", stop=f"{length_s:.9g}", rate=f"{rate_mbps:.9g}"),
        observed=OBSERVED.format(first=f'["{a}", "sky"]') + OF_ONE,
    )
    return World(text, {"path.csv": "\n".join(["at (ms), direction, link, delay (ns), state", *rows, ""])})


def _rows(found: Paths, rate_mbps: float) -> tuple[int, list[str]]:
    """Return the initial delay, and the lines of the trace."""
    begins = float(found.seconds[0])
    rows: list[str] = []
    first_ns: int | None = None
    count = round((found.end_s - begins) / EVERY_S)
    if count > MOST_ROWS:
        raise InputError(f"{found.end_s - begins:g} s are {count} steps of {EVERY_S:g} s; the maximum is {MOST_ROWS}")
    down = False
    for one in found.stretches():
        if not one.satellites:
            rows.append(f"{milliseconds(one.start_s - begins)}, both, path, , down")
            down = True
            continue
        # The time of the change itself, and then all multiples of the step.
        inner = np.arange(np.floor((one.start_s - begins) / EVERY_S) + 1, np.ceil((one.end_s - begins) / EVERY_S))
        times = np.unique(np.concatenate([[one.start_s], np.round(begins + inner * EVERY_S, 9)]))
        times = times[(times >= one.start_s) & (times < one.end_s)]
        further = max(0, len(one.satellites) + 1 - LINKS)
        flight = np.round(found.delay_s(times) * 1e9).astype(np.int64)
        segment, ack = (further * _transmission_ns(size, rate_mbps) for size in (SEGMENT_BYTES, ACK_BYTES))
        if first_ns is None:
            first_ns = int(flight[0]) + segment
        state = "up" if down else ""
        for at, ns in zip(times, flight, strict=True):
            when = milliseconds(float(at) - begins)
            rows.append(f"{when}, forward, path, {ns + segment},")
            rows.append(f"{when}, backward, path, {ns + ack},")
            if state:
                rows.append(f"{when}, both, path, , {state}")
                state = ""
        down = False
    return first_ns or 0, rows


def milliseconds(seconds: float) -> str:
    """Return a time in ms as text for files."""
    return f"{seconds * 1000:.6f}".rstrip("0").rstrip(".")


def _transmission_ns(size: int, rate_mbps: float) -> int:
    return round(size * 8e3 / rate_mbps)


def node(name: str, otherwise: str) -> str:
    """Return a node name: the ASCII name of a city, or ``otherwise`` for coordinates."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z]+", "-", plain).strip("-")
    return plain or otherwise
