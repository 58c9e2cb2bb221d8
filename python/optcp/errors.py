"""Exceptions that end a command with a message instead of a traceback."""

from __future__ import annotations

import difflib
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


MOST_NAMES = 30
"""Maximum number of names in a message."""


class InputError(ValueError):
    """Invalid input of the user (exit status 2)."""


class RunFailed(RuntimeError):  # noqa: N818 - named after the event
    """Failure of a run, or of reading or writing its result (exit status 1)."""


class Damaged(RunFailed):
    """Stored result that cannot be used.

    Attributes
    ----------
    what
        File and defect.
    """

    def __init__(self, path: Path, what: object, away: str = "it") -> None:
        self.what = f"{path}: {what}"
        super().__init__(f"{self.what}; delete {away} and run again")


class Interrupted(Exception):  # noqa: N818
    """Interruption by the user; finished runs stay stored (exit status 130).

    Attributes
    ----------
    kept, total
        Number of stored runs and of requested runs.
    """

    def __init__(self, kept: int, total: int) -> None:
        self.kept, self.total = kept, total
        super().__init__(
            f"interrupted: {kept} of {total} {'run is' if total == 1 else 'runs are'} finished and stored; "
            "repeat the command to continue"
        )


def closest(word: object, known: Iterable[str]) -> str | None:
    """Return the most similar known word, or None."""
    return next(iter(difflib.get_close_matches(str(word), known, n=1, cutoff=0.6)), None)


def nearest(word: object, known: Iterable[str]) -> str:
    """Return the end of a message: the most similar known word, or else the list of known words."""
    names = sorted(known)
    close = closest(word, names)
    return f"did you mean {close!r}?" if close else f"there are: {listed(names, MOST_NAMES)}"


def listed(names: Sequence[str], most: int) -> str:
    """Return at most ``most`` names and their number; names are quoted if one contains a comma.

    >>> listed(["1:1", "restoration, 2 s"], 5), listed(["a", "b", "c"], 2)
    ("'1:1', 'restoration, 2 s'", 'a, b, ... (3 in all)')
    """
    quoted = any("," in name for name in names)
    shown = [repr(name) if quoted else name for name in names[:most]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def told(error: BaseException) -> str:
    """Return the message of an error in a run; with its traceback if Python code of the user raised it."""
    message = str(error) or type(error).__name__
    notes: list[str] = getattr(error, "__notes__", [])
    if not notes:
        return message
    package = str(Path(__file__).parent)
    # The front end, which calls the simulator, has the first frames.
    frames = traceback.extract_tb(error.__traceback__)
    last = max((number for number, frame in enumerate(frames) if frame.filename.startswith(package)), default=-1)
    return "".join(
        [f"{type(error).__name__}: {message}\n", *traceback.format_list(frames[last + 1 :]), "\n".join(notes)]
    )
