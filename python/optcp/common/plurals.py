"""Counts in sentences: the one place where a noun agrees with its number."""

from __future__ import annotations


def count_noun(count: int, one: str, more: str = "") -> str:
    """Return a count and its noun.

    Examples
    --------
    >>> count_noun(1, "seed"), count_noun(0, "seed"), count_noun(2, "holds", "hold")
    ('1 seed', '0 seeds', '2 hold')
    """
    return f"{count} {one if count == 1 else more or one + 's'}"
