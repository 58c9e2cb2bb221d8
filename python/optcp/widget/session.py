"""State of the widget: live runs that messages advance, change and fork, and their values over time."""

from __future__ import annotations

import copy
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.data.times import Instant, picoseconds
from optcp.errors import InputError
from optcp.plots import network
from optcp.scenarios.live import LiveRun
from optcp.scenarios.topologies import places
from optcp.web.animation.frames import ports_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.web.animation.frames import Port

VALUES = 200
"""Number of values of a curve, by default."""
MAX_BRANCHES = 4
SLICE_S = 0.05
"""Wall time after which a slice ends and the kernel is free again, in s."""
PIECE_S = 0.01
"""Wall time between two readings of the clock, in s."""
UNLIMITED = {"packets": 10.0, "bytes": 15_000.0}
"""Length of a full bar for queues without limit, by unit."""


class Branch:
    """Run with its values over time.

    Attributes
    ----------
    curves
        ``end`` of the last interval in s, and ``groups``: values by group and quantity. Quantities are "goodput" in
        Mbit/s and "cwnd", the mean of the active flows in kB. Each list alternates start of an interval in s and value.
    use
        Utilisation of each port in the last interval.
    """

    def __init__(self, run: LiveRun) -> None:
        self.run = run
        self.ports = run.ports
        self.delivered = _delivered(run.flows)
        self.since_ps = run.now_ps
        self.curves: dict[str, Any] = {"end": run.now, "groups": {}}
        self.use: NDArray[np.float64] = np.zeros(len(self.ports))

    def fork(self) -> Branch:
        """Return a branch that continues from a fork of the run."""
        fork = copy.copy(self)
        fork.run = self.run.fork()
        fork.curves = copy.deepcopy(self.curves)
        return fork

    def sample(self) -> dict[str, dict[str, float]]:
        """Add the values of the interval that ends now to the curves, and return them by group."""
        run, start_s = self.run, self.curves["end"]
        flows = run.flows
        delivered, passed_s = _delivered(flows), (run.now_ps - self.since_ps) / PICOSECONDS_A_SECOND
        found = {}
        for group, number in delivered.items():
            windows = flows.where(group=group, state="active")["cwnd_bytes"]
            found[group] = {
                "goodput": round(8e-6 * (number - self.delivered.get(group, 0.0)) / passed_s, 4),
                "cwnd": round(float(windows.mean()) / 1000, 3) if len(windows) else 0.0,
            }
            for quantity, value in found[group].items():
                self.curves["groups"].setdefault(group, {}).setdefault(quantity, []).extend((start_s, value))
        self.use = np.nan_to_num(run.utilisation(self.ports))
        self.ports, self.delivered, self.since_ps = run.ports, delivered, run.now_ps
        self.curves["end"] = run.now
        return found


