"""Spare capacity for single fibre cuts: arithmetic on the paths of a scenario, with one unit per LSP or lightpath.

Units are counted per link and direction. Broken paths keep their capacity (no stub release).
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optcp.outage.network import US_A_KM, Network

Hop = tuple[str, str]


@dataclass(frozen=True)
class Backup:
    """Backup path in use after some cuts.

    Attributes
    ----------
    bypassed, backup
        Hops that it replaces, and its own.
    lsps
        Number of LSPs that it carries.
    """

    bypassed: frozenset[Hop]
    backup: tuple[Hop, ...]
    lsps: int


@dataclass(frozen=True)
class Paths:
    """Working paths of all LSPs, with their backup paths.

    Attributes
    ----------
    working
        LSPs per hop.
    backups
        All backup paths.
    """

    working: Mapping[Hop, int]
    backups: Sequence[Backup]

    @classmethod
    def of(cls, scenario: Mapping[str, Any]) -> "Paths":
        """Return the paths of a resolved scenario whose flows have one LSP each, between hosts."""
        routes = [(set(route["flows"]), route["path"][1:-1]) for flow in scenario["flows"] for route in flow["routes"]]
        working = Counter(hop for _, path in routes for hop in itertools.pairwise(path))
        return cls(working, [backup for entry in scenario["protection"] for backup in _backups(entry, routes)])

    def shared(self, cuts: Iterable[Hop]) -> float:
        """Return spare over working capacity if backup paths for different cuts share capacity."""
        most: Counter[Hop] = Counter()
        for cut in cuts:
            both = {cut, cut[::-1]}
            most |= _sum(one for one in self.backups if not both.isdisjoint(one.bypassed))
        return most.total() / sum(self.working.values())

    def dedicated(self) -> float:
        """Return spare over working capacity if each backup path has its own."""
        return _sum(self.backups).total() / sum(self.working.values())

    def on_cycle(self, cycle: Sequence[str]) -> float:
        """Return spare over working capacity if each hop of a p-cycle has the capacity of the fullest protected hop."""
        return 2 * len(cycle) * max(self.working.values()) / sum(self.working.values())


def _backups(entry: Mapping[str, Any], routes: Sequence[tuple[set[str], list[str]]]) -> Iterable[Backup]:
    """Return the backup path of an entry once per LSP, or once per bypassed part of paths."""
    backup = tuple(itertools.pairwise(entry["backup"]))
    first, last = backup[0][0], backup[-1][1]
    only = set(entry.get("lsps", ()))
    parts: Counter[frozenset[Hop]] = Counter()
    for flows, path in routes:
        if first in path and last in path[path.index(first) :] and not (only and only.isdisjoint(flows)):
            parts[frozenset(itertools.pairwise(path[path.index(first) : path.index(last) + 1]))] += 1
    # Without LSPs, an entry bypasses the link between both ends.
    return [Backup(part, backup, lsps) for part, lsps in parts.items() if only or len(part) == 1]


def _sum(backups: Iterable[Backup]) -> Counter[Hop]:
    loads: Counter[Hop] = Counter()
    for one in backups:
        loads.update(dict.fromkeys(one.backup, one.lsps))
    return loads


@dataclass(frozen=True)
class Wavelengths:
    """Wavelengths of lightpaths between all pairs of nodes, by fibre.

    Attributes
    ----------
    working
        Wavelengths of the lightpaths without a cut.
    spare
        Further wavelengths, so that after each cut every lightpath has its shortest path without the fibre.
    """

    working: Mapping[str, int]
    spare: Mapping[str, int]

    @classmethod
    def of(cls, network: Network) -> "Wavelengths":
        """Return the wavelengths for single cuts of all fibres of a network."""
        fibres = dict(zip(network.link_names(), map(network.ends, network.link_names()), strict=True))
        names = {hop: name for name, (a, b) in fibres.items() for hop in ((a, b), (b, a))}
        paths = network.paths(US_A_KM, itertools.combinations(network.nodes, 2))
        working = Counter(names[hop] for path in paths.values() for hop in itertools.pairwise(path))
        spare: Counter[str] = Counter()
        for name, ends in fibres.items():
            broken = [pair for pair, path in paths.items() if _crosses(path, ends)]
            restored = network.without(name).paths(US_A_KM, broken)
            spare |= Counter(names[hop] for path in restored.values() for hop in itertools.pairwise(path))
        return cls(working, {name: spare[name] for name in fibres})

    def with_spare(self, share: float) -> dict[str, int]:
        """Return the wavelengths of each fibre with a share of the spare ones, rounded up."""
        return {name: self.working[name] + self._part(name, share) for name in self.spare}

    def ratio(self, share: float) -> float:
        """Return spare over working wavelengths with this share of the spare ones."""
        return sum(self._part(name, share) for name in self.spare) / sum(self.working.values())

    def _part(self, name: str, share: float) -> int:
        return -int(-share * self.spare[name] // 1)


def _crosses(path: Sequence[str], ends: Hop) -> bool:
    return ends in itertools.pairwise(path) or ends[::-1] in itertools.pairwise(path)
