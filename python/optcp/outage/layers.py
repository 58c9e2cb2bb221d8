"""Fibres under the links of a network: names, lengths, paths of links over them, and recovery of lightpaths."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core
from optcp.scenarios import topologies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from optcp.topology.model import Network as FileNetwork

PS_A_KM = 5e6
"""Default ``delay_per_km`` of ``[optical]``, in ps."""


@dataclass(frozen=True)
class Fibre:
    """Fibre of the file.

    Attributes
    ----------
    name
        Name in scenarios.
    shown
        Name in the file, or both optical nodes with ``-`` between them.
    ends
        Names of the optical nodes in the file.
    sites
        Numbers of these nodes.
    km
        Length in km. For a fibre with a delay, the length with this delay.
    duct
        Name of the duct in the file, empty without one.
    wavelengths
        Maximum number of lightpaths, None without a limit.
    """

    name: str
    shown: str
    ends: tuple[str, str]
    sites: tuple[int, int]
    km: float
    duct: str
    wavelengths: int | None


@dataclass(frozen=True)
class Layers:
    """Fibres, and the lightpaths of links over them.

    Attributes
    ----------
    fibres
        Fibres in the order of the file.
    ducts
        Names of ducts in scenarios, by name in the file.
    over
        Numbers of the fibres on the working path of each link over fibres, by its name in scenarios.
    backup
        Numbers of the fibres on the backup paths of optical protection, by link; empty without another path.
    """

    fibres: tuple[Fibre, ...]
    ducts: Mapping[str, str]
    over: Mapping[str, tuple[int, ...]]
    backup: Mapping[str, tuple[int, ...]]

    @classmethod
    def find(cls, reference: str, of_file: FileNetwork) -> Layers | None:
        """Return the layers of a topology file; None if no link has a path over fibres.

        Raises
        ------
        ScenarioError
            If the fibres are no valid optical layer.
        """
        if all(link.over is None for link in of_file.links):
            return None
        text = (
            f'stop = "1 s"\n[topology]\nfile = {json.dumps(reference, ensure_ascii=False)}\nfibres = "file"\n'
            'rate = "1 Gbps"\ndelay = "1 ms"\nqueue = "1 packets"\n[optical]\nrecovery = "protection"\n'
        )
        optical = json.loads(_core.Scenario.parse(text, "scenario.toml").resolved())["optical"]
        place = {one["name"]: at for at, one in enumerate(optical["fibres"])}
        named, _ = topologies.fibres("file", reference, "scenario.toml")
        fibres = tuple(
            Fibre(
                one["name"], own.name or "-".join(own.ends), own.ends, tuple(one["ends"]), one["delay_ps"] / PS_A_KM,
                own.duct, own.wavelengths,
            )
            for one, own in zip(optical["fibres"], of_file.fibres, strict=True)
        )  # fmt: skip
        ducts = {own.duct: duct for own, (*_, duct, _) in zip(of_file.fibres, named, strict=True) if duct}
        over, backup = (
            {one["link"]: tuple(place[name] for name in one.get(key, ())) for one in optical["lightpaths"]}
            for key in ("over", "backup")
        )
        return cls(fibres, ducts, over, backup)

    def in_duct(self, duct: str) -> tuple[int, ...]:
        """Return the numbers of the fibres of a duct, by its name in the file."""
        return tuple(at for at, one in enumerate(self.fibres) if one.duct == duct)

    def links_over(self, fibres: Iterable[int]) -> tuple[str, ...]:
        """Return the links whose working paths include any of these fibres."""
        failed = set(fibres)
        return tuple(link for link, path in self.over.items() if not failed.isdisjoint(path))

    def km(self, link: str) -> float | None:
        """Return the length of the working path of a link in km, None without fibres."""
        path = self.over.get(link)
        return None if path is None else sum(self.fibres[at].km for at in path)

    def recovered(self, failed: Collection[int], recovery: str = "restoration") -> set[str]:
        """Return the links that move to another path after a failure of fibres.

        As in scenarios, links choose in the order of the file, among fibres with a free wavelength.

        Parameters
        ----------
        recovery
            ``restoration``, or ``protection`` with the backup paths.
        """
        paths, found = dict(self.over), set()
        for link in self.links_over(failed):
            used = Counter(itertools.chain.from_iterable(path for other, path in paths.items() if other != link))
            full = {at for at, one in enumerate(self.fibres) if one.wavelengths and used[at] >= one.wavelengths}
            taken = full.union(failed)
            path = self.backup[link] if recovery == "protection" else self._shortest(self._sites(link), taken)
            if path and taken.isdisjoint(path):
                paths[link] = path
                found.add(link)
        return found

    def _sites(self, link: str) -> tuple[int, int]:
        """Return the optical nodes at the ends of a link."""
        ends = Counter(itertools.chain.from_iterable(self.fibres[at].sites for at in self.over[link]))
        first, last = (site for site, times in ends.items() if times == 1)
        return first, last

    def _shortest(self, ends: tuple[int, int], taken: Collection[int]) -> tuple[int, ...]:
        """Return the fibres of the shortest path, empty without one."""
        free = {at: one for at, one in enumerate(self.fibres) if at not in taken}
        cost = {at: max(1, int(one.km * PS_A_KM / 1000)) for at, one in free.items()}
        sites = 1 + max(itertools.chain.from_iterable(one.sites for one in self.fibres))
        graph = _core.Graph(sites, [(*one.sites, cost[at]) for at, one in free.items()])
        (path,) = graph.paths([ends])
        return tuple(
            min((at for at, one in free.items() if set(one.sites) == set(hop)), key=cost.__getitem__)
            for hop in itertools.pairwise(path)
        )