class Session:
    """Live runs of a widget, which advance together; one of them is shown.

    Each slice of simulation ends after :data:`SLICE_S`, so that the kernel stays free for other cells.

    Parameters
    ----------
    run
        First run.
    interval
        Simulated time per value of the curves and per step; by default 1/200 of the run.

    Raises
    ------
    InputError
        If the interval is invalid, or the network has no link or too many nodes.
    """

    def __init__(self, run: LiveRun, interval: Instant | None = None) -> None:
        run = arguments.one_of(run, LiveRun, "run", "a live run; Scenario.start() makes one")
        resolved = run.scenario.resolved
        self.stop_ps = int(resolved["stop_ps"])
        self.interval_ps = max(self.stop_ps // VALUES, 1) if interval is None else picoseconds(interval)
        if not 0 < self.interval_ps <= self.stop_ps:
            raise arguments.refused(interval, "interval", "a time above zero, up to the end of the run")
        self.nodes, self.links, drawn_as = network.laid(resolved)
        if not self.links or len(self.nodes) > network.MAX_NODES:
            raise InputError(f"the widget needs at least 1 link and at most {network.MAX_NODES} nodes")
        known = places(dict(run.scenario.core.settings()), "")
        self.places, self.height = network.placed(self.nodes, self.links, known)
        self.lines: list[Port] = ports_of(resolved, self.links, drawn_as)[0]
        self.branches = [Branch(run)]
        self.curves = [branch.curves for branch in self.branches]
        self.shown, self.target_ps, self.said, self.asked, self.count = 0, run.now_ps, "", "", 0
        self.samples: list[dict[str, Any]] = []
        self._piece_ps = max(self.stop_ps // 10**6, 1)
        self._state = self._read()

    def __repr__(self) -> str:
        return f"widget with {count_noun(len(self.branches), 'branch', 'branches')} at {self.frame()['now']:g} s"

    @property
    def run(self) -> LiveRun:
        """Run that is shown."""
        return self.branches[self.shown].run

    @property
    def runs(self) -> list[LiveRun]:
        """Runs of all branches: the first run, and its forks."""
        return [branch.run for branch in self.branches]

    @property
    def now_ps(self) -> int:
        """Time that all runs have reached, in ps."""
        return min(run.now_ps for run in self.runs)

    def answer(self, message: Mapping[str, Any]) -> None:
        """Carry out a message of the front end; an invalid one changes :attr:`said` only.

        Parameters
        ----------
        message
            ``ask`` and its argument: "advance" by ``seconds``, "toggle" a ``link``, "fork", "show" a ``branch``,
            "step" or "pause". "continue" simulates the next slice of an unfinished step or advance.
        """
        self.said, self.asked, self.count = "", message.get("ask", ""), self.count + 1
        try:
            match message:
                case {"ask": "advance", "seconds": seconds}:
                    self._advance(self.now_ps + round(seconds * PICOSECONDS_A_SECOND))
                case {"ask": "step"}:
                    self._advance(self._boundary_ps)
                case {"ask": "continue"}:
                    self._advance(self.target_ps)
                case {"ask": "toggle", "link": link}:
                    self._toggle(link)
                case {"ask": "fork"}:
                    self._fork()
                case {"ask": "show", "branch": branch} if branch in range(len(self.branches)):
                    self.shown = branch
                case {"ask": "pause"}:
                    self.target_ps = self.now_ps
        except (InputError, _core.ScenarioError) as error:
            self.said = str(error)

    def network(self) -> dict[str, Any]:
        """Return what does not change: nodes with their places as shares of the picture, links, ports and time."""
        return {
            "nodes": self.nodes,
            "places": {node: (x / network.WIDTH, y / self.height) for node, (x, y) in self.places.items()},
            "links": [{key: link[key] for key in ("name", "ends", "forward", "reverse")} for link in self.links],
            "ports": [port.name for port in self.lines],
            "stop": self.stop_ps / PICOSECONDS_A_SECOND,
            "interval": self.interval_ps / PICOSECONDS_A_SECOND,
        }

    def frame(self) -> dict[str, Any]:
        """Return the state of the shown branch: times in s, ports in the order of :attr:`lines`.

        After the end of a run, such as by ``finish``, this is the last state.
        """
        about = {"count": self.count, "asked": self.asked, "shown": self.shown, "said": self.said}
        try:
            self._state = self._read()
        except InputError as error:
            return self._state | about | {"busy": False, "said": str(error)}
        return self._state | about

    def _read(self) -> dict[str, Any]:
        branch = self.branches[self.shown]
        ports = branch.run.ports
        rows = {name: row for row, name in enumerate(ports.texts("port"))}
        up, queues = ports["up"], {unit: ports.numbers(f"queue_{unit}") for unit in ("packets", "bytes")}

        def share(port: Port) -> float:
            full = port.limit if math.isfinite(port.limit) else UNLIMITED[port.unit]
            return float(queues[port.unit][rows[port.name]]) / full if port.name in rows and full else 0.0

        return {
            "now": self.now_ps / PICOSECONDS_A_SECOND,
            "busy": self.now_ps < self.target_ps,
            "down": [
                link["name"]
                for link, *both in zip(self.links, self.lines[::2], self.lines[1::2], strict=True)
                if not all(up[rows[port.name]] for port in both if port.name in rows)
            ],
            "use": [round(float(branch.use[rows[port.name]]), 3) if port.name in rows else 0.0 for port in self.lines],
            "queue": [round(share(port), 3) for port in self.lines],
        }

    def take_samples(self) -> list[dict[str, Any]]:
        """Return the values since the last call, by branch, so that messages stay small."""
        found, self.samples = self.samples, []
        return found

    @property
    def _boundary_ps(self) -> int:
        """End of the current interval."""
        return min((self.now_ps // self.interval_ps + 1) * self.interval_ps, self.stop_ps)

    def _advance(self, target_ps: int) -> None:
        """Advance all runs to a time, or as far as one slice reaches."""
        self.target_ps = min(target_ps, self.stop_ps)
        begin = time.perf_counter()
        while (now_ps := self.now_ps) < self.target_ps:
            until_ps = min(self.target_ps, self._boundary_ps, now_ps + self._piece_ps)
            piece_begin = time.perf_counter()
            self._simulate(until_ps)
            now = time.perf_counter()
            if now - piece_begin > PIECE_S:
                self._piece_ps = max((until_ps - now_ps) // 2, 1)
            elif until_ps == now_ps + self._piece_ps:
                self._piece_ps *= 2
            if now - begin > SLICE_S:
                return

    def _simulate(self, until_ps: int) -> None:
        boundary_ps = self._boundary_ps
        for number, branch in enumerate(self.branches):
            if branch.run.now_ps < until_ps:
                branch.run.advance(f"{until_ps} ps")
            if branch.since_ps < branch.run.now_ps and until_ps == boundary_ps:
                start_s, values = branch.curves["end"], branch.sample()
                self.samples.append({"branch": number, "start": start_s, "end": branch.run.now, "values": values})

    def _toggle(self, link: str) -> None:
        run = self.run
        if run.now_ps >= self.stop_ps:
            raise InputError("the run is at its end")
        if link in self.frame()["down"]:
            run.repair(link)
        else:
            run.fail(link)
        # The event is at the current time, and takes effect after it.
        self._advance(run.now_ps + 1)

    def _fork(self) -> None:
        if len(self.branches) == MAX_BRANCHES:
            raise InputError(f"the widget compares at most {MAX_BRANCHES} branches")
        self.branches.append(self.branches[self.shown].fork())
        self.curves.append(self.branches[-1].curves)
        self.shown = len(self.branches) - 1


def _delivered(flows: Table) -> dict[str, float]:
    """Return the delivered bytes of each group."""
    codes, names = flows.coded("group")
    sums = np.bincount(codes, weights=flows.numbers("delivered_bytes"), minlength=len(names))
    return {name: float(one) for name, one in zip(names, sums, strict=True)}
