"""One finished run."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from optcp import _core
from optcp.common import arguments
from optcp.data.labelled import html_table, optional, text_table
from optcp.data.table import Table
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from optcp.scenarios.scenario import Scenario


class OneRun(Protocol):
    """A finished run, stored or fresh: what pictures and captures read of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its observations, in the order of the scenario."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The world with every default filled in."""

    @property
    def cell(self) -> dict[str, str]:
        """Axis (a key path of the scenario) to the value as written; empty where nothing varies."""

    @property
    def seed(self) -> int:
        """The seed that it was run with."""

    @property
    def folder(self) -> Path | None:
        """Where its study is stored; None of a fresh run."""

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time; as in ``optcp._core.Run``."""

    @property
    def arrived(self) -> dict[str, list[int]]:
        """By group, the flows that came at random, in the order of their numbers: places of their routes."""

    @property
    def cuts(self) -> list[dict[str, Any]]:
        """When the ways of flows led nowhere, as tables and ports were; as in ``optcp._core.Run``."""

    def __getitem__(self, name: str) -> Table:
        """An observation by the name that it has in ``[[observe]]``."""


class Observing(abc.ABC):
    """What fresh and stored runs do with their observations: give them by name, and draw them."""

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its observations, in the order of the scenario."""

    @abc.abstractmethod
    def _table(self, name: str) -> Table:
        """One of them."""

    def __getitem__(self, name: str) -> Table:
        """An observation by the name that it has in ``[[observe]]``.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        optcp.errors.Damaged
            If it is read from a file that is not as it was written.
        """
        if arguments.text(name, "observation") not in self.names:
            raise InputError(f"the run has no observation {name!r}; {nearest(name, self.names)}")
        return self._table(name)

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
        """Draw what was observed, as ``optcp trace`` does; returns the panels from the top.

        Parameters
        ----------
        kind
            "tcp" (windows), "rtt" (and round trips over satellites, of a stored run), "sequence" (segments and ACKs),
            "queue", "load", "goodput" or "drops".
        flow, port
            Only these; a group stands for its flows, and a number for the place of a flow.
        start, end
            Ends of the time axis: "4.9 s", or a number of seconds.
        observation
            Which, where several are of this kind.

        Raises
        ------
        InputError
            If something was asked for that is not there.
        """
        optional("matplotlib")
        from optcp.plots.trace.draw import plot

        return plot(cast("OneRun", self), kind, flow=flow, port=port, start=start, end=end, observation=observation)


@dataclass(frozen=True, repr=False)
class Run(Observing):
    """What one run of a scenario found.

    Parameters
    ----------
    world
        What was run.
    core
        The run.

    Examples
    --------
    >>> import optcp
    >>> run = optcp.load("single-failure").run(seed=7)
    >>> run.names
    ('goodput', 'load', 'queue', 'drops', 'tcp', 'packets')
    >>> run.drops["link-down"], run["drops"].where(reason="link-down")["time_ps"].size
    (23, 23)
    """

    world: Scenario
    """What was run."""
    core: _core.Run
    """The run."""

    def _table(self, name: str) -> Table:
        return Table.read(*_core.read_parquet(self.core.to_parquet(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def title(self) -> str:
        """What the scenario says that it is about."""
        return self.world.title

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its observations, in the order of the scenario."""
        return self.world.observe

    @property
    def scenario(self) -> dict[str, Any]:
        """The world with every default filled in."""
        return self.world.resolved

    @property
    def cell(self) -> dict[str, str]:
        """Empty: nothing varies. Runs of a study have here the values of its axes."""
        return {}

    @property
    def folder(self) -> None:
        """None: it is not stored."""
        return

    @property
    def seed(self) -> int:
        """The seed that it was run with."""
        return self.core.seed

    @property
    def counts(self) -> dict[str, int]:
        """``sent``, ``delivered``, ``dropped``, ``in_flight`` (packets, data and ACKs), ``packet_hops``, ``events``.

        Where there are any, also ``copied``, ``duplicated``, ``copies_discarded`` and ``marked``.
        """
        return self.core.counts

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""
        return self.core.drops

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time."""
        return self.core.switches

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Which ports failed, in order of time: ``port``, ``at_ps``, ``repair_ps`` (None is never)."""
        return self.core.failed

    @property
    def routing(self) -> dict[str, Any] | None:
        """What routing did; None without ``[routing]``. As in ``optcp._core.Run``."""
        return self.core.routing

    @property
    def arrived(self) -> dict[str, list[int]]:
        """By group, the flows that came at random, in the order of their numbers: places of their routes."""
        return self.core.arrived

    @property
    def cuts(self) -> list[dict[str, Any]]:
        """When the ways of flows led nowhere, as tables and ports were.

        Each entry has ``flow``, ``group``, ``ack``, ``from_ps`` and ``until_ps``.
        """
        return self.core.cuts

    @property
    def waiting(self) -> str:
        """How packets waited for their turn at the end: in so many logical processes, or in one calendar and why.

        Several threads only help where there are logical processes.
        """
        return self.core.waiting

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values: equal runs have equal ones, on every machine."""
        return self.core.metrics_sha256

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""
        return self.core.records_sha256

    def animation(self, *, start_s: float | None = None, end_s: float | None = None) -> str:
        """Show it as one HTML page, as ``optcp animate`` does: text of a file that any browser opens.

        Parameters
        ----------
        start_s, end_s
            Which part of it is drawn packet by packet, in seconds; by default the one around the first failure.

        Raises
        ------
        InputError
            If there is no such part, or the network has too many nodes to be drawn.
        """
        from optcp.web.animation import animate

        return animate(self.world, self.seed, start_s=start_s, end_s=end_s)

    def _shown(self) -> tuple[str, list[str], list[list[str]]]:
        counts = [[name, str(count)] for name, count in self.counts.items()]
        drops = [[f"dropped, {reason}", str(count)] for reason, count in self.drops.items()]
        return f"{self.title}, seed {self.seed}: {', '.join(self.names)}", ["count", "packets"], counts + drops

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())
