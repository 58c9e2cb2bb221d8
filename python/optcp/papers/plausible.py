"""Plausible ranges of parameters that a paper does not state."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optcp.papers.assume import Value

DIGITS = 3
"""Significant digits of values drawn from a span, so that settings stay readable and shares of rates integral."""
PARTS = 4
"""Number of equally likely parts of a span in tables."""


@dataclass(frozen=True)
class Span:
    """An interval with a uniform or log-uniform distribution.

    Attributes
    ----------
    low, high
        Bounds in the unit of the parameter, both inclusive.
    log
        Whether the distribution is log-uniform; then both bounds are positive.
    whole
        Whether values are integers.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError("a range goes from a lower to a higher value")
        if self.log and self.low <= 0:
            raise ValueError("a logarithmic range begins above zero")

    def at(self, share: float) -> Value:
        """Quantile of the distribution, 0 <= share <= 1."""
        if self.whole and not self.log:
            # All integers are equally likely.
            return min(int(self.high), math.floor(self.low + share * (self.high - self.low + 1)))
        value = self.low * (self.high / self.low) ** share if self.log else self.low + share * (self.high - self.low)
        rounded = float(f"{value:.{DIGITS}g}")
        return round(rounded) if self.whole else rounded

    def parts(self) -> list[str]:
        """Names of the equally likely parts."""
        edges = [self.at(index / PARTS) for index in range(PARTS + 1)]
        return [f"{_text(low)} to {_text(high)}" for low, high in itertools.pairwise(edges)]

    def part(self, value: Value) -> int:
        """Index of the part with a value; a boundary belongs to the upper part."""
        return sum(float(value) >= float(self.at(index / PARTS)) for index in range(1, PARTS))

    def __str__(self) -> str:
        return f"{_text(self.low)}..{_text(self.high)}" + (" log" if self.log else "")


@dataclass(frozen=True)
class Choices:
    """Several equally likely values."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2:
            raise ValueError("choices are at least two different values")

    def at(self, share: float) -> Value:
        """Quantile of the distribution, 0 <= share <= 1."""
        return self.values[min(len(self.values) - 1, int(share * len(self.values)))]

    def parts(self) -> list[str]:
        """Names of the values."""
        return [str(value) for value in self.values]

    def part(self, value: Value) -> int:
        """Index of a value."""
        return self.values.index(value)

    def __str__(self) -> str:
        return "|".join(self.parts())


Range = Span | Choices


def _text(value: Value) -> str:
    """Format a number in short form: 4e6 instead of 4e+06."""
    return f"{value:g}".replace("e+0", "e")


@dataclass(frozen=True)
class Plausible:
    """Plausible range of an unstated parameter.

    Attributes
    ----------
    values
        Range.
    reason
        Reason for its bounds, one sentence.
    """

    values: Range
    reason: str
