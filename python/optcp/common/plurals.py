"""Counts in sentences, with nouns that agree with their number."""

from __future__ import annotations


def count_noun(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun; the default plural adds "s".

    Examples
    --------
    >>> count_noun(1, "seed"), count_noun(0, "seed"), count_noun(2, "holds", "hold")
    ('1 seed', '0 seeds', '2 hold')
    """
    return f"{count} {singular if count == 1 else plural or singular + 's'}"
