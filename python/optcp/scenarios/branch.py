"""Cells of a grid: each a scenario, with its values on the axes."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp import _core

MOST_RESOLVED = 16
"""Resolved worlds in memory: those of all cells of a large network would fill it."""


@dataclass(frozen=True)
class Branch:
    """One cell of a grid.

    Attributes
    ----------
    key
        Axis (a key path of the scenario) to the value as written.
    scenario
        The world with these values in it.
    """

    key: dict[str, str]
    scenario: _core.Scenario

    @functools.cached_property
    def id(self) -> str:
        """What the cell is called in files: its values, and the beginning of a hash of its world without the title."""
        values = ",".join(f"{name.rpartition('.')[2]}={value}" for name, value in self.key.items())
        words = re.sub(r"[^A-Za-z0-9._=,+-]+", "", values)[:60] or "cell"
        return f"{words}-{self.scenario.sha256[:8]}"

    @functools.cached_property
    def observe(self) -> tuple[str, ...]:
        """Names of the observations, in the order of the scenario."""
        return tuple(self.scenario.summary()["observe"])

    @property
    def resolved(self) -> dict[str, Any]:
        """The world with every default filled in."""
        return _resolved(self.scenario)

    def silences(self, warning: str) -> bool:
        """Whether the scenario file silences a warning."""
        return self.scenario.silences(warning)


@functools.lru_cache(MOST_RESOLVED)
def _resolved(scenario: _core.Scenario) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario.resolved())
    return found


class UncheckedBranch(Branch):
    """A cell whose world is made when it is asked for: thousands of worlds of a large network take minutes."""

    def __init__(self, key: dict[str, str], make: Callable[[], _core.Scenario]) -> None:
        for name, value in (("key", key), ("_make", make)):
            object.__setattr__(self, name, value)

    @functools.cached_property
    def scenario(self) -> _core.Scenario:
        """The world with these values in it."""
        made: _core.Scenario = self._make()  # type: ignore[attr-defined]
        return made


class StoredBranch(Branch):
    """A cell of a study that is read back: its world is known in its resolved form only, which is read when needed."""

    def __init__(
        self, key: dict[str, str], id_: str, observe: tuple[str, ...], read: Callable[[str], dict[str, Any]]
    ) -> None:
        for name, value in (("key", key), ("id", id_), ("observe", observe), ("_read", read)):
            object.__setattr__(self, name, value)

    @property
    def resolved(self) -> dict[str, Any]:
        """The world with every default filled in."""
        found: dict[str, Any] = self._read(self.id)  # type: ignore[attr-defined]
        return found

    def silences(self, warning: str) -> bool:  # noqa: ARG002 - the resolved form does not say
        """Return False: what reads a study back shows every warning."""
        return False
