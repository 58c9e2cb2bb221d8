"""Branches of a grid: one scenario per parameter combination."""

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
"""Number of cached resolved scenarios; the resolved scenarios of all branches could exceed the memory."""


@dataclass(frozen=True)
class Branch:
    """Scenario of one parameter combination.

    Attributes
    ----------
    key
        Value as written, by axis (key path of the scenario).
    scenario
        Scenario with these values.
    """

    key: dict[str, str]
    scenario: _core.Scenario

    @functools.cached_property
    def id(self) -> str:
        """Name in files: the values, and the first digits of the hash of the scenario without its title."""
        values = ",".join(f"{name.rpartition('.')[2]}={value}" for name, value in self.key.items())
        words = re.sub(r"[^A-Za-z0-9._=,+-]+", "", values)[:60] or "cell"
        return f"{words}-{self.scenario.sha256[:8]}"

    @functools.cached_property
    def observe(self) -> tuple[str, ...]:
        """Names of the observations, in the order of the scenario."""
        return tuple(self.scenario.summary()["observe"])

    @property
    def resolved(self) -> dict[str, Any]:
        """Scenario with all defaults filled in."""
        return _resolved(self.scenario)

    def silences(self, warning: str) -> bool:
        """Whether the scenario file silences a warning."""
        return self.scenario.silences(warning)


@functools.lru_cache(MOST_RESOLVED)
def _resolved(scenario: _core.Scenario) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scenario.resolved())
    return found


class UncheckedBranch(Branch):
    """Branch whose scenario is created on access, because thousands of large scenarios take minutes."""

    def __init__(self, key: dict[str, str], make: Callable[[], _core.Scenario]) -> None:
        for name, value in (("key", key), ("_make", make)):
            object.__setattr__(self, name, value)

    @functools.cached_property
    def scenario(self) -> _core.Scenario:
        """Scenario with these values."""
        made: _core.Scenario = self._make()  # type: ignore[attr-defined]
        return made


class StoredBranch(Branch):
    """Branch of a stored study, of which only the resolved scenario is available; it is read on access."""

    def __init__(
        self, key: dict[str, str], id_: str, observe: tuple[str, ...], read: Callable[[str], dict[str, Any]]
    ) -> None:
        for name, value in (("key", key), ("id", id_), ("observe", observe), ("_read", read)):
            object.__setattr__(self, name, value)

    @property
    def resolved(self) -> dict[str, Any]:
        """Scenario with all defaults filled in."""
        found: dict[str, Any] = self._read(self.id)  # type: ignore[attr-defined]
        return found

    def silences(self, warning: str) -> bool:  # noqa: ARG002 - not in the resolved form
        """Return False, so that stored studies show every warning."""
        return False
