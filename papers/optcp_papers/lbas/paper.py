"""Name, parameter combinations and unstated parameters that all experiments of the LBAS paper share."""

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
"""Directory of stored outcomes of long runs, with a subdirectory per set of unstated parameters."""

BUNDLING_DEGREES = (2, 3, 4, 5, 10)
FLOWS = (100, 250, 500)
METRO_NODES = 5
FEWER_METRO_NODES = 2
"""K of the paper, and another K for its claim that any K above 1 is sufficient."""

PAPER_LENGTH = {"stop": "600 s", "parameters.warm_up": "60 s", "parameters.batch": "27 s"}
BESIDE_LENGTH = {"stop": "330 s", "parameters.warm_up": "60 s", "parameters.batch": "27 s"}
"""Length for interpretations other than the default: ten batches instead of twenty."""
QUICK_LENGTH = {"stop": "5 s", "parameters.warm_up": "2 s", "parameters.batch": "0.5 s"}


@dataclass(frozen=True)
class Cell:
    """One parameter combination of the paper.

    Attributes
    ----------
    bundling_degree
        Number of lightpaths in the bundle, b_D.
    flows
        Number of flows per lightpath in each direction, N K.
    anycast
        Whether anycast switching chooses the lightpath of every packet; otherwise the destination does.
    metro_nodes
        Number of metro nodes per lightpath, K.
    """

    bundling_degree: int
    flows: int
    anycast: bool
    metro_nodes: int = METRO_NODES

    @property
    def name(self) -> str:
        """Unique name that is also a valid file name."""
        mode = "anycast" if self.anycast else "destination"
        more = "" if self.metro_nodes == METRO_NODES else f"-K{self.metro_nodes}"
        return f"{self.bundling_degree}-{self.flows}-{mode}{more}"

    @property
    def hosts(self) -> int:
        """Number of sources in each subnetwork, N."""
        return self.flows // self.metro_nodes

    @property
    def settings(self) -> Settings:
        """Scenario settings of the combination."""
        return {
            "parameters.K": self.metro_nodes,
            "parameters.bundling_degree": self.bundling_degree,
            "parameters.hosts": self.hosts,
            "parameters.selection": "anycast" if self.anycast else "destination",
        }

    def key(self, profile: str) -> Key:
        """Return the key of the combination's rows."""
        return {
            "bundling_degree": self.bundling_degree,
            "flows_per_lightpath": self.flows,
            "anycast": "yes" if self.anycast else "no",
            "profile": profile,
        }

    @property
    def without(self) -> Cell:
        """The combination without anycast switching."""
        return replace(self, anycast=False)

    def printed(self, table: str) -> float:
        """Return the published value in a table of ``tables.toml``."""
        values: list[float] = tables("lbas")[table][f"{'with' if self.anycast else 'without'}_{self.flows}"]
        return values[BUNDLING_DEGREES.index(self.bundling_degree)]

    def flows_by_lightpath(self) -> list[int]:
        """Return the number of flows per lightpath by the static formula: source g sends to subnetwork g mod K b_D."""
        result = [0] * self.bundling_degree
        for source in range(self.metro_nodes * self.bundling_degree * self.hosts):
            result[source % (self.metro_nodes * self.bundling_degree) % self.bundling_degree] += 1
        return result


CELLS = tuple(
    Cell(degree, flows, anycast) for degree in BUNDLING_DEGREES for flows in FLOWS for anycast in (True, False)
)
"""The 30 combinations of each table."""
FEWER = tuple(Cell(BUNDLING_DEGREES[0], FLOWS[0], anycast, FEWER_METRO_NODES) for anycast in (True, False))
"""The first two combinations with another K."""
QUICK_CELLS = (CELLS[0], CELLS[1], FEWER[0])
"""Combinations that quick runs use."""


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return text

    return read


def _packets_or_unlimited(text: str) -> Value:
    return text if text == "unlimited" else positive_int(text)


DELAYS = {"round-trip": "uniform(40 ms, 60 ms)", "one-way": "uniform(80 ms, 120 ms)"}
"""Delay of a source's link, which data and ACKs each traverse once."""


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
"""Unstated parameters of the paper."""


DEFAULTS: dict[str, Value] = {parameter.name: parameter.default for parameter in ASSUMED}

READINGS: tuple[dict[str, Value], ...] = (
    DEFAULTS,
    {**DEFAULTS, "profile": "rfc"},
    {**DEFAULTS, "profile": "rfc", "timeout_basis": "flight-size"},
)
"""Interpretations (values of :data:`ASSUMED`) under which claims are judged: the default and those with long runs."""


def overrides(chosen: Mapping[str, Value]) -> dict[str, Any]:
    """Return the scenario overrides of the chosen values."""
    return assume.overrides(ASSUMED, chosen)


def changed(chosen: Mapping[str, Value]) -> list[str]:
    """Return the parameters that differ from their defaults."""
    return [parameter.name for parameter in ASSUMED if chosen[parameter.name] != parameter.default]


def reading(chosen: Mapping[str, Value]) -> str:
    """Name the chosen values: the profile, and all other differences from the default."""
    others = [f"{name} = {chosen[name]}" for name in changed(chosen) if name != "profile"]
    return ", ".join([str(chosen["profile"]), *others])


def length(chosen: Mapping[str, Value]) -> dict[str, str]:
    """Return the length of long runs: the paper's, or shorter for interpretations other than the default."""
    beside = any(chosen == {**chosen, **values} for values in READINGS[1:])
    return BESIDE_LENGTH if beside else PAPER_LENGTH


def directory(chosen: Mapping[str, Value]) -> Path:
    """Return the directory of stored outcomes of long runs with these values."""
    return KEPT / reading(chosen).replace(" = ", "=").replace(", ", "+").replace(" ", "")
