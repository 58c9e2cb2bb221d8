"""The axes of labelled cells: a name, and the values as they were written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp._core import quantity
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


SUFFIXES = {"": "", "s": "_s", "bit/s": "_bps", "B": "_bytes", "packets": "_packets"}
"""What the name of a column of quantities ends with, by their unit."""


@dataclass(frozen=True)
class Axis:
    """One axis of labelled cells.

    Parameters
    ----------
    name
        What varies, for example ``switch_delay``.
    values
        The values as written, all different: ``("0 ms", "50 ms")``.
    unit
        The SI unit of ``numbers``: "s", "bit/s", "B", "packets", or "" for pure numbers and where there are none.
    numbers
        Each value in SI. Left out, they are read from the values where every one is a quantity of one unit.
    labels
        What tables and figures show instead of the values; empty: the values.

    Raises
    ------
    InputError
        If values repeat, or numbers or labels are not one a value.

    Examples
    --------
    >>> delay = Axis("switch_delay", ("0 ms", "50 ms"))
    >>> delay.numbers, delay.unit
    ((0.0, 0.05), 's')
    >>> delay.index("0.05 s"), delay.index("50 ms"), delay.index(0.05)
    (1, 1, 1)
    """

    name: str
    values: tuple[str, ...]
    unit: str = ""
    numbers: tuple[float, ...] | None = None
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values):
            again = next(value for at, value in enumerate(self.values) if value in self.values[:at])
            raise InputError(f"axis {self.name!r}: the value {again!r} is there twice")
        for what, found in (("numbers", self.numbers), ("labels", self.labels)):
            if found and len(found) != len(self.values):
                raise InputError(f"axis {self.name!r}: expected {len(self.values)} {what}, got {len(found)}")
        if self.numbers is None and not self.unit:
            read = [quantity(value) for value in self.values]
            known = [one for one in read if one is not None]
            if known and len(known) == len(read) and len({unit for _, unit in known}) == 1:
                object.__setattr__(self, "numbers", tuple(number for number, _ in known))
                object.__setattr__(self, "unit", known[0][1])
        first: dict[float, str] = {}
        for number, value in zip(self.numbers or (), self.values, strict=False):
            if (before := first.setdefault(number, value)) != value:
                raise InputError(f"axis {self.name!r}: the values {before!r} and {value!r} are equal")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shown(self) -> tuple[str, ...]:
        """What tables and figures show: the labels, or else the values."""
        return self.labels or self.values

    @property
    def column(self) -> str:
        """Its name in tables: of quantities in SI with their unit at the end."""
        return self.name + (SUFFIXES.get(self.unit, "") if self.numbers else "")

    @property
    def coordinates(self) -> tuple[float, ...] | tuple[str, ...]:
        """The numbers in SI, or else the values as written."""
        return self.values if self.numbers is None else self.numbers

    def part(self, which: slice | Sequence[int]) -> Axis:
        """Some of the values, by their positions, with their numbers and labels."""
        at = range(len(self))[which] if isinstance(which, slice) else which
        numbers = self.numbers and tuple(self.numbers[one] for one in at)
        labels = tuple(self.labels[one] for one in at) if self.labels else ()
        return Axis(self.name, tuple(self.values[one] for one in at), self.unit, numbers, labels)

    def matches(self, other: Axis) -> bool:
        """Whether the values are the same in the same order, however they are written."""
        if self.numbers is not None and other.numbers is not None:
            return (self.unit, self.numbers) == (other.unit, other.numbers)
        return self.values == other.values

    def index(self, value: str | float) -> int:
        """Find a value's position.

        Parameters
        ----------
        value
            As written, as an equal quantity ("0.05 s" for "50 ms"), or as a number in SI.

        Raises
        ------
        InputError
            If no value is equal; the message names the nearest.
        """
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if text in self.values:
            return self.values.index(text)
        number: float | None = None
        if isinstance(value, str):
            if (read := quantity(value)) is not None and read[1] == self.unit:
                number = read[0]
        elif not isinstance(value, bool):
            number = float(value)
        if self.numbers is None or number is None:
            raise InputError(f"axis {self.name!r} has no value {text!r}; {nearest(text, self.values)}")
        closest = min(range(len(self)), key=lambda at: abs(self.numbers[at] - number))  # type: ignore[index]
        # A number that was computed may differ from the one that was written in its last digit.
        if not math.isclose(self.numbers[closest], number, rel_tol=1e-12):
            there = ", ".join(self.values)
            raise InputError(
                f"axis {self.name!r} has no value {text!r}; did you mean {self.values[closest]!r}? there are: {there}"
            )
        return closest

    def bound(self, value: str | float) -> int:
        """How many values are at or below one of them, or its origin, 0.

        Raises
        ------
        InputError
            If it is neither.
        """
        number = quantity(value) if isinstance(value, str) else (float(value), self.unit)
        return 0 if number is not None and number[0] == 0 else 1 + self.index(value)
