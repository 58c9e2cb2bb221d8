"""What acts when something fails: each mechanism as settings of a world's scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optcp.scenarios.scenario import Settings

LSP = {"parameters.path": "shortest"}
"""Flows on paths of their own, which are found once: LSPs, or circuits under them."""
PAIR = {"parameters.path": "shortest-pair"}
"""The same where the backup goes from end to end: on the shorter of two disjoint paths, so that there is one."""

RESERVED = "reserved"
"""The capacity of backups that nobody else uses."""


@dataclass(frozen=True)
class Mechanism:
    """How a network answers a failure.

    Attributes
    ----------
    summary
        What acts.
    settings
        Key paths and values of the scenario.
    stands_on
        Which of its durations are assumed: name, default, range and where they come from.
    """

    summary: str
    settings: Settings
    stands_on: tuple[str, ...] = ()

    def with_circuits(self, capacity: str) -> Settings:
        """The settings with another ``capacity`` of reserved backups."""
        entries = self.settings.get("protection", ())
        if not any("capacity" in entry for entry in entries):
            return self.settings
        return {**self.settings, "protection": [{**entry, "capacity": capacity} for entry in entries]}


def _protected(scheme: str, **more: str) -> Settings:
    entry = {"flows": "$protected", "scheme": scheme, "backup": "auto", "switch_delay": "$detection"}
    return {**(LSP if scheme == "local" else PAIR), "protection": [{**entry, **more}]}


DETECTION = "detection = 10 ms (BFD: 3 ms to 3 s)"
PROCESSING = "signal_processing = 1 ms a node"
CONVERGENCE = "flooding 2 ms a hop, SPF 20 ms, tables rewritten within 20 to 200 ms"

MECHANISMS: dict[str, Mechanism] = {
    "none": Mechanism("routers converge, and nothing else", {}, (DETECTION, CONVERGENCE)),
    "lfa": Mechanism("loop-free alternates (RFC 5286)", {"routing.repair": "lfa"}, (DETECTION, CONVERGENCE)),
    "remote-lfa": Mechanism(
        "loop-free alternates, also in tunnels (RFC 7490)", {"routing.repair": "remote-lfa"}, (DETECTION, CONVERGENCE)
    ),
    "ti-lfa": Mechanism(
        "the path after convergence, in a tunnel (RFC 9855); tables are rewritten together",
        {"routing.repair": "ti-lfa", "routing.converge": "synchronized"},
        (DETECTION, CONVERGENCE, "converge = synchronized"),
    ),
    "local": Mechanism("a detour around the link (MPLS fast reroute)", _protected("local"), (DETECTION,)),
    "path": Mechanism(
        "a backup from end to end, once notified",
        _protected("path", signal_processing="1 ms"),
        (DETECTION, PROCESSING),
    ),
    "1:1": Mechanism(
        "a reserved backup, which the last node asks for",
        _protected("1:1", signal_processing="1 ms", capacity=RESERVED),
        (DETECTION, PROCESSING),
    ),
    "1+1": Mechanism("two copies always, the last node chooses", _protected("1+1", capacity=RESERVED), (DETECTION,)),
    "restoration, 2 s": Mechanism(
        "a route is computed and set up in 2 s",
        _protected("restoration", signal_processing="1 ms", computation="2 s"),
        (DETECTION, PROCESSING, "computation = 2 s"),
    ),
    "restoration, 8 s": Mechanism(
        "the same in 8 s (ARROW: wavelengths restored)",
        _protected("restoration", signal_processing="1 ms", computation="8 s"),
        (DETECTION, PROCESSING, "computation = 8 s"),
    ),
}
