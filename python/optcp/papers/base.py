"""What an exhibit is, and the registry of all of them."""

from __future__ import annotations

import abc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Assumed, Value
    from optcp.papers.kept import LongRun
    from optcp.papers.model import Claim, Row, Series
    from optcp.study import Done
    from optcp.study.grid import Values


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
    """How runs are made and how many are wanted, apart from what they simulate."""

    digest: bool = False
    fork: bool = True
    size: Size = Size("default")

    def grid(
        self, scenario: Path, overrides: Sequence[tuple[str, str]], axes: Mapping[str, Values], title: str
    ) -> Grid:
        """Every combination of the axes' values: :meth:`optcp.study.grid.Grid.grid`."""
        axes_ = list(axes.items())
        return Grid.grid(scenario, overrides, axes_, title=title, digest=self.digest, fork=self.fork)


@dataclass(frozen=True)
class Evaluation:
    """What an exhibit makes of its finished studies."""

    rows: list[Row]
    claims: list[Claim]
    series: list[Series]
    notes: list[str] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    """Of each run that is stored with the project and was read in place of a new one: where its outcome comes from."""


class Exhibit(abc.ABC):
    """One table or figure of a paper: studies, a metric, printed values, and the verdict on them.

    A subclass is made once, without arguments, by :func:`exhibit`.
    """

    id: ClassVar[str]
    """``<paper>/<exhibit>``."""
    title: ClassVar[str]
    paper: ClassVar[str]
    """Who wrote it and what it is called."""
    where: ClassVar[str]
    """The place in the paper."""
    paper_runs: ClassVar[int | None]
    """The paper's own number of random cases; None where it has no such experiment, or does not state it."""
    assumed: ClassVar[tuple[Assumed, ...]]

    def changed(self, chosen: Mapping[str, Value]) -> bool:
        """Whether ``--set`` changed the world from the one that the paper's values are compared with."""
        return any(chosen[parameter.name] != parameter.default for parameter in self.assumed)

    @abc.abstractmethod
    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The studies it needs, by a name of their own (an interpretation of an unstated parameter, for example).

        Raises
        ------
        optcp._core.ScenarioError
            If a chosen value makes an impossible world.
        """

    @abc.abstractmethod
    def seeds(self, study: str, size: Size) -> int:
        """How many seeds of a study a size has."""

    @abc.abstractmethod
    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows, claims and series from the finished studies, by the names of :meth:`studies`."""

    def long_runs(self, chosen: Mapping[str, Value], seeds: Sequence[int]) -> list[LongRun]:
        """Runs of hours, whose outcome is stored with the project; ``--paper-scale`` makes those that are missing."""
        del chosen, seeds
        return []

    def contrasts(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> dict[str, NDArray[np.float64]]:
        """The paper's conclusions as differences that are above zero on average if the paper is right.

        Returns
        -------
        dict
            Name, with its unit, to one value a seed. None where no conclusion is a plain difference.
        """
        del chosen, done
        return {}


_registry: dict[str, Exhibit] = {}

E = TypeVar("E", bound=type[Exhibit])


def exhibit(cls: E) -> E:
    """Register an exhibit (class decorator)."""
    if cls.id in _registry:
        raise ValueError(f"two exhibits are called {cls.id}")
    _registry[cls.id] = cls()
    return cls
