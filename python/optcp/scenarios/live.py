"""Runs in progress: advancing, inspecting, forking and changing them."""

from __future__ import annotations

import copy
import tomllib
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common import arguments
from optcp.data.times import Instant, exact, picoseconds
from optcp.errors import InputError
from optcp.scenarios.in_force import changed_links
from optcp.scenarios.live_state import LiveState
from optcp.scenarios.named import link_of, protections
from optcp.scenarios.policy import reports
from optcp.scenarios.run import FreshRun
from optcp.scenarios.scenario import Scenario
from optcp.scenarios.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from optcp.scenarios.policy import Policy


MOST_COUNT = 2**32
"""Maximum count in a condition, and maximum window in bytes."""


class LiveRun(LiveState):
    """Run in progress: ``Scenario.start`` and :meth:`fork` create one.

    A run is advanced in steps of any length, without an effect on its result. Between steps it can be inspected, forked
    and changed. As a context manager, it frees the simulated network at the end. All methods but :meth:`close` raise
    :class:`optcp.InputError` after the end of the run.

    Parameters
    ----------
    world
        Scenario of the run.
    core
        Run of the compiled simulator.

    Examples
    --------
    >>> import optcp
    >>> with optcp.load("single-failure").start(seed=7) as run:
    ...     run.advance("3 s")
    ...     fork = run.fork()
    ...     fork.change("failures.0.at", "3 s")
    ...     early, late = fork.finish(), run.finish()
    >>> early.failed[0]["at_ps"], late.failed[0]["at_ps"]
    (3000000000000, 4000000000000)
    """

    def __init__(self, world: Scenario, core: _core.LiveRun) -> None:
        self._world = arguments.one_of(world, Scenario, "world", "a scenario")
        super().__init__(
            arguments.one_of(core, _core.LiveRun, "core", "a run of optcp._core; Scenario.start() makes one")
        )

    @property
    def scenario(self) -> Scenario:
        """Scenario of the run, with all changes so far."""
        return self._world

    def advance(self, until: Instant) -> None:
        """Simulate everything before a time, or before the end of the run.

        Other Python threads continue meanwhile. Ctrl-C ends the run.

        Parameters
        ----------
        until
            Time such as "3 s", or a number of seconds.

        Raises
        ------
        InputError
            If the time is invalid or before :attr:`now`.
        """
        self._core.advance(self._later(until))

    def advance_until(
        self,
        time: Instant | None = None,
        *,
        completed: str | None = None,
        dropped: int | None = None,
        rto: int | None = None,
        queue: tuple[str, int] | None = None,
    ) -> Stop:
        """Advance to the first event after which one of the conditions holds, or to a time.

        The run is then 1 ps after that event. If a condition holds already, the run does not advance.

        Parameters
        ----------
        time
            Maximum time; by default the end of the run.
        completed
            Flow that has transferred all its data.
        dropped
            Number of packets that are dropped from now on.
        rto
            Number of RTOs that fire from now on, over all flows.
        queue
            Port and number of packets: its queue contains at least so many, including the packet in transmission.

        Raises
        ------
        InputError
            If an argument is invalid.

        Examples
        --------
        >>> import optcp
        >>> run = optcp.load("single-failure").start(seed=7)
        >>> run.advance_until(dropped=1)
        Stop(condition='dropped', time_ps=535109297524)
        """
        until_ps = self._core.stop_ps if time is None else self._later(time)
        found = self._core.advance_until(
            until_ps,
            completed=None if completed is None else self._flow(completed),
            dropped=None if dropped is None else arguments.whole(dropped, "dropped", 1, MOST_COUNT),
            rto=None if rto is None else arguments.whole(rto, "rto", 1, MOST_COUNT),
            queue=None if queue is None else self._queue(queue),
        )
        return Stop("time", self.now_ps) if found is None else Stop(*found)

    def follow(self, policy: Policy, until: Instant | None = None, *, detection: Instant = "10 ms") -> None:
        """Advance to a time, and call a policy at each detection of a failure or repair.

        Parameters
        ----------
        policy
            Object with the methods ``on_failure(run, ports)`` and ``on_repair(run, ports)``. They may change the run.
        until
            Time; by default the end of the run.
        detection
            Time from a failure or repair to its detection. A failure that is shorter is not reported.

        Raises
        ------
        InputError
            If an argument is invalid.
        """
        for name in ("on_failure", "on_repair"):
            method: Any = getattr(policy, name, None)
            arguments.function(method, f"policy.{name}")
        until_ps = self._core.stop_ps if until is None else self._later(until)
        detection_ps, reported_ps = picoseconds(detection), self.now_ps
        # Each call may add failures.
        while later := [
            one for one in reports(self._core.failed(), detection_ps) if reported_ps < one.at_ps < until_ps
        ]:
            reported_ps = later[0].at_ps
            self._core.advance(reported_ps)
            for report in (one for one in later if one.at_ps == reported_ps):
                (policy.on_repair if report.is_repair else policy.on_failure)(self, report.ports)
        self._core.advance(until_ps)

    def fork(self) -> LiveRun:
        """Return an independent run that continues from the same time."""
        fork = copy.copy(self)
        fork._core = self._core.fork()
        return fork

    def change(self, key: str | Mapping[str, Any], value: object = None) -> None:
        """Change one or several values of the scenario from now on.

        The run continues as a run of the changed scenario, which :attr:`scenario` returns. A new rate, delay or queue
        limit of a link becomes a scheduled change, and the past keeps the old value. The first such change of a link
        simulates the past again.

        Parameters
        ----------
        key
            Key path such as ``links.0.rate``, or mapping of key paths to values.
        value
            Value as for :meth:`Scenario.set`.

        Raises
        ------
        InputError
            If the change would affect the past. The run is unchanged.
        ScenarioError
            If the key does not exist, or the changed scenario is invalid. The run is unchanged.
        """
        world = self._world.set(key, value)
        shared_ps = self._core.change(world.core)
        if shared_ps is None:
            self._take(world)
            return
        changes = changed_links(self._world.resolved, world.resolved)
        if not changes:
            raise self._refused(shared_ps)
        self._schedule(changes)

    def schedule(self, link: str | Sequence[str], **values: object) -> None:
        """Change a link or virtual output queue from now on.

        Parameters
        ----------
        link
            Name, or the two nodes.
        values
            Keys of an entry of ``changes`` in ``[[schedules]]``: ``rate``, ``delay``, ``queue``, ``served``,
            ``transmitter``, ``state``, ``ece`` and ``direction``.

        Raises
        ------
        ScenarioError
            If there is no such link, or a value is invalid. The run is unchanged.
        """
        self._schedule([{"link": link_of(link), **values}])

    def fail(self, *link: str) -> None:
        """Let a link fail now: ``run.fail("A", "B")``, or by its name.

        Raises
        ------
        ScenarioError
            If there is no such link. The run is unchanged.
        """
        self.schedule(link, state="down")

    def repair(self, *link: str) -> None:
        """Repair a link now that has failed.

        Raises
        ------
        ScenarioError
            If there is no such link. The run is unchanged.
        """
        self.schedule(link, state="up")

    def command(self, protection: str | int, command: str) -> None:
        """Give a command of the operator to a protection now.

        Parameters
        ----------
        protection
            Protected group of flows, or number of the entry in ``[[protection]]``, from zero.
        command
            "forced-switch", "manual-switch", "lockout" or "clear".

        Raises
        ------
        InputError
            If there is no such protection.
        ScenarioError
            If the command is unknown. The run is unchanged.
        """
        entries = tomllib.loads(self._world.to_toml()).get("protection", [])
        chosen = protections(entries, protection)
        given = {"at": exact(self.now_ps), "command": command}
        changed = [
            {**entry, "commands": [*entry.get("commands", []), given]} if number in chosen else entry
            for number, entry in enumerate(entries)
        ]
        self._continue_as(self._world.set("protection", changed))

    def forward(self, node: str, to: str, next_node: str) -> None:
        """Change a forwarding entry now, as the controller of a network with ``[forwarding]`` does.

        Parameters
        ----------
        node
            Node with the entry.
        to
            Destination.
        next_node
            Next node, "A > B" for a fixed sequence of nodes, or "none", as in ``[forwarding]``.

        Raises
        ------
        InputError
            If the scenario has no entries in ``[forwarding]``. Under ``[routing]``, only routers change routes.
        ScenarioError
            If a node is unknown. The run is unchanged.
        """
        entries = tomllib.loads(self._world.to_toml()).get("forwarding", {}).get("entries")
        if entries is None:
            raise InputError("the scenario has no entries in [forwarding]")
        entry = {"at": exact(self.now_ps), "node": node, "to": to, "next": next_node}
        self._continue_as(self._world.set("forwarding.entries", [*entries, entry]))

    def add_flow(self, **values: object) -> None:
        """Add TCP flows that start now. The past is simulated again.

        Parameters
        ----------
        values
            Keys of an entry of ``[[flows]]``, with a new ``group``.

        Raises
        ------
        InputError
            If the flows would change the numbers of others, as before ``[[traffic]]``. The run is unchanged.
        ScenarioError
            If a value is invalid. The run is unchanged.
        """
        self._continue_as(self._appended("flows", {"start": exact(self.now_ps), **values}))

    def set_cwnd(self, flow: str, cwnd_bytes: int) -> None:
        """Set cwnd and ssthresh of a TCP flow now.

        The congestion control continues from there: with ``reno``, in congestion avoidance. A larger window is used at
        the next ACK, RTO or write. A change that simulates the past again repeats the windows.

        Parameters
        ----------
        flow
            Name of the flow.
        cwnd_bytes
            Window in bytes; a smaller value than one segment sets one segment.

        Raises
        ------
        InputError
            If there is no such TCP flow, or the window is no whole number from 1 to 2^32.
        """
        self._core.set_cwnd(self._flow(flow), arguments.whole(cwnd_bytes, "cwnd_bytes", 1, MOST_COUNT))

    def finish(self) -> FreshRun:
        """Simulate the rest and return the result. The run ends.

        The result equals ``Scenario.run`` of :attr:`scenario`, unless :meth:`set_cwnd` was called.
        """
        return FreshRun(self._world, self._core.finish())

    def close(self) -> None:
        """End the run without a result. Closing a run that has ended has no effect."""
        self._core.close()

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _later(self, until: Instant) -> int:
        until_ps, now_ps = picoseconds(until), self.now_ps
        if until_ps < now_ps:
            raise InputError(
                f"cannot advance to {exact(until_ps)}: the run is at {exact(now_ps)}; "
                "fork a run before the time to which you return"
            )
        return until_ps

    def _queue(self, queue: tuple[str, int]) -> tuple[int, int]:
        both = arguments.several(queue, "queue", "a port and a number of packets")
        if len(both) != 2:
            raise arguments.refused(queue, "queue", "a port and a number of packets")
        return self._port(both[0]), arguments.whole(both[1], "queue", 1, MOST_COUNT)

    def _appended(self, section: str, entry: Mapping[str, object]) -> Scenario:
        written = tomllib.loads(self._world.to_toml()).get(section, [])
        return self._world.set(section, [*written, dict(entry)])

    def _schedule(self, changes: Sequence[Mapping[str, object]]) -> None:
        at = exact(self.now_ps)
        self._continue_as(self._appended("schedules", {"changes": [{"at": at, **change} for change in changes]}))

    def _continue_as(self, world: Scenario) -> None:
        shared_ps = self._core.change(world.core)
        if shared_ps is not None:
            raise self._refused(shared_ps)
        self._take(world)

    def _take(self, world: Scenario) -> None:
        self._world = world
        self._name()

    def _refused(self, shared_ps: int) -> InputError:
        since = f"from {exact(shared_ps)} on" if shared_ps else "from the start"
        return InputError(
            f"the change would affect the run {since}, and the run is at {exact(self.now_ps)}; "
            "rates, delays and queue limits of links can change now, and failures, flows and schedules that come later"
        )
