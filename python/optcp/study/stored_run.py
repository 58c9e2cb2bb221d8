"""One finished run: what any has, and one that is read from a study's directory."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from optcp.data.table import PICOSECONDS_A_SECOND, NoColumn, Table
from optcp.errors import Damaged, InputError
from optcp.scenarios.run import Observing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from optcp.study.grid import Branch
    from optcp.study.store import Columns, Part, Store

DROPS = "drops"
"""The metric that has a row for each reason in each run."""


class RunData(Protocol):
    """A finished run, stored or fresh; attributes are those of ``optcp._core.Run``."""

    @property
    def seed(self) -> int:
        """The seed it was run with."""

    @property
    def scenario_sha256(self) -> str:
        """The scenario it was run from."""

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""

    @property
    def counts(self) -> dict[str, int]:
        """Packets ``sent``, ``delivered``, ``dropped``, ``in_flight``; ``packet_hops``, ``events``."""

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time."""

    @property
    def routing(self) -> dict[str, Any] | None:
        """What routing did; None without ``[routing]``."""

    @property
    def series(self) -> dict[str, dict[str, Any]]:
        """What was observed."""


@dataclass(frozen=True)
class StoredRun(Observing):
    """One stored run.

    It has what :class:`RunData` and :class:`optcp.run.OneRun` say; ``run["tcp"]`` is an observation.
    """

    seed: int
    _branch: Branch = field(repr=False)
    _part: Part = field(repr=False)
    _store: Store = field(repr=False)

    @property
    def cell_id(self) -> str:
        """What its cell is called in the names of files."""
        return self._branch.id

    @property
    def id(self) -> str:
        """What it is called in the names of files."""
        return f"{self.cell_id}-seed-{self.seed}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its observations, in the order of the scenario."""
        return self._branch.observe

    @property
    def scenario(self) -> dict[str, Any]:
        """The world with every default filled in."""
        return self._branch.resolved

    @property
    def cell(self) -> dict[str, str]:
        """Axis (a key path of the scenario) to the value as written."""
        return self._branch.key

    @property
    def folder(self) -> Path:
        """The directory of its study."""
        return self._store.root

    @contextlib.contextmanager
    def trusted(self) -> Iterator[None]:
        """Read what only some commands need of the stored world, without a look at it before.

        Raises
        ------
        Damaged
            If it is not there, or something else is in its place.
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
        path = self._store.root / "cells" / f"{self._branch.id}.json"
        return Damaged(path, f"not what is read of a run ({error!r})")

    def _table(self, name: str) -> Table:
        return self._store.run_table(name, self._part, self._branch.id, self.seed)

    @functools.cached_property
    def _run(self) -> dict[str, Any]:
        table = self._table("runs")
        return {name: table[name][0] for name in table.columns}

    @property
    def scenario_sha256(self) -> str:
        """The scenario it was run from."""
        return str(self._run["scenario_sha256"])

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""
        return str(self._run["metrics_sha256"])

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless it was asked for."""
        return str(self._run["records_sha256"]) or None

    @property
    def counts(self) -> dict[str, int]:
        """Packets ``sent``, ``delivered``, ``dropped``, ``in_flight``; ``packet_hops``, ``events``."""
        found = {name: int(value) for name, value in self._run.items() if not name.endswith("sha256")}
        # Few runs have copies or marks.
        rare = ("copied", "duplicated", "copies_discarded", "marked")
        return {name: count for name, count in found.items() if count or name not in rare}

    @property
    def drops(self) -> dict[str, int]:
        """Dropped packets by reason, those above zero only."""
        found = self._table("scalars").where(metric=DROPS)
        return {reason: int(count) for reason, count in zip(found["of"], found["value"], strict=True) if count}

    @property
    def switches(self) -> list[dict[str, Any]]:
        """What protection switched, in order of time."""
        return _rows(self._table("switches"))

    @property
    def arrived(self) -> dict[str, list[int]]:
        """By group, the flows that came at random, in the order of their numbers: places of their routes."""
        table = self._table("arrived")
        groups = table.distinct("group") if len(table) else ()
        return {group: table.where(group=group)["route"].tolist() for group in groups}

    @property
    def cuts(self) -> list[dict[str, Any]]:
        """When the ways of flows led nowhere, as tables and ports were.

        Each entry has ``flow``, ``group``, ``ack``, ``from_ps`` and ``until_ps``.
        """
        return _rows(self._table("cuts"))

    @property
    def routing(self) -> dict[str, Any] | None:
        """What routing did; None without ``[routing]``."""
        announced = self._table("scalars").where(metric="announcements")
        if not len(announced):
            return None
        steps = _rows(self._table("reroutes"))
        causes = ("failure", "repair", "convergence")
        entries = {f"on_{cause}": sum(step["entries"] for step in steps if step["cause"] == cause) for cause in causes}
        return {"announcements": int(announced["value"][0]), **entries, "steps": steps}

    @functools.cached_property
    def series(self) -> dict[str, dict[str, Any]]:
        """What was observed, in the form of ``optcp._core.Run.series``."""
        return {name: _series(*self._store.run_columns(name, self._part, self._branch.id, self.seed))
                for name in self.names}  # fmt: skip


def _rows(table: Table) -> list[dict[str, Any]]:
    """Each row by the names that ``optcp._core.Run`` gives them."""
    names = ["at_ps" if name == "time_ps" else name for name in table.columns]
    values = (table[name].tolist() for name in table.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _series(metadata: dict[str, str], columns: Columns) -> dict[str, Any]:
    """An observation of one run with its rows as an axis, and indices in place of texts."""
    found: dict[str, Any] = {"kind": metadata["optcp.kind"]}
    values = dict(columns)
    if "optcp.interval_ps" in metadata:
        found["interval_s"] = int(metadata["optcp.interval_ps"]) / PICOSECONDS_A_SECOND
        found["after_s"] = int(metadata["optcp.after_ps"]) / PICOSECONDS_A_SECOND
        del values["time_ps"]
        row = next(iter(values))
        codes, names = values.pop(row)
        # Intervals of one name stand together.
        shown = np.concatenate([codes[:1], codes[1:][codes[1:] != codes[:-1]]])
        found[f"{row}s"] = [names[code] for code in shown]
        rows = len(shown)
        return found | {name: np.asarray(array).reshape(rows, -1) for name, array in values.items()}
    for name, array in values.items():
        if isinstance(array, tuple):
            found[f"{name}s"], found[name] = [text for text in array[1] if text], array[0]
        else:
            found[name] = array
    return found
