"""One finished run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core
from optcp.errors import InputError, nearest
from optcp.labelled import html_table, text_table
from optcp.table import PICOSECONDS_A_SECOND, Table

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, repr=False)
class Run:
    """What one run of a scenario found.

    Parameters
    ----------
    title
        Of the scenario.
    names
        Of its observations, in the order of the scenario.
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

    title: str
    names: tuple[str, ...]
    core: _core.Run

    def __getitem__(self, name: str) -> Table:
        """An observation by the name that it has in ``[[observe]]``.

        Raises
        ------
        InputError
            If there is none of that name; the message names the nearest.
        """
        if name not in self.names:
            raise InputError(f"the run has no observation {name!r}; {nearest(name, self.names)}")
        metadata, columns = _core.read_parquet(self.core.to_parquet(name))
        interval_ps = metadata.get("optcp.interval_ps")
        return Table(columns, int(interval_ps) / PICOSECONDS_A_SECOND if interval_ps else None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def seed(self) -> int:
        """The seed that it was run with."""
        return self.core.seed

    @property
    def counts(self) -> dict[str, int]:
        """``sent``, ``delivered``, ``dropped``, ``in_flight`` (packets, data and ACKs), ``packet_hops``, ``events``."""
        return self.core.counts

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""
        return self.core.drops

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values: equal runs have equal ones, on every machine."""
        return self.core.metrics_sha256

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""
        return self.core.records_sha256

    def _shown(self) -> tuple[str, list[str], list[list[str]]]:
        counts = [[name, str(count)] for name, count in self.counts.items()]
        drops = [[f"dropped, {reason}", str(count)] for reason, count in self.drops.items()]
        return f"{self.title}, seed {self.seed}: {', '.join(self.names)}", ["count", "packets"], counts + drops

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())
