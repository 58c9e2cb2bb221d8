"""One finished run, stored or fresh."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.common import arguments
from optcp.data.labelled import html_table, optional, text_table
from optcp.data.table import NoColumn, Table
from optcp.errors import Damaged, InputError, nearest
from optcp.scenarios.branch import Branch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes

    from optcp import _core
    from optcp.scenarios.scenario import Scenario

DROPS = "drops"
"""The metric with one row per reason and run."""
RARE = ("copied", "duplicated", "copies_discarded", "marked")
"""Counts that are omitted if zero."""


class Run:
    """A finished run: its observations by name, and its counts, drops and events.

    ``Scenario.run`` returns one, and ``StudyResult.run`` reads one from a study.

    Parameters
    ----------
    branch
        The scenario that was run, and its values on the axes of a study.
    seed
        The seed that it was run with.
    read
        Function that returns a table of the run by name. Each table is read once.
    folder
        Directory of the study; None for a fresh run.

    Examples
    --------
    >>> import optcp
    >>> run = optcp.load("single-failure").run(seed=7)
    >>> run.names
    ('goodput', 'load', 'queue', 'drops', 'tcp', 'packets')
    >>> run.drops["link-down"], run["drops"].where(reason="link-down")["time_ps"].size
    (23, 23)
    """

    def __init__(self, branch: Branch, seed: int, read: Callable[[str], Table], folder: Path | None = None) -> None:
        self.seed = seed
        """The seed that it was run with."""
        self.folder = folder
        """Directory of the study; None for a fresh run."""
        self._branch = branch
        self._table = functools.cache(read)

    def __getitem__(self, name: str) -> Table:
        """Return the observation with this name in ``[[observe]]``.

        Raises
        ------
        InputError
            If it does not exist; the message names the nearest.
        optcp.errors.Damaged
            If its file was changed.
        """
        if arguments.text(name, "observation") not in self.names:
            raise InputError(f"the run has no observation {name!r}; {nearest(name, self.names)}")
        return self._table(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return str(self.scenario["title"])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observations, in the order of the scenario."""
        return self._branch.observe

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario with every default filled in."""
        return self._branch.resolved

    @property
    def cell(self) -> dict[str, str]:
        """Axis (a key path of the scenario) to the value as written; empty for a fresh run."""
        return self._branch.key

    @property
    def cell_id(self) -> str:
        """Name of its cell in file names."""
        return self._branch.id

    @property
    def id(self) -> str:
        """Name of the run in file names."""
        return f"{self.cell_id}-seed-{self.seed}"

    @functools.cached_property
    def _facts(self) -> dict[str, Any]:
        table = self._table("runs")
        return {name: table[name][0] for name in table.columns}

    @property
    def scenario_sha256(self) -> str:
        """Digest of the scenario."""
        return str(self._facts["scenario_sha256"])

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values; equal runs have equal digests on every machine."""
        return str(self._facts["metrics_sha256"])

    @property
    def records_sha256(self) -> str | None:
        """Digest of all simulated events; None unless requested."""
        return str(self._facts["records_sha256"]) or None

    @property
    def counts(self) -> dict[str, int]:
        """Counts of packets (data and ACKs): ``sent``, ``delivered``, ``dropped``, ``in_flight``.

        Also ``packet_hops`` and ``events``, and, if not zero, ``copied``, ``duplicated``, ``copies_discarded`` and
        ``marked``.
        """
        counts = {name: int(value) for name, value in self._facts.items() if not name.endswith("sha256")}
        return {name: count for name, count in counts.items() if count or name not in RARE}

    @property
    def drops(self) -> dict[str, int]:
        """Number of dropped packets by reason, without zeros."""
        table = self._table("scalars").where(metric=DROPS)
        return {reason: int(count) for reason, count in zip(table["of"], table["value"], strict=True) if count}

    @property
    def switches(self) -> list[dict[str, Any]]:
        """Switchovers in order of time.

        Each entry has ``at_ps``, ``protection`` (its place in the file), ``node``, ``packets`` ("data" or "acks") and
        ``to`` ("backup" or "working").
        """
        return _rows(self._table("switches"))

    @property
    def buffers(self) -> list[dict[str, Any]]:
        """Resequencing buffers of ``1+1``.

        Each entry has ``protection`` (its place in the file), ``node``, ``packets`` ("data" or "acks"), and the maximum
        use: ``most_packets`` and ``most_bytes``.
        """
        return _rows(self._table("buffers"))

    @property
    def slowest(self) -> Table:
        """The at most ten slowest flows of finite size, which need no observation.

        First those whose sender gave up, then other unfinished ones, then the others by completion time, longest first.
        Columns: ``time_ps`` (end), ``start_ps``, ``flow``, ``group``, ``from``, ``to``, ``bytes``, ``finished``,
        ``aborted``, ``retransmissions`` and ``rtos``. An unfinished flow ends when its
        sender gives up, or with the run. Runs stored by earlier versions have no rows.
        """
        return self._table("slowest")

    @property
    def arrived(self) -> dict[str, list[int]]:
        """Routes (places in the scenario) of flows that arrived at random, by group, in the order of the flows."""
        table = self._table("arrived")
        groups = table.distinct("group") if len(table) else ()
        return {group: table.where(group=group)["route"].tolist() for group in groups}

    @property
    def cuts(self) -> list[dict[str, Any]]:
        """Periods in which a flow has no working path, from tables and ports alone; by flow, data first, in time order.

        Each entry has ``flow``, ``group``, ``ack`` (whether it is the path of ACKs), ``from_ps`` and ``until_ps`` (the
        end of the run where it lasted).
        """
        return _rows(self._table("cuts"))

    @property
    def routing(self) -> dict[str, Any] | None:
        """Reactions of routing; None without ``[routing]``.

        ``announcements`` counts the updates that routers originated. ``on_failure``, ``on_repair`` and
        ``on_convergence`` count the rewritten entries of forwarding tables. ``steps`` has the same per router in order
        of time, each with ``at_ps``, ``router``, ``cause`` ("failure", "repair" or "convergence") and ``entries``.
        """
        announced = self._table("scalars").where(metric="announcements")
        if not len(announced):
            return None
        steps = _rows(self._table("reroutes"))
        causes = ("failure", "repair", "convergence")
        entries = {f"on_{cause}": sum(step["entries"] for step in steps if step["cause"] == cause) for cause in causes}
        return {"announcements": int(announced["value"][0]), **entries, "steps": steps}

    @contextlib.contextmanager
    def trusted(self) -> Iterator[None]:
        """Context in which missing or wrong parts of a stored scenario raise ``Damaged``.

        Raises
        ------
        Damaged
            If a part is missing or has another type.
        """
        try:
            yield
        except NoColumn as error:
            raise self._damaged(error) from error
        except InputError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> Damaged:
        path = (self.folder or Path()) / "cells" / f"{self.cell_id}.json"
        return Damaged(path, f"unexpected content ({error!r})")

    def plot(
        self,
        kind: str,
        *,
        flow: str | int | Sequence[str] = (),
        port: str | Sequence[str] = (),
        start: str | float | None = None,
        end: str | float | None = None,
        observation: str | None = None,
    ) -> list[Axes]:
        """Plot an observation, as ``optcp trace``, and return the panels from top to bottom.

        Parameters
        ----------
        kind
            "tcp" (windows), "rtt" (windows and RTTs over satellites, stored runs only), "sequence" (segments and ACKs),
            "queue", "load", "goodput", "completions" or "drops".
        flow, port
            Flows and ports to plot. A group selects its flows, and a number the flow at this position.
        start, end
            Ends of the time axis, such as "4.9 s", or a number of seconds.
        observation
            Name of the observation, if several have this kind.

        Raises
        ------
        InputError
            If the run lacks something that is requested.
        """
        optional("matplotlib")
        from optcp.plots.trace.draw import plot

        return plot(self, kind, flow=flow, port=port, start=start, end=end, observation=observation)

    def _shown(self) -> tuple[str, list[str], list[list[str]]]:
        counts = [[name, str(count)] for name, count in self.counts.items()]
        drops = [[f"dropped, {reason}", str(count)] for reason, count in self.drops.items()]
        return f"{self.title}, seed {self.seed}: {', '.join(self.names)}", ["count", "packets"], counts + drops

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())


