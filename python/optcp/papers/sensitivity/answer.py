"""Result of an exhibit at one setting: responses, claims and conclusions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.exhibit import Evaluation
    from optcp.papers.model import Holds, Row
    from optcp.stats import Interval


@dataclass(frozen=True)
class SettingResult:
    """Result of an exhibit at one setting.

    Attributes
    ----------
    rows
        Rows by name of the response (key and metric without varied parameters).
    claims
        Verdict on each statement of the paper, by its text.
    contrasts
        Conclusions of the paper as differences, by name: mean over seeds with its interval.
    """

    rows: dict[str, Row]
    claims: dict[str, Holds]
    contrasts: dict[str, Interval] = field(default_factory=dict)

    @classmethod
    def of(
        cls, evaluation: Evaluation, contrasts: Mapping[str, NDArray[np.float64]], varied: Collection[str]
    ) -> SettingResult:
        """Create the result from an evaluation."""
        rows = {response(row, varied): row for row in evaluation.rows}
        if len(rows) < len(evaluation.rows):
            raise ValueError("two rows of one response")
        claims = {claim.text: claim.holds for claim in evaluation.claims}
        return cls(rows, claims, {name: stats.mean(values) for name, values in contrasts.items()})


def response(row: Row, varied: Collection[str]) -> str:
    """Name of the response that a row is a value of."""
    return " ".join([*(f"{name}={value}" for name, value in row.key.items() if name not in varied), row.metric])
