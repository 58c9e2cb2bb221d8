"""Runs that observed packets, and what their scenario says of flows, nodes and ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.errors import InputError
from optcp.study import saved

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.study.saved import SavedRun, Table

KIND = "packets"


@dataclass(frozen=True)
class Flow:
    """A flow, or a source of datagrams.

    Attributes
    ----------
    number
        Its place among all.
    path
        The nodes of its working path.
    tcp
        Its TCP's choices, resolved; None for datagrams.
    """

    number: int
    path: tuple[str, ...]
    tcp: dict[str, Any] | None


@dataclass(frozen=True)
class Port:
    """One direction of a link: between which nodes, and how fast in bit/s (None where bursts travel)."""

    ends: tuple[str, str]
    rate: int | None


@dataclass(frozen=True)
class World:
    """What a run's packets travel in, by name.

    Attributes
    ----------
    nodes
        Numbers of nodes.
    flows, ports
        By their names in observations.
    """

    nodes: dict[str, int]
    flows: dict[str, Flow]
    ports: dict[str, Port]

    @classmethod
    def of(cls, scenario: dict[str, Any]) -> World:
        """Read a resolved scenario."""
        flows: dict[str, Flow] = {}
        for group in [*scenario["flows"], *scenario.get("traffic", [])]:
            tcp = scenario["tcp"][group["tcp"]] if "tcp" in group else None
            for route in group["routes"]:
                for name in route["flows"]:
                    flows[name] = Flow(len(flows), tuple(route["path"]), tcp)
        ports = {}
        for link in scenario["links"]:
            there, back = link["ends"]
            for ends, direction in (((there, back), "forward"), ((back, there), "reverse")):
                port = Port(ends, link.get(direction, {}).get("rate_bps"))
                name = f"{ends[0]}->{ends[1]}"
                ports[name] = ports[f"{link['name']}:{name}"] = port
        return cls({name: number for number, name in enumerate(scenario["nodes"])}, flows, ports)


def observed(directory: Path) -> Iterator[tuple[SavedRun, str, Table]]:
    """Every observation of packets of every run in a directory, with its name.

    Raises
    ------
    optcp.errors.InputError
        If there is no run, or none that observed packets.
    """
    runs = saved.find(directory)
    named = [(run, name) for run in runs for name, kind in run.observations.items() if kind == KIND]
    if not named:
        raise InputError(
            f'{directory}: no run in it observed packets; give the scenario an [[observe]] with kind = "{KIND}"'
        )
    for run, name in named:
        yield run, name, run.table(name)
