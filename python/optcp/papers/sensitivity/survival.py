"""Support of a paper's statements over the space of its unstated parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.papers.model import Holds
    from optcp.stats import Interval


@dataclass(frozen=True)
class StatementSupport:
    """Verdicts on one statement at the points of a uniform sample of the space.

    Attributes
    ----------
    text
        The statement.
    holds, fails, undecided
        Number of points at which the statement holds, significantly fails, or is undecided with these seeds.
    """

    text: str
    holds: int
    fails: int
    undecided: int

    @property
    def share(self) -> Interval:
        """Share of the space in which the statement is known to hold, 0 to 1."""
        return stats.share(self.holds, self.holds + self.fails + self.undecided)

    @property
    def word(self) -> str:
        """Summary in a few words, such as "everywhere", "nowhere", "in places" or "undecided"."""
        if self.holds and not self.fails:
            return "everywhere" if not self.undecided else "nowhere refuted"
        if self.fails and not self.holds:
            return "nowhere" if not self.undecided else "nowhere shown"
        return "in places" if self.holds else "undecided"


def survival(text: str, judged: Sequence[Holds]) -> StatementSupport:
    """Count the verdicts on one statement."""
    holds, fails = sum(one is True for one in judged), sum(one is False for one in judged)
    return StatementSupport(text, holds, fails, len(judged) - holds - fails)
