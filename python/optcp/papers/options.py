"""How many runs an exhibit is made of, and how they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp._core import Scenario
    from optcp.scenarios.scenario import Settings
    from optcp.study.grid import Axes


@dataclass(frozen=True)
class Size:
    """How many runs: the paper's own number, some times as many, a quick selection, or what ``--seeds`` says.

    Attributes
    ----------
    name
        "default", "quick", "seeds=N", "quick, seeds=N" or "until-decided, most=N".
    seeds
        The number of ``--seeds``, or None.
    times
        How many times the paper's own number.
    """

    name: str
    seeds: int | None = None
    times: int = 1

    @classmethod
    def asked(cls, quick: bool, seeds: int | None) -> Size:
        """Make the size that ``--quick`` and ``--seeds`` ask for."""
        words = [*(["quick"] if quick else []), *([f"seeds={seeds}"] if seeds else [])]
        return cls(", ".join(words) or "default", seeds)

    @property
    def is_quick(self) -> bool:
        """Whether fewer and shorter runs will do."""
        return self.name.startswith("quick")

    def of(self, default: int, quick: int) -> int:
        """How many seeds a study has whose paper had ``default`` and of which a quick look takes ``quick``."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.is_quick else self.times * default


@dataclass(frozen=True)
class Options:
    """How runs are made and how many are wanted, apart from what they simulate.

    Attributes
    ----------
    digest, fork
        As of :class:`optcp.study.Study`.
    size
        How many.
    check
        Whether every world of a grid is made at once, as before they run; else when it is asked for.
    """

    digest: bool = False
    fork: bool = True
    size: Size = Size("default")
    check: bool = True

    def grid(
        self,
        scenario: Path | Scenario,
        overrides: Settings,
        axes: Axes | Sequence[Settings],
        title: str,
    ) -> Grid:
        """Every combination of the axes' values (:meth:`optcp.study.grid.Grid.grid`), or the cells of a list."""
        made: Any = {"title": title, "digest": self.digest, "fork": self.fork, "check": self.check}
        if isinstance(axes, Mapping):
            return Grid.grid(scenario, overrides, axes, **made)
        return Grid.of_cells(scenario, axes, overrides, **made)
