"""Runs that observed packets, with the flows, nodes and ports of their scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.errors import InputError
from optcp.export import tabular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.data.table import Table
    from optcp.export import Chosen
    from optcp.scenarios.run import Run

KIND = "packets"


@dataclass(frozen=True)
class Flow:
    """A flow, or a source of datagrams.

    Attributes
    ----------
    number
        Its place among all.
    group
        The name of its group.
    path
        The nodes of its working path.
    tcp
        Its TCP's choices, resolved; None for datagrams.
    """

    number: int
    group: str
    path: tuple[str, ...]
    tcp: dict[str, Any] | None

    @property
    def tick_ps(self) -> int | None:
        """The unit of its timestamps; None where its segments carry none."""
        return int(self.tcp["timestamp_tick_ps"]) if self.tcp is not None and self.tcp["timestamps"] else None


@dataclass(frozen=True)
class Port:
    """One direction of a link: between which nodes, and how fast in bit/s."""

    ends: tuple[str, str]
    rate: int


@dataclass(frozen=True)
class World:
    """Flows, nodes and ports of a run, by name.

    Attributes
    ----------
    nodes
        Numbers of nodes.
    flows, ports
        By their names in observations; flows that runs draw by the names of their pairs.
    """

    nodes: dict[str, int]
    flows: dict[str, Flow]
    ports: dict[str, Port]

    def flow(self, name: str) -> Flow:
        """A flow, or one of a pair that the run drew."""
        return self.flows.get(name) or self.flows[name.rpartition("/")[0]]

    @classmethod
    def of(cls, run: Run) -> World:
        """Read flows, nodes and ports of a run."""
        scenario = run.scenario
        paths: dict[str, tuple[str, tuple[str, ...], dict[str, Any] | None]] = {}
        for group in [*scenario["flows"], *scenario.get("traffic", [])]:
            tcp = scenario["tcp"][group["tcp"]] if "tcp" in group else None
            named = [(name, tuple(route["path"])) for route in group["routes"] for name in route["flows"]]
            if "arrivals_per_s" in group:
                # The scenario lists the possible paths of flows; the path of each flow is drawn.
                ways = run.arrived.get(group["group"], ())
                named = [(f"{group['group']}/{number}", named[way][1]) for number, way in enumerate(ways)]
            if "drawn" in group:
                named = [(name.rpartition("/")[0], path) for name, path in named]
            paths |= {name: (group["group"], path, tcp) for name, path in named}
        ports = {}
        for link in scenario["links"]:
            there, back = link["ends"]
            for ends, direction in (((there, back), "forward"), ((back, there), "reverse")):
                port = Port(ends, link[direction]["rate_bps"])
                name = f"{ends[0]}->{ends[1]}"
                ports[f"{link['name']}:{name}"] = port
                if link["name"] == f"{there}-{back}":  # the name of links without a given name
                    ports[name] = port
        flows = {name: Flow(number, *of) for number, (name, of) in enumerate(paths.items())}
        return cls({name: number for number, name in enumerate(scenario["nodes"])}, flows, ports)


@dataclass(frozen=True)
class Observed:
    """An observation of packets: run, its name in the scenario, rows, the chosen ports, and where files go."""

    run: Run
    name: str
    table: Table
    ports: tuple[str, ...]
    folder: Path

    @property
    def stem(self) -> str:
        """Common prefix of its file names."""
        return f"{self.run.id}-{self.name}"


def observed(directory: Path, chosen: Chosen) -> Iterator[Observed]:
    """Every observation of packets of the chosen runs of a study.

    Raises
    ------
    optcp.errors.InputError
        If there is no such run, or none that observed packets, or if queues trimmed some.
    """
    study = tabular.opened(directory, chosen)
    entries = [one for one in study.grid.branches[0].resolved["observe"] if one["kind"] == KIND]
    if not entries:
        raise InputError(
            f'{directory}: no run in it observed packets; give the scenario an [[observe]] with kind = "{KIND}"'
        )
    for branch in study.grid.branches:
        for seed in study.seeds:
            run = study.run(branch, seed)
            for entry in branch.resolved["observe"]:
                if entry["kind"] != KIND:
                    continue
                with run.trusted():
                    ports = tuple(entry["ports"])
                    table = run[entry["name"]]
                if table.is_("event", "trimmed").any():
                    raise InputError(
                        f"{directory}: a queue trimmed packets, which these traces cannot show; export CSV or Parquet"
                    )
                yield Observed(run, entry["name"], table, ports, tabular.folder(study))
