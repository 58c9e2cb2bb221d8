"""Curves over an axis, from rows whose keys contain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from optcp.papers.model import Series

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.papers.model import Row


class Axis(NamedTuple):
    """Label and unit of a coordinate of curves.

    Attributes
    ----------
    label, unit
        Texts of a figure.
    """

    label: str
    unit: str


def curves_over(rows: Iterable[Row], name: str, x: Axis, y: Axis) -> list[Series]:
    """Return one curve for all rows that differ only in the part ``name`` of their keys.

    Undefined and infinite values have no point.
    """
    found: dict[tuple[tuple[str, str | int | float], ...], list[Row]] = {}
    for one in (one for one in rows if one.measured is not None):
        rest = tuple((part, value) for part, value in one.key.items() if part != name)
        found.setdefault(rest, []).append(one)
    drawn = []
    for rest, points in found.items():
        at, values = [float(one.key[name]) for one in points], [one.value for one in points]
        drawn.append(Series(y.label, dict(rest), x.label, x.unit, y.label, y.unit, at, values, intervals_of(points)))
    return drawn


def intervals_of(rows: Sequence[Row]) -> list[tuple[float | None, float | None]]:
    """Return the intervals of the rows of a curve; empty if all are missing."""
    found = [one.ci95 for one in rows]
    return found if any(end is not None for ends in found for end in ends) else []
