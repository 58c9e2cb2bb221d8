"""Ranges of values that an unstated parameter may plausibly have had."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optcp.papers.assume import Value

DIGITS = 3
"""Significant digits of a value drawn from a span: settings stay readable, and shares of rates are whole."""
PARTS = 4
"""Into how many equally likely parts a span is split where it is tabulated."""


@dataclass(frozen=True)
class Span:
    """All values between two, each equally likely, or each ratio equally likely.

    Attributes
    ----------
    low, high
        Ends, in the parameter's unit; both belong to it.
    log
        Whether it is the logarithm that is uniform; then both ends are positive.
    whole
        Whether only whole numbers count.
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
        """The value below which a share of the range lies, 0 <= share <= 1."""
        if self.whole and not self.log:
            # Every whole number owns an equal part.
            return min(int(self.high), math.floor(self.low + share * (self.high - self.low + 1)))
        value = self.low * (self.high / self.low) ** share if self.log else self.low + share * (self.high - self.low)
        rounded = float(f"{value:.{DIGITS}g}")
        return round(rounded) if self.whole else rounded

    def parts(self) -> list[str]:
        """Names of its equally likely parts."""
        edges = [self.at(index / PARTS) for index in range(PARTS + 1)]
        return [f"{_text(low)} to {_text(high)}" for low, high in itertools.pairwise(edges)]

    def part(self, value: Value) -> int:
        """Index of the part that a value lies in; an inner edge belongs to the part above it."""
        return sum(float(value) >= float(self.at(index / PARTS)) for index in range(1, PARTS))

    def __str__(self) -> str:
        return f"{_text(self.low)}..{_text(self.high)}" + (" log" if self.log else "")


@dataclass(frozen=True)
class Choices:
    """Some values, each equally likely."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2:
            raise ValueError("choices are at least two different values")

    def at(self, share: float) -> Value:
        """The value that owns the place ``share``, 0 <= share <= 1."""
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
    """Write a number as one would by hand: 4e6, not 4e+06."""
    return f"{value:g}".replace("e+0", "e")


@dataclass(frozen=True)
class Plausible:
    """Plausible range of an unstated parameter.

    Attributes
    ----------
    values
        Range.
    reason
        Reason of its limits, one sentence.
    """

    values: Range
    reason: str
