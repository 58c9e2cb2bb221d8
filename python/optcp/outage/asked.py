"""What is asked of a network: what may fail, which mechanisms answer, what is assumed, and what of it is a default."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from optcp.common.plurals import count_noun
from optcp.errors import InputError, nearest
from optcp.outage import events, study
from optcp.outage.mechanisms import DETECTION, MECHANISMS
from optcp.outage.network import US_A_KM, Network
from optcp.outage.world import SIZES, Assumptions
from optcp.scenarios import shipped
from optcp.scenarios.warned import ScenarioWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.outage.events import Event

MECHANISMS_ASKED = ("none", "lfa", "ti-lfa", "local", "1:1", "1+1", "restoration, 2 s")
"""Where none is named."""
DOUBLES = 50
"""Pairs of links that are drawn."""
DRAWN_WITH = 1
"""The seed of that draw."""
LONG_MS = 500.0
"""Detection that takes longer is long."""
DOUBLES_S = 2.5
"""The second of two links has failed by then."""
RATES_NOT_READ, TOPOLOGY_FILE = "rates-not-read", "topology-file"
"""Warnings of scenarios that this verb words itself."""
MOST_NAMED = 8
"""A message names no more links."""


@dataclass(frozen=True)
class Setting:
    """A number that can be set.

    Attributes
    ----------
    summary
        What it is, with its unit.
    above
        It is larger.
    most
        And no larger than this.
    least
        In place of ``above``: it is no smaller.
    whole
        Whether it is a whole number.
    """

    summary: str
    above: float = 0.0
    most: float = math.inf
    least: float | None = None
    whole: bool = False

    @property
    def expected(self) -> str:
        """What is expected, in words."""
        kind = "a whole number" if self.whole else "a number"
        low = f"above {self.above:g}" if self.least is None else f"from {self.least:g}"
        return f"{kind} {low}" + ("" if math.isinf(self.most) else f" to {self.most:g}")

    def read(self, text: str) -> float:
        """Read it.

        Raises
        ------
        ValueError
            If the text is none.
        """
        value = int(text) if self.whole else float(text)
        enough = value > self.above if self.least is None else value >= self.least
        if not (math.isfinite(value) and enough and value <= self.most):
            raise ValueError
        return value


SETTINGS: dict[str, Setting] = {
    "rate_mbps": Setting("rate of every link, in Mb/s", most=100_000),
    "peak": Setting("what the busiest link carries of its rate before anything fails", most=1),
    "flow_mbps": Setting("what the host of a long flow sends at most, in Mb/s"),
    "short_share": Setting("which share of the traffic is short flows", least=0, most=0.99),
    "short_mbps": Setting("rate of the hosts that send short flows, in Mb/s"),
    "clamp_mb": Setting("how much a short flow sends at most, in MB"),
    "detour": Setting("how much longer fibre is than the lengths of the network", least=1, most=10),
    "queue_ms": Setting("what a port holds, as the ms that sending it takes", most=10_000),
    "hosts_seed": Setting("which draw of the pairs of long flows", least=0, whole=True),
    "warm_up_s": Setting("when the failure comes, in s", least=1.5, most=1000),
    "window_s": Setting("how long what is lost counts, in s", most=10_000),
    "detection_ms": Setting("how long nodes take to detect a failure, in ms (BFD: 3 ms to 3 s)", least=0, most=60_000),
    "cuts_a_1000_km": Setting("cuts of 1000 km of fibre in a year, for nines", most=1000),
}
SIZES_SUMMARY = "the distribution of the sizes of short flows"


@dataclass(frozen=True)
class Assumed(Assumptions):
    """What worlds stand on, how long detection takes, and how often fibres are cut.

    Attributes
    ----------
    detection_ms
        How long nodes take to detect a failure.
    cuts_a_1000_km
        Cuts of 1000 km of fibre in a year.
    """

    detection_ms: float = 10.0
    cuts_a_1000_km: float = 2.7

    @classmethod
    def read(cls, settings: Mapping[str, str]) -> Assumed:
        """Read them as ``--set`` has them; what is not named is at its default.

        Raises
        ------
        InputError
            If there is no such name, or a value is not what is expected.
        """
        found = {name: _value(name, text) for name, text in settings.items()}
        return cls(**found)  # type: ignore[arg-type]

    @property
    def world(self) -> Assumptions:
        """What worlds stand on; where detection takes long, the loss counts for three times that and 4 s at least."""
        same = Assumptions(**{name: getattr(self, name) for name in Assumptions.names()})
        if self.detection_ms <= LONG_MS:
            return same
        return replace(same, window_s=max(self.window_s, 3 * self.detection_ms / 1000 + 4))


def _value(name: str, text: str) -> float | str:
    known = [one.name for one in fields(Assumed)]
    if name not in known:
        raise InputError(f"--set {name}: there is no assumption {name!r}; {nearest(name, known)}")
    if name == "sizes":
        if text not in SIZES:
            raise InputError(f"--set sizes={text}: there are no such sizes; {nearest(text, SIZES)}")
        return text
    setting = SETTINGS[name]
    try:
        return setting.read(text)
    except (ValueError, OverflowError):
        raise InputError(f"--set {name}={text}: expected {setting.expected} ({setting.summary})") from None


@dataclass(frozen=True)
class OutageQuery:
    """A question to a network.

    Attributes
    ----------
    network
        With its demands.
    demands
        Where these come from, in words.
    own_demands
        Whether they are those that the topology comes with.
    mechanisms
        By name.
    failures
        What fails: one of :data:`FAILURES`.
    events
        Each of them.
    left_out
        Bridges: links whose failure no mechanism can answer.
    assumed
        What is assumed.
    given
        The names of assumptions that were set.
    sender
        Of the long flows.
    """

    network: Network
    demands: str
    own_demands: bool
    mechanisms: tuple[str, ...]
    failures: str
    events: tuple[Event, ...]
    left_out: tuple[str, ...]
    assumed: Assumed
    given: frozenset[str]
    sender: str

    @classmethod
    def of(
        cls, reference: str, matrix: str | None = None, mechanisms: Sequence[str] = (), failures: str = "links",
        settings: Mapping[str, str] | None = None, sender: str = "cubic",
    ) -> OutageQuery:  # fmt: skip
        """Read a question.

        Parameters
        ----------
        reference, matrix
            As :meth:`optcp.outage.network.Network.find` takes them.
        mechanisms
            Names; left out, those of :data:`MECHANISMS_ASKED`.
        settings
            Assumptions as written.

        Raises
        ------
        InputError
            If a part of it does not exist or makes no sense.
        """
        for name in mechanisms:
            if name not in MECHANISMS:
                raise InputError(f"--mechanism {name}: there is no such mechanism; {nearest(name, MECHANISMS)}")
        assumed = Assumed.read(settings or {})
        if failures == "doubles" and assumed.window_s < DOUBLES_S:
            raise InputError(f"--set window_s={assumed.window_s:g}: the second of two links fails up to 2 s later")
        _refuse_scenarios(reference)
        network = Network.find(reference, matrix)
        own = matrix is None and network.has_demands()
        bridges = events.bridges(network)
        return cls(
            network=network,
            demands=matrix or ("those of the network" if own else "gravity"),
            own_demands=own,
            mechanisms=tuple(dict.fromkeys(mechanisms or MECHANISMS_ASKED)),
            failures=failures,
            events=_happening(network, failures),
            left_out=tuple(name for name in network.link_names() if name in bridges) if failures == "links" else (),
            assumed=assumed,
            given=frozenset(settings or {}),
            sender=sender,
        )

    @property
    def settings(self) -> dict[str, str]:
        """What all worlds have beside mechanism and failure."""
        return {"parameters.detection": f"{self.assumed.detection_ms:g} ms", **study.sender(self.sender)}

    def listed(self) -> list[dict[str, Any]]:
        """Each assumption with its value, what it is, and whether it stands at its default."""
        return [
            {
                "name": one.name,
                "value": _plain(getattr(self.assumed, one.name)),
                "default": one.name not in self.given,
                "summary": SETTINGS[one.name].summary if one.name in SETTINGS else SIZES_SUMMARY,
            }
            for one in fields(self.assumed)
            if one.name != "cuts_a_1000_km" or self.failures == "links"
        ]

    def default_assumptions(self) -> list[ScenarioWarning]:
        """What stands on a default: assumptions, demands, and durations of the mechanisms."""
        found = [
            f"{one['name']} = {one['value']}, its default: {one['summary']}" for one in self.listed() if one["default"]
        ]
        if not self.own_demands and self.demands == "gravity":
            found.append("demands = gravity: the network has none, so the product of the links that two nodes have")
        by_part: dict[str, list[str]] = {}
        for name in self.mechanisms:
            for part in MECHANISMS[name].stands_on:
                if part != DETECTION:
                    by_part.setdefault(part, []).append(name)
        found += [f"{part}, the default of {'; '.join(names)}" for part, names in by_part.items()]
        return [ScenarioWarning("assumed", text, "") for text in found]

    def of_file(self) -> list[ScenarioWarning]:
        """Warnings about the network's file: rates that are not read, and what the file says in another way."""
        found = self.network.topology()
        warned = []
        if found.rates:
            names = ", ".join(f"`{name}`" for name in found.rates)
            rate = f"{self.assumed.rate_mbps:g} Mb/s (rate_mbps)"
            text = f"the links of {self.network.reference} have {names}, which is not read: each has {rate}"
            warned.append(ScenarioWarning(RATES_NOT_READ, text, ""))
        return warned + [
            ScenarioWarning(TOPOLOGY_FILE, f"{self.network.reference}: {note}", "") for note in found.notes
        ]

    def exclusions(self) -> list[ScenarioWarning]:
        """What is left out, and for whom a mechanism can do nothing."""
        found = []
        if self.left_out:
            found.append(
                ScenarioWarning("bridges", f"no mechanism can answer these, left out: {_few(self.left_out)}", "")
            )
        ends = [name for name in self.mechanisms if MECHANISMS[name].settings.get("parameters.path") == "shortest-pair"]
        if ends and (alone := self._without_pair()):
            pairs = count_noun(len(self._joined()), "pair")
            text = f"{'; '.join(ends)}: {alone} of {pairs} of nodes without a disjoint path: both share a bridge"
            found.append(ScenarioWarning("no-disjoint-path", text, ""))
        if apart := len(self.network.demands) - len(self._joined()):
            found.append(
                ScenarioWarning(
                    "not-joined",
                    f"{count_noun(apart, 'pair of nodes has', 'pairs of nodes have')} a demand and no path: left out",
                    "",
                )
            )
        return found

    def _joined(self) -> dict[tuple[str, str], list[str]]:
        return self.network.paths(US_A_KM * self.assumed.detour)

    def _without_pair(self) -> int:
        """How many pairs have a bridge between them, which every path goes over."""
        alone = {frozenset(self.network.ends(name)) for name in events.bridges(self.network)}
        hops = (map(frozenset, itertools.pairwise(path)) for path in self._joined().values())
        return sum(not alone.isdisjoint(path) for path in hops)


def _plain(value: float | str) -> float | str:
    """A whole number without its decimals."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _refuse_scenarios(reference: str) -> None:
    if reference.lower().endswith(".toml") or reference in shipped.scenarios():
        raise InputError(
            f"{reference}: this is a scenario, which `optcp run {reference}` runs; a network is wanted here, "
            "such as sndlib/abilene or mine.gml"
        )


def _happening(network: Network, failures: str) -> tuple[Event, ...]:
    """What fails; of pairs that are drawn twice, the first."""
    if failures == "links":
        found = list(study.cut(network))
    elif failures == "nodes":
        found = events.nodes(network)
    elif failures == "ducts":
        if not network.has_places():
            raise InputError(f"{network.reference}: it is not known where nodes are, so which links share a duct")
        found = events.ducts(network)
    else:
        found = events.doubles(network, DOUBLES, DRAWN_WITH) if len(network.links) > 1 else []
    if not found:
        why = {
            "links": "every link is a bridge, whose failure no mechanism can answer",
            "ducts": "no two links leave a node side by side",
        }.get(failures, "there is one link")
        raise InputError(f"{network.reference}: {why}; choose other --failures")
    return tuple({one.name: one for one in reversed(found)}.values())[::-1]


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