class FreshRun(Run):
    """Run that is not stored.

    Parameters
    ----------
    world
        The scenario that was run.
    core
        The run of the simulator.
    """

    def __init__(self, world: Scenario, core: _core.Run) -> None:
        super().__init__(Branch({}, world.core), core.seed, lambda name: Table.read(*core.table(name)))
        self.world = world
        """The scenario that was run."""
        self.core = core
        """The run of the simulator."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Ports that failed, in order of time: ``port``, ``at_ps``, ``repair_ps`` (None is never)."""
        return self.core.failed

    @property
    def waiting(self) -> str:
        """Number of logical processes at the end of the run, or the reason why one event queue was used.

        Several threads only help with logical processes.
        """
        return self.core.waiting

    def animation(self, *, start_s: float | None = None, end_s: float | None = None) -> str:
        """Return an HTML animation of the run, as ``optcp animate``.

        Parameters
        ----------
        start_s, end_s
            Part that is drawn packet by packet, in s; by default around the first failure.

        Raises
        ------
        InputError
            If the part does not exist, or the network has too many nodes.
        """
        from optcp.web.animation import animate

        return animate(self.world, self.seed, start_s=start_s, end_s=end_s)


def _rows(table: Table) -> list[dict[str, Any]]:
    """Return each row as a dictionary, with the time of an event as ``at_ps``."""
    return [{"at_ps" if name == "time_ps" else name: value for name, value in row.items()} for row in table]
