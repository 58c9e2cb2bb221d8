"""A study of a network: scenarios over mechanism and failure, and the cost of each failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.outage import costs, events, resampled
from optcp.outage.mechanisms import RESERVED, find
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from optcp.data.censored import Censored
    from optcp.outage.costs import Cost
    from optcp.outage.events import Event
    from optcp.outage.network import Network
    from optcp.outage.resampled import Resampled
    from optcp.outage.world import Assumptions, World
    from optcp.scenarios.scenario import Settings
    from optcp.study import StudyResult
    from optcp.study.grid import Axes

WITHOUT = "none"
"""Name of the run without a failure."""
LONGER_S = {"restoration, 2 s": 10.0, "restoration, 8 s": 28.0}
"""How long the loss counts at least where the network takes longer than half a second: three times that, and 4 s."""
LATER_S = 0.1
"""By how much a failure comes later at most."""

SENDERS: dict[str, dict[str, str]] = {
    "newreno": {"profile": "rfc"},
    "newreno-linux": {"profile": "rfc", "rtt": "linux", "min_rto": "200 ms", "measurement": "every-ack"},
    "cubic": {"profile": "linux-6"},
    "bbr": {"profile": "linux-6-bbr"},
}
"""NewReno as the RFCs have it, with timeouts of 1 s at least; with Linux's timers; Linux 6 with CUBIC, and with BBR."""


def failing(chosen: Sequence[Event], assumed: Assumptions) -> dict[str, Settings]:
    """The axis ``failure``: none, and each event."""
    return {WITHOUT: {"failures": []}, **{one.name: one.settings(assumed.warm_up_s) for one in chosen}}


def mechanisms(
    names: Iterable[str], assumed: Assumptions, circuits: str = RESERVED, detection_ms: float = 10.0
) -> dict[str, Settings]:
    """Return the axis ``mechanism``; runs of slow mechanisms are longer.

    Parameters
    ----------
    names
        Mechanisms of :func:`optcp.outage.mechanisms.find`.
    assumed
        Assumptions of the scenarios.
    circuits
        ``capacity`` of mechanisms with reserved backups: ``reserved`` or ``line-rate``.
    detection_ms
        Detection time of routers without a hold-off, in ms.
    """
    found: dict[str, Settings] = {}
    for name in names:
        one = find(name)
        held = one.held(one.with_circuits(circuits), detection_ms, assumed.hold_off_ms)
        found[name] = {**held, **_optical(one.recovery, assumed), **_lasting(name, assumed)}
    return found


def _optical(recovery: str, assumed: Assumptions) -> dict[str, str]:
    """Return the times of the recovery of lightpaths."""
    if not recovery:
        return {}
    set_up_ms = {"protection": assumed.optical_protection_ms, "restoration": 1000 * assumed.optical_restoration_s}
    detection = f"{assumed.optical_detection_ms:g} ms"
    return {"optical.detection": detection, "optical.set_up": f"{set_up_ms[recovery]:g} ms"}


def window_s(mechanism: str, assumed: Assumptions) -> float:
    """Return the time over which losses are counted, in s."""
    slow_s = assumed.optical_detection_ms / 1000 + assumed.optical_restoration_s
    optical_s = 3 * slow_s + 4 if find(mechanism).recovery == "restoration" else 0.0
    return max(LONGER_S.get(mechanism, 0.0), optical_s, assumed.window_s)


def _lasting(name: str, assumed: Assumptions) -> dict[str, str]:
    lasts_s = window_s(name, assumed)
    return {} if lasts_s == assumed.window_s else {"stop": f"{assumed.warm_up_s + LATER_S + lasts_s:g} s"}


def sender(name: str) -> dict[str, str]:
    """Return the settings of the sender of long flows; short flows keep theirs."""
    return {f"tcp.long.{key}": value for key, value in SENDERS[name].items()}


def cut(network: Network) -> tuple[Event, ...]:
    """Return the failure of every link except bridges, which no mechanism can replace."""
    alone = events.bridges(network)
    return tuple(one for one in events.links(network) if alone.isdisjoint(one.links))


def grid(
    title: str, of: World, axes: Axes,
    settings: Settings | None = None, *, digest: bool = False, fork: bool = True, check: bool = True,
) -> Grid:  # fmt: skip
    """Return a grid of scenarios of one network, with ``failure`` as the last axis."""
    return Grid.grid(of.core, settings, axes, title=f"outage, {title}", digest=digest, fork=fork, check=check)


@dataclass(frozen=True)
class Costs:
    """Costs of each failure in each parameter combination of a study.

    Attributes
    ----------
    network
        Network.
    events
        Failures in order, repeated per seed.
    weights
        Weight of each failure in means.
    cells
        Costs of each failure, by the values of the other axes.
    """

    network: Network
    events: tuple[Event, ...]
    weights: np.ndarray
    cells: Mapping[tuple[str, ...], list[Cost]]

    def mean(self, at: tuple[str, ...], value: Callable[[Cost], float]) -> Resampled:
        """Return the weighted mean of one number per failure."""
        return resampled.mean([value(one) for one in self.cells[at]], self.weights)

    def cut_mean(self, at: tuple[str, ...], value: Callable[[Cost], tuple[float, float]]) -> Resampled:
        """Return the weighted mean of one possibly censored number per failure, given with lower bounds."""
        found = [value(one) for one in self.cells[at]]
        return resampled.mean([one for one, _ in found], self.weights, [bound for _, bound in found])

    def quantile(self, at: tuple[str, ...], values: Callable[[Cost], Censored], q: float) -> Resampled:
        """Return a quantile of values of flows over all failures."""
        found = [values(one) for one in self.cells[at]]
        quantile = resampled.known_quantile if any(one.informative for one in found) else resampled.quantile
        return quantile([one.values for one in found], self.weights, q, [one.at_least for one in found])

    def part(self, keep: Callable[[Event], bool]) -> Costs:
        """Return the costs of some of the failures."""
        places = [at for at, one in enumerate(self.events) if keep(one)]
        cells = {at: [all_[place] for place in places] for at, all_ in self.cells.items()}
        return Costs(self.network, tuple(self.events[place] for place in places), self.weights[places], cells)


@dataclass(frozen=True)
class CostsOf:
    """Function that compares every run of a study with the run without the failure.

    Attributes
    ----------
    network
        Network.
    events
        Values of the last axis ``failure`` after the run without failure. Links are weighted by length, nodes equally.
    """

    network: Network
    events: tuple[Event, ...]

    def __call__(self, done: StudyResult) -> Costs:
        """Return the costs of the failures of a study."""
        *others, failure = done.grid.axes
        branches = done.grid.branches
        # Without any random draws, all seeds are one observation of each failure.
        seeds = done.seeds[:1] if done.repeated.all() else done.seeds
        found: dict[tuple[str, ...], list[Cost]] = {}
        for first in range(0, len(branches), len(failure)):
            at = tuple(done.grid.written(branches[first])[: len(others)])
            by_failure = dict(zip(failure.values, branches[first:], strict=False))
            found[at] = []
            for seed in seeds:
                twin = done.run(by_failure[WITHOUT], seed)
                for one in self.events:
                    run = done.run(by_failure[one.name], seed)
                    found[at].append(costs.cost(run, twin, events.ports(self.network, one), frozenset(one.nodes)))
        happened = self.events * len(seeds)
        return Costs(self.network, happened, np.array([one.km or 1.0 for one in happened]), found)
