"""Number of runs of an exhibit, and options of these runs."""

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
    """Number of runs: the number of the paper, a multiple of it, a quick selection, or ``--seeds``.

    Attributes
    ----------
    name
        "default", "quick", "seeds=N", "quick, seeds=N" or "until-decided, most=N".
    seeds
        Value of ``--seeds``, or None.
    times
        Multiple of the number of the paper.
    """

    name: str
    seeds: int | None = None
    times: int = 1

    @classmethod
    def asked(cls, quick: bool, seeds: int | None) -> Size:
        """Create the size for ``--quick`` and ``--seeds``."""
        words = [*(["quick"] if quick else []), *([f"seeds={seeds}"] if seeds else [])]
        return cls(", ".join(words) or "default", seeds)

    @property
    def is_quick(self) -> bool:
        """Whether fewer and shorter runs suffice."""
        return self.name.startswith("quick")

    def of(self, default: int, quick: int) -> int:
        """Number of seeds, from the number of the paper (``default``) and the number with ``--quick``."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.is_quick else self.times * default


@dataclass(frozen=True)
class Options:
    """Options of runs that do not depend on the simulated scenario.

    Attributes
    ----------
    digest, fork
        As for :class:`optcp.study.Study`.
    size
        Number of runs.
    check
        Whether to resolve and check all scenarios of a grid when it is created, or each on first use.
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
        """Create a grid of all combinations of axis values (:meth:`optcp.study.grid.Grid.grid`), or of listed cells."""
        made: Any = {"title": title, "digest": self.digest, "fork": self.fork, "check": self.check}
        if isinstance(axes, Mapping):
            return Grid.grid(scenario, overrides, axes, **made)
        return Grid.of_cells(scenario, axes, overrides, **made)
