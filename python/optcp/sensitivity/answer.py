"""What an exhibit says at one setting: its rows as responses, and its claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from optcp.papers.base import Evaluation
    from optcp.papers.model import Holds, Row


@dataclass(frozen=True)
class Answer:
    """An exhibit at one setting.

    Attributes
    ----------
    rows
        By the name of the response: key and metric, without what the study varies.
    claims
        Whether each statement of the paper holds, by its text.
    """

    rows: dict[str, Row]
    claims: dict[str, Holds]

    @classmethod
    def of(cls, evaluation: Evaluation, varied: Collection[str]) -> Answer:
        """Take an evaluation over; a row is told from the others by what is not varied."""
        rows = {response(row, varied): row for row in evaluation.rows}
        if len(rows) < len(evaluation.rows):
            raise ValueError("two rows of one response")
        return cls(rows, {claim.text: claim.holds for claim in evaluation.claims})


def response(row: Row, varied: Collection[str]) -> str:
    """Name of the response that a row is a value of."""
    return " ".join([*(f"{name}={value}" for name, value in row.key.items() if name not in varied), row.metric])
