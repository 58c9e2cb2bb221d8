"""Mechanisms of an outage study: names, defaults, and mechanisms that do not fit the network or its routing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.common.plurals import listed_few
from optcp.errors import InputError
from optcp.outage import happening
from optcp.outage.mechanisms import MECHANISMS, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.outage.events import Event
    from optcp.outage.network import Network

DEFAULT = ("none", "lfa", "ti-lfa", "local", "1:1", "1+1", "restoration, 2 s")
"""Default mechanisms."""
DEFAULT_OPTICAL = ("none", "ti-lfa", "1+1", "optical-protection", "optical-restoration", "ti-lfa+optical-restoration")
"""Default mechanisms for failures of fibres."""


def fitting(names: Sequence[str], *, ecmp: bool, paths: str | None) -> None:
    """Check mechanisms, and that they fit the routing.

    Raises
    ------
    InputError
        If a name is unknown, or a mechanism selects its paths otherwise.
    """
    if ecmp and paths:
        raise InputError("--paths: expected --routing shortest, since ECMP has no fixed paths")
    why = "--routing ecmp: routers select the paths" if ecmp else "--paths: the demands have fixed paths"
    for name in names:
        if find(name).routed != ecmp and (ecmp or paths):
            fit = [one for one, mechanism in MECHANISMS.items() if mechanism.routed == ecmp]
            raise InputError(f"--mechanism {name}: excluded by {why}; expected one of {', '.join(fit)}")


def for_network(
    names: Sequence[str], network: Network, failures: str, found: Sequence[Event]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the mechanisms of a study and sentences on links without another path of fibres.

    Parameters
    ----------
    names
        Given mechanisms; by default all that fit network, failures and routing.
    failures, found
        Kind of failures, and the failures.

    Raises
    ------
    InputError
        If a given mechanism has no effect in this network.
    """
    of_fibres = any(one.fibres for one in found)
    for name in names:
        one = find(name)
        if one.avoids_risks and not network.at_risk():
            raise InputError(f"--mechanism {name}: {network.reference}: {happening.NO_RISKS}; choose other mechanisms")
        if one.recovery and network.layers is None:
            raise InputError(f"--mechanism {name}: {network.reference}: {happening.NO_FIBRES}; choose other mechanisms")
        if one.recovery and not of_fibres:
            kinds = " or ".join(happening.OPTICAL if network.layers and network.layers.ducts else (happening.FIBRES,))
            raise InputError(f"--mechanism {name}: --failures {failures} cut no fibre; expected --failures {kinds}")
    chosen, sentences = [], []
    wanted = names or [
        name
        for name in (DEFAULT_OPTICAL if of_fibres else DEFAULT)
        if not ((network.ecmp and not find(name).routed) or (network.given and find(name).routed))
    ]
    for name in dict.fromkeys(wanted):
        lost, hit = _without_path(name, network, found)
        if lost and len(lost) == hit:
            said = f"no link over a fibre that fails has another path of fibres: {listed_few(lost)}"
            if names:
                raise InputError(f"--mechanism {name}: {network.reference}: {said}; choose other mechanisms")
            sentences.append(f"{name} is left out: {said}")
            continue
        if lost:
            sentences.append(f"{name}: no other path of fibres with a free wavelength for {listed_few(lost)}")
        chosen.append(name)
    return tuple(chosen), sentences


def _without_path(name: str, network: Network, found: Iterable[Event]) -> tuple[list[str], int]:
    """Return the links that the optical layer cannot recover, with their failure, and the number of all."""
    recovery = find(name).recovery
    if not recovery or network.layers is None:
        return [], 0
    lost, hit = [], 0
    for event in found:
        recovered = network.layers.recovered(event.fibres, recovery)
        hit += len(event.links)
        lost += [
            f"{network.shown_links[link]} (failure of {event.name})" for link in event.links if link not in recovered
        ]
    return lost, hit
