"""Cases of the study: a failure, and how the network repairs it."""

from collections.abc import Mapping
from dataclasses import dataclass

from optcp.papers.kit import Settings
from optcp_papers.prr.world import FAILS_S, REPAIRED_S, World

AT: Settings = {"at": f"{FAILS_S:g} s", "later": "uniform(0 s, 100 ms)", "repair": f"{REPAIRED_S:g} s"}
LINK, DUCT = {"link": "$link", **AT}, {"risk": "$duct", **AT}
CIRCUIT = {"backup": "auto", "switch_delay": "10 ms", "capacity": "line-rate"}
RESTORATION = {**CIRCUIT, "scheme": "restoration", "computation": "2 s", "signal_processing": "1 ms"}


@dataclass(frozen=True)
class Case:
    """Failure and repair by the network.

    Attributes
    ----------
    settings
        Settings of the scenario.
    reference
        Name of the case that defines affected sessions: without repathing, they stall for a second or more there.
    """

    settings: Settings
    reference: str


def _ti_lfa(detection_ms: int) -> Settings:
    return {
        "routing.repair": "ti-lfa",
        "routing.converge": "synchronized",
        "routing.detection": f"{detection_ms} ms",
    }


def _gray(loss: float, direction: str) -> Settings:
    changes = [
        {"at": f"{at_s:g} s", "link": "$link", "direction": direction, "loss": share}
        for at_s, share in ((FAILS_S, loss), (REPAIRED_S, 0.0))
    ]
    return {"failures": [], "schedules": [{"changes": changes}]}


def _lasting(length_s: float) -> Settings:
    failure = {**LINK, "repair": f"{FAILS_S + length_s:g} s"}
    # The last RTO starts at most 1.2 times the outage after its end.
    return {"failures": [failure], "stop": f"{FAILS_S + 2.2 * length_s + 2:g} s"}


NOTHING = "nothing"
MECHANISMS: dict[str, Settings] = {
    NOTHING: {},
    "restoration, 2 s": {"protection": [RESTORATION]},
    "ti-lfa, 50 ms": _ti_lfa(50),
    "ti-lfa, 10 ms": _ti_lfa(10),
    "ti-lfa, 1 ms": _ti_lfa(1),
    "1+1": {"protection": [{**CIRCUIT, "scheme": "1+1"}]},
}
"""Repair of the failure of one of the parallel links. Routers that detect nothing within the run do not react."""
DUCT_RESTORED, DUCT_TI_LFA = "duct, restoration, 2 s", "duct, ti-lfa, 50 ms"
FORWARD = "one direction"
GRAY: dict[str, Settings] = {
    FORWARD: _gray(1.0, "forward"),
    "50 %": _gray(0.5, "both"),
    "10 %": _gray(0.1, "both"),
    "1 %": _gray(0.01, "both"),
}
"""Gray failures: loss in one direction, or of a share of the packets in both. No router detects them."""

CASES: dict[str, Case] = {
    **{name: Case({"failures": [LINK], **settings}, NOTHING) for name, settings in MECHANISMS.items()},
    DUCT_RESTORED: Case({"failures": [DUCT], "protection": [RESTORATION]}, DUCT_RESTORED),
    DUCT_TI_LFA: Case({"failures": [DUCT], **_ti_lfa(50), "routing.protect": "risk"}, DUCT_RESTORED),
    **{name: Case(settings, FORWARD if name == FORWARD else NOTHING) for name, settings in GRAY.items()},
}
LENGTHS_S = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
"""Durations of failures that hosts and network do not detect, such as repairs after this time."""
LENGTHS: dict[str, Case] = {f"{length:g}": Case(_lasting(length), "5") for length in LENGTHS_S}
REPATH: dict[str, Settings] = {"none": {"parameters.repath": "none"}, "rto": {"parameters.repath": "rto"}}


def failing(world: World, every: int) -> dict[str, Settings]:
    """Return the axis ``failure``: the first link of every ``every``-th adjacency, and the duct of its links."""
    return {
        f"{a}-{b}": {"parameters.link": f"{name}0", "parameters.duct": f"duct-{name}"}
        for name, a, b, _ in world.links[::every]
    }


def axes(cases: Mapping[str, Case], of: World, every: int = 1) -> dict[str, dict[str, Settings]]:
    """Return the axes of a grid over cases, repathing and failures."""
    return {
        "case": {name: case.settings for name, case in cases.items()},
        "repath": REPATH,
        "failure": failing(of, every),
    }
