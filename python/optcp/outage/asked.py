"""Query of ``optcp outage``: network, failures, mechanisms and assumptions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun, listed_few
from optcp.errors import InputError
from optcp.outage import backups, chosen, events, happening, study
from optcp.outage.assumed import CHOICES, SETTINGS, Assumed
from optcp.outage.mechanisms import DETECTION, find
from optcp.outage.network import US_A_KM, Network
from optcp.scenarios import shipped, topologies
from optcp.scenarios.warned import ScenarioWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.outage.backups import Backup
    from optcp.outage.events import Event

SHORTEST, ECMP = "shortest", "ecmp"
"""Kinds of routing without given paths."""
DOUBLES_S = 2.5
"""Time in s by which the second of two links has failed."""
RATES_NOT_READ, TOPOLOGY_FILE = "rates-not-read", "topology-file"
"""Scenario warnings that ``optcp outage`` replaces by its own."""


@dataclass(frozen=True)
class OutageQuery:
    """Network, failures, mechanisms and assumptions of ``optcp outage``.

    Attributes
    ----------
    network
        Network with its demands.
    demands
        Origin of the demands, in words.
    own_demands
        Whether the demands belong to the topology.
    mechanisms
        Names of mechanisms.
    unrecovered
        Sentences on links that mechanisms of the optical layer cannot recover.
    failures
        Kind of failures, one of :data:`optcp.outage.happening.KINDS`.
    events
        Failures.
    left_out
        Names of bridges, which are excluded because no mechanism can replace them.
    assumed
        Values of all assumptions.
    given
        Names of assumptions that the user set.
    stated
        Meaning of assumptions whose value follows from the file of the network, by name.
    sender
        TCP of the long flows.
    routing
        Paths of the demands, in words.
    """

    network: Network
    demands: str
    own_demands: bool
    mechanisms: tuple[str, ...]
    unrecovered: tuple[str, ...]
    failures: str
    events: tuple[Event, ...]
    left_out: tuple[str, ...]
    assumed: Assumed
    given: frozenset[str]
    stated: Mapping[str, str] = field(hash=False)
    sender: str
    routing: str

    @classmethod
    def of(
        cls, reference: str, matrix: str | None = None, mechanisms: Sequence[str] = (), failures: str | None = None,
        settings: Mapping[str, str] | None = None, sender: str = "cubic", *, ecmp: bool = False,
        paths: str | None = None,
    ) -> OutageQuery:  # fmt: skip
        """Create the query of a matrix without times of day; parameters and errors as of :meth:`by_time`."""
        asked = cls.by_time(reference, matrix, mechanisms, failures, settings, sender, ecmp=ecmp, paths=paths)
        return next(iter(asked.values()))

    @classmethod
    def by_time(
        cls, reference: str, matrix: str | None = None, mechanisms: Sequence[str] = (), failures: str | None = None,
        settings: Mapping[str, str] | None = None, sender: str = "cubic", *, ecmp: bool = False,
        paths: str | None = None, time: str | None = None,
    ) -> dict[str, OutageQuery]:  # fmt: skip
        """Create a query from command-line arguments for each time of day of the matrix; without times the time is "".

        Parameters
        ----------
        reference, matrix, ecmp, paths
            As for :meth:`optcp.outage.network.Network.find`.
        mechanisms
            Names of mechanisms; by default the fitting ones of :mod:`optcp.outage.chosen`.
        failures
            Kind of failures; by default fibres if the file has them, else links.
        settings
            Assumptions as written, by name.
        time
            The only time wanted.

        Raises
        ------
        InputError
            If an argument is unknown or invalid.
        """
        chosen.fitting(mechanisms, ecmp=ecmp, paths=paths)
        settings = settings or {}
        assumed = Assumed.read(settings)
        if failures == "doubles" and assumed.window_s < DOUBLES_S:
            raise InputError(f"--set window_s={assumed.window_s:g}: the second of two links fails up to 2 s later")
        _refuse_scenarios(reference)
        times = topologies.times(matrix, "scenario.toml") if matrix else []
        if time is not None and time not in times:
            known = f"expected one of {', '.join(times)}" if times else "the demands have no column `time`"
            raise InputError(f"--time {time}: {known}")
        networks = {
            at: Network.find(reference, matrix, time=at or None, ecmp=ecmp, paths=paths) for at in times or [""]
        }
        network = next(iter(networks.values()))
        stated = {}
        if network.layers and "detour" not in settings:
            assumed, stated["detour"] = replace(assumed, detour=1.0), "the file has the lengths of fibres"
        own = matrix is None and network.has_demands()
        failures = failures or happening.default(network)
        found, left_out = happening.failures_of(network, failures)
        names, unrecovered = chosen.for_network(mechanisms, network, failures, found)
        assumed.check(settings, names)
        shared = cls(
            network=network,
            demands=matrix or ("those of the network" if own else "gravity"),
            own_demands=own,
            mechanisms=names,
            unrecovered=tuple(unrecovered),
            failures=failures,
            events=found,
            left_out=left_out,
            assumed=assumed,
            given=frozenset(settings),
            stated=stated,
            sender=sender,
            routing=f"paths of {paths}" if paths else _ecmp(network) if ecmp else SHORTEST,
        )
        busiest = {at: network.busiest(US_A_KM * assumed.detour) for at, network in networks.items()}
        asked = {at: shared._at(at, network, busiest) for at, network in networks.items()}
        return asked if time is None else {time: asked[time]}

    def _at(self, time: str, network: Network, busiest: Mapping[str, float]) -> OutageQuery:
        """Return the query for one time of day; ``busiest`` has the load of the busiest link by time."""
        highest = max(busiest.values())
        stated, peak = dict(self.stated), self.assumed.peak
        if network.rates and network.volumes and "peak" not in self.given:
            stated["peak"] = "utilisation of the busiest link before failures, by the rates and demands of the file"
            peak = busiest[time]
        elif busiest[time] < highest:
            stated["peak"] = f"utilisation of the busiest link before failures; {peak:g} at the busiest time"
            peak *= busiest[time] / highest
        demands = f"{self.demands} at {time}" if time else self.demands
        return replace(self, network=network, demands=demands, assumed=replace(self.assumed, peak=peak), stated=stated)

    @property
    def single(self) -> bool:
        """Whether failures are single links or fibres, which fail in proportion to their length."""
        return self.failures in happening.SINGLE

    @property
    def settings(self) -> dict[str, str]:
        """Settings of all scenarios, apart from mechanism and failure."""
        hashed = {"routing.ecmp": "hash-threshold"} if self.network.ecmp else {}
        return {"parameters.detection": f"{self.assumed.detection_ms:g} ms", **study.sender(self.sender), **hashed}

    def listed(self) -> list[dict[str, Any]]:
        """Return each assumption with its value, its meaning, and whether it is a default."""
        known = {name: one.summary for name, one in SETTINGS.items()}
        known.update({name: summary for name, (_, summary) in CHOICES.items()})
        known.update(self.stated)
        if self.network.rates:
            scale = self.network.scale(self.assumed.rate_mbps)
            known["rate_mbps"] = f"rate of the fastest link, in Mb/s; rates and demands of the file times {scale:.3g}"
        return [
            {
                "name": one.name,
                "value": _plain(getattr(self.assumed, one.name)),
                "default": one.name not in self.given and one.name not in self.stated,
                "summary": known[one.name],
            }
            for one in fields(self.assumed)
            if (one.name != "cuts_a_1000_km" or self.single) and self.assumed.is_used(one.name, self.mechanisms)
        ]

    def default_assumptions(self) -> list[ScenarioWarning]:
        """Return warnings about defaults: assumptions, demands and durations of mechanisms."""
        found = [
            f"{one['name']} = {one['value']} (default): {one['summary']}" for one in self.listed() if one["default"]
        ]
        if not self.own_demands and self.demands == "gravity":
            found.append("demands = gravity: the network has no demands, so they follow the product of node degrees")
        by_part: dict[str, list[str]] = {}
        for name in self.mechanisms:
            for part in find(name).stands_on:
                if part != DETECTION:
                    by_part.setdefault(part, []).append(name)
        found += [f"{part} (default of {'; '.join(names)})" for part, names in by_part.items()]
        return [ScenarioWarning("assumed", text, "") for text in found]

    def of_file(self) -> list[ScenarioWarning]:
        """Return warnings about the file of the network: ignored rates and notes of the reader."""
        found = self.network.topology()
        warned = []
        if found.rates and not self.network.rates:
            names = ", ".join(f"`{name}`" for name in found.rates)
            rate = f"{self.assumed.rate_mbps:g} Mb/s (rate_mbps)"
            text = f"the links of {self.network.reference} have {names}, which is ignored: each has {rate}"
            warned.append(ScenarioWarning(RATES_NOT_READ, text, ""))
        if unrated := [self.network.shown_links[name] for name in self.network.unrated]:
            text = (
                f"the rates of {self.network.reference} are ignored, and each link has {self.assumed.rate_mbps:g} Mb/s "
                f"(rate_mbps): these links have no rate: {listed_few(unrated)}"
            )
            warned.append(ScenarioWarning(RATES_NOT_READ, text, ""))
        costs = (cost for link in self.network.of_file().links for cost in link.costs)
        if self.network.ecmp and not self.network.costs and any(cost is not None for cost in costs):
            text = (
                f"the costs of {self.network.reference} are ignored: expected a whole number above zero for each link"
            )
            warned.append(ScenarioWarning("costs-not-read", text, ""))
        if self.network.volumes and not self.network.rates:
            text = f"the demands are in bit/s, and {self.network.reference} has no rates: they count as weights"
            warned.append(ScenarioWarning(RATES_NOT_READ, text, ""))
        return warned + [
            ScenarioWarning(TOPOLOGY_FILE, f"{self.network.reference}: {note}", "") for note in found.notes
        ]

    def exclusions(self) -> list[ScenarioWarning]:
        """Return warnings about excluded failures and pairs, and about pairs without protection."""
        found = []
        if self.left_out:
            text = f"excluded because no mechanism can replace them (bridges): {listed_few(self.left_out)}"
            found.append(ScenarioWarning("bridges", text, ""))
        ends = [name for name in self.mechanisms if find(name).settings.get("parameters.path") == "shortest-pair"]
        if ends and (alone := self._without_pair()):
            pairs = count_noun(len(self._joined()), "pair")
            text = f"{'; '.join(ends)}: {alone} of {pairs} of nodes without disjoint paths (both share a bridge)"
            found.append(ScenarioWarning("no-disjoint-path", text, ""))
        if dedicated := [name for name in ends if "capacity" in find(name).settings["protection"][0]]:
            shared = [pair for pair, one in self._backups().items() if one.shares]
            if shared:
                names = (" to ".join(map(self.network.own_names.node, pair)) for pair in shared)
                said = "the backup path shares a risk with the working path"
                text = f"{'; '.join(dedicated)}: {said}: {listed_few([*names])}"
                found.append(ScenarioWarning("shared-risk", text, ""))
        found += [ScenarioWarning("no-other-fibres", text, "") for text in self.unrecovered]
        if given := self.network.given:
            unused = len(given.keys() - self.network.demands.keys())
            others = len(self._joined().keys() - given.keys())
            texts = [count_noun(unused, "given path has no demand", "given paths have no demand")] if unused else []
            if others:
                known = count_noun(others, "demand has no given path", "demands have no given path")
                texts.append(f"{known} and the shortest one instead")
            found += [ScenarioWarning("paths", text, "") for text in texts]
        if self.network.ecmp and not self.network.is_split(US_A_KM * self.assumed.detour):
            equal = "cost" if self.network.costs else "delay"
            found.append(ScenarioWarning("paths", f"ecmp: no demand has several paths of equal {equal}", ""))
        if apart := len(self.network.demands) - len(self._joined()):
            found.append(
                ScenarioWarning(
                    "not-joined",
                    f"{count_noun(apart, 'pair of nodes has', 'pairs of nodes have')} a demand but no path; excluded",
                    "",
                )
            )
        if self.assumed.peak > 1:
            text = f"the busiest link carries {self.assumed.peak:.2f} times its rate before any failure"
            found.append(ScenarioWarning("overloaded", text, ""))
        return found

    def _joined(self) -> dict[tuple[str, str], list[str]]:
        return self.network.paths(US_A_KM * self.assumed.detour)

    def _backups(self) -> dict[tuple[str, str], Backup]:
        return backups.dedicated(self.network, US_A_KM * self.assumed.detour) if self.network.at_risk() else {}

    def _without_pair(self) -> int:
        """Return the number of pairs whose paths include a bridge."""
        alone = {frozenset(self.network.ends(name)) for name in events.bridges(self.network)}
        hops = (map(frozenset, itertools.pairwise(path)) for path in self._joined().values())
        return sum(not alone.isdisjoint(path) for path in hops)


def _plain(value: float | str) -> float | str:
    """Return a float with six digits, and an integral one as an integer."""
    if not isinstance(value, float):
        return value
    return int(value) if value.is_integer() else float(f"{value:.6g}")


def _ecmp(network: Network) -> str:
    """Return the routing with ECMP, in words."""
    return f"{ECMP} with the costs of the file" if network.costs else f"{ECMP} with delays as costs"


def _refuse_scenarios(reference: str) -> None:
    if reference.lower().endswith(".toml") or reference in shipped.scenarios():
        raise InputError(
            f"{reference}: expected a network, such as sndlib/abilene or mine.gml, got a scenario; run it with "
            f"`optcp run {reference}`"
        )
