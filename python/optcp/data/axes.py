"""The axes of labelled cells: a name, and the values as they were written."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp._core import quantity
from optcp.common import arguments
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


SUFFIXES = {"": "", "s": "_s", "bit/s": "_bps", "B": "_bytes", "packets": "_packets"}
"""Suffix of column names, by unit."""


@dataclass(frozen=True)
class Axis:
    """Axis of labelled cells.

    Parameters
    ----------
    name
        Name, for example ``switch_delay``.
    values
        Distinct values as written: ``("0 ms", "50 ms")``.
    unit
        SI unit of ``numbers``: "s", "bit/s", "B", "packets", or "" for pure numbers or without numbers.
    numbers
        Values in SI units. By default they are parsed from ``values`` if all have the same unit.
    labels
        Texts for tables and plots; by default ``values``.

    Raises
    ------
    InputError
        If values repeat, or the number of numbers or labels differs from the number of values.

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
        arguments.text(self.name, "name of an axis")
        arguments.text(self.unit, "unit of an axis")
        for what, texts in (("values", self.values), ("labels", self.labels)):
            # Fast path for time axes with thousands of values.
            if type(texts) is not tuple or not set(map(type, texts)) <= {str}:
                object.__setattr__(self, what, tuple(arguments.texts(texts, f"{what} of axis {self.name!r}")))
        if self.numbers is not None and not (type(self.numbers) is tuple and set(map(type, self.numbers)) <= {float}):
            numbers = arguments.values(self.numbers, f"numbers of axis {self.name!r}")
            if numbers.ndim != 1:
                raise arguments.refused(self.numbers, f"numbers of axis {self.name!r}", "a list of numbers")
            object.__setattr__(self, "numbers", tuple(numbers.tolist()))
        if len(set(self.values)) < len(self.values):
            again = next(value for at, value in enumerate(self.values) if value in self.values[:at])
            raise InputError(f"axis {self.name!r}: duplicate value {again!r}")
        for what, found in (("numbers", self.numbers), ("labels", self.labels)):
            if found is not None and (found or what == "numbers") and len(found) != len(self.values):
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
        """Texts for tables and plots: the labels, or else the values."""
        return self.labels or self.values

    @property
    def column(self) -> str:
        """Column name in tables, with the SI unit as suffix."""
        return self.name + (SUFFIXES.get(self.unit, "") if self.numbers else "")

    @property
    def coordinates(self) -> tuple[float, ...] | tuple[str, ...]:
        """Numbers in SI units, or else the values as written."""
        return self.values if self.numbers is None else self.numbers

    def part(self, which: slice | Sequence[int]) -> Axis:
        """Return the axis with only the values at some positions."""
        if isinstance(which, slice):
            for end in (which.start, which.stop, which.step):
                if end is not None:
                    arguments.whole(end, "which")
        last = len(self) - 1
        at = (
            range(len(self))[which]
            if isinstance(which, slice)
            else [arguments.whole(one, "which", -last - 1, last) for one in arguments.several(which, "which")]
        )
        numbers = self.numbers and tuple(self.numbers[one] for one in at)
        labels = tuple(self.labels[one] for one in at) if self.labels else ()
        return Axis(self.name, tuple(self.values[one] for one in at), self.unit, numbers, labels)

    def matches(self, other: Axis) -> bool:
        """Whether both axes have equal values in the same order, independent of their notation."""
        arguments.one_of(other, Axis, "other", "an Axis")
        if self.numbers is not None and other.numbers is not None:
            return (self.unit, self.numbers) == (other.unit, other.numbers)
        return self.values == other.values

    def index(self, value: str | float) -> int:
        """Return the position of a value.

        Parameters
        ----------
        value
            Value as written, equal quantity ("0.05 s" for "50 ms"), or number in SI units.

        Raises
        ------
        InputError
            If the value does not exist; the message names the nearest.
        """
        text = value if isinstance(value, str) else arguments.shown(value)
        if isinstance(value, (bool, np.bool_)):
            text = "true" if value else "false"
        if text in self.values:
            return self.values.index(text)
        number: float | None = None
        if isinstance(value, str):
            if (read := quantity(arguments.text(value, "value"))) is not None and read[1] == self.unit:
                number = read[0]
        elif not isinstance(value, (bool, np.bool_)):
            number = arguments.number(value, f"value of axis {self.name!r}", "a text or a number")
        if not self.numbers or number is None:
            raise InputError(f"{self.name!r} has no value {text!r}; {nearest(text, self.values)}")
        numbers = self.numbers
        closest = min(range(len(self)), key=lambda at: abs(numbers[at] - number))
        # A computed number may differ in its last digit.
        if not math.isclose(numbers[closest], number, rel_tol=1e-12):
            there = ", ".join(self.values)
            raise InputError(
                f"{self.name!r} has no value {text!r}; did you mean {self.values[closest]!r}? values: {there}"
            )
        return closest

    def bound(self, value: str | float) -> int:
        """Return the number of values up to and including ``value``, which can also be 0.

        Raises
        ------
        InputError
            If the value does not exist.
        """
        if isinstance(value, str):
            read = quantity(arguments.text(value, "value"))
            zero = read is not None and read[0] == 0
        else:
            zero = arguments.number(value, f"value of axis {self.name!r}", "a text or a number") == 0
        return 0 if zero else 1 + self.index(value)
