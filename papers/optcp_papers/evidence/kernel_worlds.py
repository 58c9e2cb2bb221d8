"""Set-ups in which Linux's TCP was recorded and OpTCP is simulated: general ones, and ones with outages."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
FILES = {
    "kernel": "kernel_worlds.toml",
    "outages": "kernel_outages.toml",
    "outages-1000-hz": "kernel_outages_1000_hz.toml",
    "bbr3-kernel": "kernel_bbr3.toml",
    "prague-kernel": "kernel_prague.toml",
}
"""File of set-ups by name of the experiment."""
MSS_BYTES = 1448
CONTROLS = ("cubic", "reno", "bbr")
BBR3, PRAGUE = "bbr3", "prague"
"""Controls of the experiments ``bbr3-kernel``, where Google's code calls it ``bbr``, and ``prague-kernel``."""
SAME = "same"
HAND_OVER_MS = 0.094
"""Delay that handing a packet over adds to a link in real time, each way. It is half of the excess of the kernel's RTT
of a SYN over both delays, median over all repetitions."""
FORWARD, REVERSE, BOTH = DIRECTIONS = ("forward", "reverse", "both")


@dataclass(frozen=True)
class Outage:
    """Time during which the link behind the bottleneck is down; packets on it at its start are lost.

    Attributes
    ----------
    start_s, end_s
        From the first SYN.
    direction
        Direction of the lost packets: from the sender, to the sender, or both.
    """

    start_s: float
    end_s: float
    direction: str


@dataclass(frozen=True)
class Flow:
    """One flow of a set-up.

    Attributes
    ----------
    congestion
        Congestion control; None for the requested one.
    start_s
        Start time.
    writes
        Delay and number of segments of each application write.
    """

    congestion: str | None
    start_s: float
    writes: tuple[tuple[float, int], ...]

    @property
    def segments(self) -> int:
        """Total number of written segments."""
        return sum(segments for _, segments in self.writes)


@dataclass(frozen=True)
class World:
    """One set-up; the file describes its keys.

    Attributes
    ----------
    paths
        Times, the first of them zero, and the delays in both directions from then on, in ms.
    lost
        Lost segments of the first flow (-1 for the SYN), and the number of the lost transmission.
    tick_ms
        Period of the kernel's timer interrupt; None for the profile's.
    fq
        Whether the sender's device has the queue discipline ``fq``, which paces every flow.
    pairs
        Whether the kernel sends at least two segments together where it can, which is its default.
    marks_above
        Queue length in packets above which ECN-capable packets are marked; None without marking.
    until_s
        End of the recording; None for the end of the transfers.
    hand_over_ms
        Delay that handing a packet over adds to the recorded link, each way.
    """

    rate_mbps: float
    queue: int
    paths: tuple[tuple[float, float, float], ...]
    outages: tuple[Outage, ...]
    lost: tuple[tuple[int, int], ...]
    large_buffer: bool
    sack: bool
    flows: tuple[Flow, ...]
    tick_ms: int | None = None
    fq: bool = False
    pairs: bool = True
    marks_above: int | None = None
    until_s: float | None = None
    hand_over_ms: float = HAND_OVER_MS


@functools.cache
def worlds(experiment: str = "kernel") -> Mapping[str, World]:
    """Return all set-ups of an experiment by name."""
    listed = tomllib.loads((DATA / FILES[experiment]).read_text(encoding="utf-8"))
    default = listed.pop("default")
    return {name: _world(default | keys) for name, keys in listed.items()}


def _world(keys: Mapping[str, Any]) -> World:
    there, back = keys["delay_ms"]
    first, last = keys.get("lost_from_to", (0, -1))
    lost = [(segment, 1) for segment in range(first, last + 1)]
    lost += [(segment, nth) for segment, nth in keys.get("lost", [])]
    writes = keys.get("writes", [[0, keys["segments"]]])
    flows = [Flow(None, 0, tuple((at, segments) for at, segments in writes))]
    if beside := keys.get("beside"):
        control = None if beside["congestion"] == SAME else beside["congestion"]
        flows.append(Flow(control, beside["start"], ((0, beside["segments"]),)))
    outages = [Outage(start, end, direction) for start, end, direction in keys.get("outages", [])]
    return World(
        rate_mbps=keys["rate_mbps"],
        queue=keys["queue"],
        paths=((0, there, back), *((at, there, back) for at, there, back in keys.get("paths", []))),
        outages=tuple(outages),
        lost=tuple(lost),
        large_buffer=keys["receive_buffer"] == "large",
        sack=keys["sack"],
        flows=tuple(flows),
        tick_ms=keys.get("tick_ms"),
        fq=keys.get("sender_queue") == "fq",
        pairs=keys.get("pairs", True),
        marks_above=keys.get("marks_above"),
        until_s=keys.get("until_s"),
        hand_over_ms=keys.get("hand_over_ms", HAND_OVER_MS),
    )
