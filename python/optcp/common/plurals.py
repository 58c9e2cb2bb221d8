"""Counts in sentences, with nouns that agree with their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def count_noun(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun; the default plural adds "s".

    Examples
    --------
    >>> count_noun(1, "seed"), count_noun(0, "seed"), count_noun(2, "holds", "hold")
    ('1 seed', '0 seeds', '2 hold')
    """
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def listed_few(names: Sequence[str], most: int = 8) -> str:
    """Return the first names, and the number of the others.

    Examples
    --------
    >>> listed_few(["A", "B", "C"], 2)
    'A, B and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
