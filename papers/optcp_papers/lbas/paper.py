"""What all exhibits of the paper share: its name, its cells, and its unstated parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optcp.papers.assume import AS_PROFILE
from optcp.papers.kit import Assumed, Key, Settings, Value, assume, built_in, not_negative, positive_int, tables

PAPER = (
    "P. Pavon-Marino, J.-L. Izquierdo-Zaragoza: TCP performance in an optical link applying lightpath bundling and "
    "anycast switching techniques, ICTON 2011"
)
SCENARIO = Path(__file__).with_name("scenarios") / "lbas.toml"
KEPT = Path(__file__).parent / "data"
"""Where outcomes of long runs are stored, a directory for each set of unstated parameters."""

BUNDLING_DEGREES = (2, 3, 4, 5, 10)
FLOWS = (100, 250, 500)
METRO_NODES = 5
FEWER_METRO_NODES = 2
"""K of the paper, and the other one for its statement that any K above 1 will do."""

PAPER_LENGTH = {"stop": "600 s", "parameters.warm_up": "60 s", "parameters.batch": "27 s"}
BESIDE_LENGTH = {"stop": "330 s", "parameters.warm_up": "60 s", "parameters.batch": "27 s"}
"""Of the interpretations beside the default: ten batches in place of twenty."""
QUICK_LENGTH = {"stop": "5 s", "parameters.warm_up": "2 s", "parameters.batch": "0.5 s"}


@dataclass(frozen=True)
class Cell:
    """One world of the paper.

    Attributes
    ----------
    bundling_degree
        Lightpaths in the bundle, b_D.
    flows
        Flows a lightpath in each direction, N K.
    anycast
        Whether anycast switching chooses the lightpath of every packet, or the destination does.
    metro_nodes
        Metro nodes a lightpath, K.
    """

    bundling_degree: int
    flows: int
    anycast: bool
    metro_nodes: int = METRO_NODES

    @property
    def name(self) -> str:
        """Unique, and fit for a file."""
        mode = "anycast" if self.anycast else "destination"
        more = "" if self.metro_nodes == METRO_NODES else f"-K{self.metro_nodes}"
        return f"{self.bundling_degree}-{self.flows}-{mode}{more}"

    @property
    def hosts(self) -> int:
        """Sources in each subnetwork, N."""
        return self.flows // self.metro_nodes

    @property
    def settings(self) -> Settings:
        """What makes the scenario this world."""
        return {
            "parameters.K": self.metro_nodes,
            "parameters.bundling_degree": self.bundling_degree,
            "parameters.hosts": self.hosts,
            "parameters.selection": "anycast" if self.anycast else "destination",
        }

    def key(self, profile: str) -> Key:
        """The key of its rows."""
        return {
            "bundling_degree": self.bundling_degree,
            "flows_per_lightpath": self.flows,
            "anycast": "yes" if self.anycast else "no",
            "profile": profile,
        }

    @property
    def without(self) -> Cell:
        """The cell without anycast switching."""
        return replace(self, anycast=False)

    def printed(self, table: str) -> float:
        """Its value in a table of ``tables.toml``."""
        values: list[float] = tables("lbas")[table][f"{'with' if self.anycast else 'without'}_{self.flows}"]
        return values[BUNDLING_DEGREES.index(self.bundling_degree)]

    def flows_by_lightpath(self) -> list[int]:
        """How many flows the static formula puts on each lightpath: source g sends into subnetwork g mod K b_D."""
        found = [0] * self.bundling_degree
        for source in range(self.metro_nodes * self.bundling_degree * self.hosts):
            found[source % (self.metro_nodes * self.bundling_degree) % self.bundling_degree] += 1
        return found


CELLS = tuple(
    Cell(degree, flows, anycast) for degree in BUNDLING_DEGREES for flows in FLOWS for anycast in (True, False)
)
"""The 30 cells of each table."""
FEWER = tuple(Cell(BUNDLING_DEGREES[0], FLOWS[0], anycast, FEWER_METRO_NODES) for anycast in (True, False))
"""The first two with another K."""
QUICK_CELLS = (CELLS[0], CELLS[1], FEWER[0])
"""What a quick look runs."""


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return text

    return read


def _packets_or_unlimited(text: str) -> Value:
    return text if text == "unlimited" else positive_int(text)


DELAYS = {"round-trip": "uniform(40 ms, 60 ms)", "one-way": "uniform(80 ms, 120 ms)"}
"""Of the link of a source, traversed once by data and once by ACKs."""


def _queue(text: str) -> str:
    if text != "unlimited" and not text.partition(" ")[0].replace(".", "", 1).isdigit():
        raise ValueError("expected a queue such as `12.5 MB`, `8333 packets` or `unlimited`")
    return text


ASSUMED = (
    Assumed("profile", "inet-2011", str, "parameters.profile"),
    Assumed(
        "timeout_basis",
        AS_PROFILE,
        str,
        "tcp.all.timeout_basis",
    ),
    Assumed(
        "initial_ssthresh_segments",
        "unlimited",
        _packets_or_unlimited,
        "parameters.initial_ssthresh",
    ),
    Assumed("start_spread_s", 1.0, not_negative, lambda value: {"parameters.start": f"uniform(0 s, {value:g} s)"}),
    Assumed(
        "delay_80_to_120_ms",
        "round-trip",
        _one_of(*DELAYS),
        lambda value: {"parameters.source_delay": DELAYS[str(value)]},
    ),
    Assumed("buffer", "12.5 MB", _queue, "parameters.buffer"),
    Assumed("far_buffer", "12.5 MB", _queue, "parameters.far_buffer"),
    Assumed("lightpath_delay_ms", 0.0, not_negative, "parameters.lightpath_delay"),
    built_in("delay_on", "the link of the source"),
    built_in("metro_buffer", "unlimited"),
    built_in("window", "unlimited"),
    built_in("anycast_ties", "longest idle"),
    built_in("far_drops", "counted apart"),
)
"""The paper's unstated parameters."""


DEFAULTS: dict[str, Value] = {one.name: one.default for one in ASSUMED}

READINGS: tuple[dict[str, Value], ...] = (
    DEFAULTS,
    {**DEFAULTS, "profile": "rfc"},
    {**DEFAULTS, "profile": "rfc", "timeout_basis": "flight-size"},
)
"""The values of :data:`ASSUMED` that statements are judged under: the default, and others once there are long runs."""


def overrides(chosen: Mapping[str, Value]) -> dict[str, Any]:
    """The scenario overrides of the chosen values."""
    return assume.overrides(ASSUMED, chosen)


def changed(chosen: Mapping[str, Value]) -> list[str]:
    """What differs from the default."""
    return [one.name for one in ASSUMED if chosen[one.name] != one.default]


def reading(chosen: Mapping[str, Value]) -> str:
    """Name what was chosen: the profile, and whatever else differs from the default."""
    others = [f"{name} = {chosen[name]}" for name in changed(chosen) if name != "profile"]
    return ", ".join([str(chosen["profile"]), *others])


def length(chosen: Mapping[str, Value]) -> dict[str, str]:
    """How long the long runs with these values are: as the paper's, but for the interpretations beside the default."""
    beside = any(chosen == {**chosen, **values} for values in READINGS[1:])
    return BESIDE_LENGTH if beside else PAPER_LENGTH


def directory(chosen: Mapping[str, Value]) -> Path:
    """Where outcomes of long runs with these values are stored."""
    return KEPT / reading(chosen).replace(" = ", "=").replace(", ", "+").replace(" ", "")
