"""Errors that end a command with a message instead of a traceback."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


MOST_NAMES = 30
"""A message lists no more names than these."""


class InputError(ValueError):
    """The user asked for something that does not exist or makes no sense (exit status 2)."""


class RunFailed(RuntimeError):  # noqa: N818 - reads as what happened, as click's and concurrent.futures' do
    """A run, or reading or writing its result, failed (exit status 1)."""


class Damaged(RunFailed):
    """A stored result that cannot be used.

    Attributes
    ----------
    what
        Which file, and what is wrong with it.
    """

    def __init__(self, path: Path, what: object, away: str = "it") -> None:
        self.what = f"{path}: {what}"
        super().__init__(f"{self.what}; delete {away} and run again")


class Interrupted(Exception):  # noqa: N818
    """The user stopped the work; finished runs are kept (exit status 130).

    Attributes
    ----------
    kept, total
        Runs that are finished and stored, and all runs that were asked for.
    """

    def __init__(self, kept: int, total: int) -> None:
        self.kept, self.total = kept, total
        super().__init__(
            f"interrupted: {kept} of {total} {'run is' if total == 1 else 'runs are'} finished and kept; "
            "the same command continues there"
        )


def closest(word: object, known: Iterable[str]) -> str | None:
    """The nearest known word, if one is near."""
    return next(iter(difflib.get_close_matches(str(word), known, n=1, cutoff=0.6)), None)


def nearest(word: object, known: Iterable[str]) -> str:
    """A sentence part for the end of a message: the nearest known word, or all of them if none is near."""
    names = sorted(known)
    close = closest(word, names)
    return f"did you mean {close!r}?" if close else f"there are: {listed(names, MOST_NAMES)}"


def listed(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many there are; quoted where one of them has a comma.

    >>> listed(["1:1", "restoration, 2 s"], 5), listed(["a", "b", "c"], 2)
    ("'1:1', 'restoration, 2 s'", 'a, b, ... (3 in all)')
    """
    quoted = any("," in name for name in names)
    shown = [repr(name) if quoted else name for name in names[:most]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > most else "")
