"""Weights of pairs of nodes in traffic matrices: parsed exactly and converted to integers.

Limitations
    The sum of the integers is below 2^62. If exact proportions need more, the error of a weight is at most 2^-61 of the
    sum.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, TypedDict

from optcp.common import rows
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Row = tuple[int, str, str, int]
"""Line number, source, destination, and weight as :func:`whole` returns it."""


class Matrix(TypedDict):
    """Pairs of nodes with weights, in the form that crates/scenario expects.

    Attributes
    ----------
    heading
        Line number and fields of the first row if its third field is not a number. It is a heading, unless its first
        two fields name nodes.
    rows
        See :data:`Row`.
    """

    heading: tuple[int, tuple[str, str, str]] | None
    rows: list[Row]


ATTEMPTED = re.compile(r"[-+.]?[0-9].*|[-+]?(?:nan|inf|infinity)|n/?a|null|none|[-?]*", re.IGNORECASE)
SWAPPED = re.compile(r"(?:to|target|dst|dest|destination|sink)\b.*", re.IGNORECASE)
LEAST, MOST = Decimal("1e-60"), Decimal("1e60")
"""Bounds of a positive weight."""
BITS = 62


def is_attempted(text: str) -> bool:
    """Return whether a field is a weight, valid or not, rather than the name of a column."""
    return ATTEMPTED.fullmatch(text) is not None


def is_swapped(name: str) -> bool:
    """Return whether the first column holds destinations, judged by its name."""
    return SWAPPED.fullmatch(name) is not None


def parsed(text: str, where: str) -> Decimal:
    """Parse the weight in a field.

    Parameters
    ----------
    where
        File, line and column, for error messages.

    Raises
    ------
    InputError
        If the field is not a non-negative number within the bounds.
    """
    if not rows.is_number(text):
        comma = "; use a decimal point" if "," in text else ""
        raise InputError(f"{where}: expected a number such as `3` or `0.0004`, found `{rows.short(text)}`{comma}")
    weight = Decimal(text)
    if weight != 0 and not LEAST <= weight <= MOST:
        raise InputError(f"{where}: expected 0, or a number from {LEAST} to {MOST:E}, found `{rows.short(text)}`")
    return weight


def whole(weights: Sequence[Decimal]) -> list[int]:
    """Convert weights to integers in the same proportions, with a sum below 2^62.

    The unit is 1/1000, or a smaller power of ten if a weight needs it. A positive weight never becomes zero.
    """
    parts = [weight.normalize().as_tuple() for weight in weights]
    digits = [int("".join(map(str, part.digits))) for part in parts]
    powers = [int(part.exponent) for part in parts]
    places = max([3, *(-power for power in powers)])
    exact = [number * 10 ** (places + power) for number, power in zip(digits, powers, strict=True)]
    shift = max(0, sum(exact).bit_length() - BITS)
    return [max(number >> shift, min(number, 1)) for number in exact]


def check_nodes(file: str, matrix: Matrix, known: Mapping[str, int], where: str) -> None:
    """Check that a matrix refers to nodes of a network.

    Parameters
    ----------
    file
        File of the matrix.
    known
        Nodes by name.
    where
        Name of the network in messages, such as "ring.gml".

    Raises
    ------
    InputError
        If a name is unknown, or the first row names two nodes but has no weight.
    """
    if matrix["heading"] is not None:
        line, (*ends, text) = matrix["heading"]
        if set(ends) <= set(known):
            parsed(text, f"`{file}`, line {line}: column `weight`")
    for line, *ends, _ in matrix["rows"]:
        for column, name in zip(("from", "to"), ends, strict=True):
            if name not in known:
                raise InputError(
                    f"`{file}`, line {line}: column `{column}`: no node {rows.short(name)!r} in {where}; "
                    f"{nearest(name, known)}"
                )
