"""Environment of a protection policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from optcp.common import arguments
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.data.times import Instant, picoseconds
from optcp.errors import InputError, nearest
from optcp.gym.base import MOST, LiveEnv, bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from optcp.scenarios.scenario import Scenario


class Outage(NamedTuple):
    """Failure of a link and its repair."""

    link: str
    """Name of the link."""
    at_s: float
    """Time of the failure after the start of the episode, in s."""
    duration_s: float
    """Time from the failure to the repair, in s."""


class Order(NamedTuple):
    """Scheduled change at a later time of the episode."""

    at_ps: int
    link: str
    values: dict[str, str]


class ProtectionEnv(LiveEnv):
    """Choice of the path that serves each virtual output queue, before, during and after failures.

    An action has one number per queue: the index of a serving path in :attr:`paths`. The queue switches to it
    ``set_up`` after the start of the step; the present path means to wait.

    An observation contains in turn:

    * per link of ``links``: 1 while the link is reported as failed, else 0
    * per link: time since its last report, or since the start of the episode, in s
    * per queue: index of the path of the last action
    * per queue: length of the queue at its first node, in packets
    * per group of TCP flows: rate of in-order data in the last interval, in Mbit/s

    The reward of a step is the data that all TCP flows deliver in order, in Mbit.

    Parameters
    ----------
    world
        Scenario with ``[[voqs]]``.
    links
        Names of the links that may fail, without ``[[failures]]``.
    outages
        Function from NumPy's random generator to the outages of an episode. Outages of one link do not overlap.
    detection
        Time from a failure or repair to its report.
    set_up
        Time from an action to its switchover, shorter than ``interval``.
    start, interval, end, seeds
        As for :class:`LiveEnv`.

    Raises
    ------
    InputError
        If an argument is invalid, or the scenario has no virtual output queue.
    """

    def __init__(
        self,
        world: Scenario,
        links: Sequence[str],
        outages: Callable[[np.random.Generator], Iterable[Outage]],
        *,
        detection: Instant = "10 ms",
        set_up: Instant = "0 s",
        start: Instant = "1 s",
        interval: Instant = "50 ms",
        end: Instant | None = None,
        seeds: Iterable[int] = (1,),
    ) -> None:
        super().__init__(world, start=start, interval=interval, end=end, seeds=seeds)
        known = {link["name"]: link for link in world.resolved["links"]}
        self.links = arguments.texts(links, "links")
        for name in self.links:
            if name not in known:
                raise InputError(f"there is no link {arguments.shown(name)}; {nearest(name, known)}")
        self.paths = {name: list(link["ways"]) for name, link in known.items() if link.get("ways")}
        """Names of the serving paths of each virtual output queue."""
        if not self.paths:
            raise InputError("world: expected a scenario with [[voqs]]")
        self._outages = arguments.function(outages, "outages")
        self._detection_ps, self._set_up_ps = picoseconds(detection), picoseconds(set_up)
        if self._set_up_ps >= self.interval_ps:
            raise InputError("set_up: expected a shorter time than `interval`")
        self._served = {name: known[name]["served"][0] for name in self.paths}
        self._queues = [f"{name}:{known[name]['ends'][0]}->{known[name]['ends'][1]}" for name in self.paths]
        rows = list(self._trunks[0].flows)
        self.groups = list(dict.fromkeys(str(row["group"]) for row in rows))
        """Names of the groups of TCP flows."""
        self._group = np.array([self.groups.index(str(row["group"])) for row in rows])
        self.action_space = spaces.MultiDiscrete([len(paths) for paths in self.paths.values()])
        values = 2 * len(self.links) + 2 * len(self.paths) + len(self.groups)
        self.observation_space = spaces.Box(0, MOST, (values,), np.float32)

    def _begin(self) -> None:
        self._serving = self._served
        self._orders: list[Order] = []
        self._reports: list[tuple[int, str, bool]] = []
        self._rates = np.zeros(len(self.groups))
        self._delivered = self._read()
        for link, at_s, duration_s in self._outages(self.np_random):
            failed_ps = self.start_ps + picoseconds(at_s)
            self._plan(arguments.choice(link, "link", self.links), failed_ps, down=True)
            self._plan(link, failed_ps + picoseconds(duration_s), down=False)

    def _plan(self, link: str, at_ps: int, *, down: bool) -> None:
        self._order(at_ps, link, state="down" if down else "up")
        self._reports = sorted([*self._reports, (at_ps + self._detection_ps, link, down)])

    def _order(self, at_ps: int, link: str, **values: str) -> None:
        self._orders = sorted([*self._orders, Order(at_ps, link, values)], key=lambda order: order.at_ps)

    def _read(self) -> NDArray[np.float64]:
        """Return the data delivered so far per group, in Mbit."""
        delivered = self.run.flows.numbers("delivered_bytes")
        found = np.bincount(self._group, delivered, len(self.groups)).astype(np.float64)
        return 8e-6 * found

    def _act(self, action: Any) -> None:  # noqa: ANN401
        if action not in self.action_space:
            raise InputError(f"action: expected an element of {self.action_space}, got {arguments.shown(action)}")
        chosen = {name: paths[index] for (name, paths), index in zip(self.paths.items(), action, strict=True)}
        for name, path in chosen.items():
            if path != self._serving[name]:
                self._order(self.run.now_ps + self._set_up_ps, name, served=path)
        self._serving = chosen

    def _advance(self, until_ps: int) -> None:
        while self._orders and self._orders[0].at_ps < until_ps:
            order, *self._orders = self._orders
            super()._advance(order.at_ps)
            self.run.schedule(order.link, **order.values)
        super()._advance(until_ps)
        before, self._delivered = self._delivered, self._read()
        self._rates = (self._delivered - before) / self.interval_s

    def _observation(self) -> NDArray[np.float32]:
        now_ps = self.run.now_ps
        reported = dict.fromkeys(self.links, (self.start_ps, False))
        reported |= {link: (at_ps, down) for at_ps, link, down in self._reports if at_ps <= now_ps}
        serving = [paths.index(self._serving[name]) for name, paths in self.paths.items()]
        queues = [self.run.port(name)["queue_packets"] for name in self._queues]
        down = [float(down) for _, down in reported.values()]
        since_s = [(now_ps - at_ps) / PICOSECONDS_A_SECOND for at_ps, _ in reported.values()]
        return bounded(np.array([*down, *since_s, *serving, *queues, *self._rates]))

    def _reward(self) -> float:
        return float(self._rates.sum() * self.interval_s)
