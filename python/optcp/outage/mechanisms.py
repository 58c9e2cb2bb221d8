"""Resilience mechanisms, each as settings of a scenario."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from optcp.scenarios.scenario import Settings

LSP = {"parameters.path": "shortest"}
"""Each flow on its own path, computed once: an LSP or a circuit."""
PAIR = {"parameters.path": "shortest-pair"}
"""As LSP, but on the shorter of two disjoint paths, so that an end-to-end backup exists."""

AVOIDS_RISKS = {"routing.protect": "risk"}
"""Backups of routers avoid all links that share a risk with the failed one."""
HOLD_OFF = "hold-off"
"""Part of the name of a mechanism whose routers or protection wait for the optical layer."""

RESERVED, LINE_RATE = "reserved", "line-rate"
"""Values of ``capacity`` for backups with dedicated capacity."""


@dataclass(frozen=True)
class Mechanism:
    """A resilience mechanism.

    Attributes
    ----------
    summary
        One-line description.
    settings
        Key paths and values of the scenario.
    stands_on
        Assumed durations that it depends on, each with its default and range.
    holds_off
        Whether the IP layer gives the optical layer time to recover.
    above
        Name of the mechanism in the IP layer, if both layers recover; else empty.
    """

    summary: str
    settings: Settings
    stands_on: tuple[str, ...] = ()
    holds_off: bool = False
    above: str = ""

    @property
    def recovery(self) -> str:
        """Recovery of lightpaths in the optical layer, empty without one."""
        return str(self.settings.get("optical.recovery", ""))

    @property
    def routed(self) -> bool:
        """Whether routers select the path of each packet. Otherwise each flow has a fixed path."""
        return "parameters.path" not in self.settings

    @property
    def avoids_risks(self) -> bool:
        """Whether it needs shared risks."""
        return "routing.protect" in self.settings

    def with_circuits(self, capacity: str) -> Settings:
        """The settings with another ``capacity`` of dedicated backups."""
        entries = self.settings.get("protection", ())
        if not any("capacity" in entry for entry in entries):
            return self.settings
        return {**self.settings, "protection": [{**entry, "capacity": capacity} for entry in entries]}

    def held(self, settings: Settings, detection_ms: float, hold_off_ms: float) -> Settings:
        """Return settings in which routers and protection wait for a hold-off, if the mechanism has one."""
        if not self.holds_off:
            return settings
        if self.routed:
            return {**settings, "routing.detection": f"{detection_ms + hold_off_ms:g} ms"}
        held = [{**entry, "hold_off": f"{hold_off_ms:g} ms"} for entry in settings["protection"]]
        return {**settings, "protection": held}


def _protected(scheme: str, **more: str) -> Settings:
    entry = {"flows": "$protected", "scheme": scheme, "backup": "auto", "switch_delay": "$detection"}
    return {**(LSP if scheme == "local" else PAIR), "protection": [{**entry, **more}]}


DETECTION = "detection = 10 ms (BFD: 3 ms to 3 s)"
PROCESSING = "signal_processing = 1 ms a node"
CONVERGENCE = "flooding 2 ms a hop, SPF 20 ms, tables rewritten within 20 to 200 ms"

MECHANISMS: dict[str, Mechanism] = {
    "none": Mechanism("convergence of the routing protocol only", {}, (DETECTION, CONVERGENCE)),
    "lfa": Mechanism("loop-free alternates (RFC 5286)", {"routing.repair": "lfa"}, (DETECTION, CONVERGENCE)),
    "remote-lfa": Mechanism(
        "remote loop-free alternates, reached in tunnels (RFC 7490)",
        {"routing.repair": "remote-lfa"},
        (DETECTION, CONVERGENCE),
    ),
    "ti-lfa": Mechanism(
        "post-convergence path in a tunnel (RFC 9855); routers update their tables at the same time",
        {"routing.repair": "ti-lfa", "routing.converge": "synchronized"},
        (DETECTION, CONVERGENCE, "converge = synchronized"),
    ),
    "lfa-risk": Mechanism(
        "loop-free alternates that avoid the shared risks of the file, if possible",
        {"routing.repair": "lfa", **AVOIDS_RISKS},
        (DETECTION, CONVERGENCE),
    ),
    "ti-lfa-risk": Mechanism(
        "ti-lfa whose backups avoid the shared risks of the file, if possible",
        {"routing.repair": "ti-lfa", "routing.converge": "synchronized", **AVOIDS_RISKS},
        (DETECTION, CONVERGENCE, "converge = synchronized"),
    ),
    "local": Mechanism("local detour around the failed link (MPLS fast reroute)", _protected("local"), (DETECTION,)),
    "path": Mechanism(
        "end-to-end backup path, used after a failure notification",
        _protected("path", signal_processing="1 ms"),
        (DETECTION, PROCESSING),
    ),
    "1:1": Mechanism(
        "dedicated end-to-end backup, requested by the last node",
        _protected("1:1", signal_processing="1 ms", capacity=RESERVED),
        (DETECTION, PROCESSING),
    ),
    "1+1": Mechanism(
        "two copies on two paths; the last node selects one",
        _protected("1+1", capacity=RESERVED),
        (DETECTION,),
    ),
    "restoration, 2 s": Mechanism(
        "restoration: computes and sets up a path in 2 s",
        _protected("restoration", signal_processing="1 ms", computation="2 s"),
        (DETECTION, PROCESSING, "computation = 2 s"),
    ),
    "restoration, 8 s": Mechanism(
        "restoration in 8 s (wavelengths, as in ARROW)",
        _protected("restoration", signal_processing="1 ms", computation="8 s"),
        (DETECTION, PROCESSING, "computation = 8 s"),
    ),
}

OPTICAL: dict[str, Mechanism] = {
    "optical-protection": Mechanism(
        "backup path of fibres for each link, known before the failure; the IP layer keeps its paths",
        {**LSP, "optical.recovery": "protection"},
    ),
    "optical-restoration": Mechanism(
        "other path of fibres for each link, computed after the failure; the IP layer keeps its paths",
        {**LSP, "optical.recovery": "restoration"},
    ),
}
"""Mechanisms of the optical layer, for networks with fibres."""


@functools.cache
def find(name: str) -> Mechanism:
    """Return a mechanism by its name.

    A name such as ``ti-lfa+optical-restoration`` stands for mechanisms of both layers. In
    ``ti-lfa+hold-off+optical-protection``, the IP layer waits for the optical layer.

    Raises
    ------
    InputError
        If there is no such mechanism.
    """
    if one := (MECHANISMS | OPTICAL).get(name):
        return one
    upper, _, optical = name.rpartition("+")
    name_above = upper.removesuffix(f"+{HOLD_OFF}")
    above = MECHANISMS.get(name_above)
    if above is None or optical not in OPTICAL:
        both = map("".join, itertools.product(MECHANISMS, ("+", f"+{HOLD_OFF}+"), OPTICAL))
        known = [*MECHANISMS, *OPTICAL, *(both if "+optical" in name else ())]
        raise InputError(f"--mechanism {name}: unknown mechanism; {nearest(name, known)}")
    below = {"optical.recovery": OPTICAL[optical].recovery}
    holds_off = upper.endswith(f"+{HOLD_OFF}")
    summary = f"{above.summary}; {optical}"
    return Mechanism(summary, {**above.settings, **below}, above.stands_on, holds_off, name_above)
