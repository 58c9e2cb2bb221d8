"""Writing files so that a reader never sees half of one, and reading texts line by line."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from typing import IO, TYPE_CHECKING

from optcp.common import rows
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_serial = itertools.count()

RECORD = 700
"""Characters of JSON that stand on one line."""


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text.

    Raises
    ------
    InputError
        If it cannot be read or decoded; the message names it.
    """
    return rows.lines(_text(path))


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file with their line numbers, as :func:`optcp.rows.rows` does.

    Raises
    ------
    InputError
        If it cannot be read or decoded, or a line is no row; the message names it.
    """
    text = _text(path)
    try:
        yield from rows.rows(text)
    except ValueError as error:
        raise InputError(f"{path}, {error}") from None


def _text(path: Path) -> str:
    try:
        return rows.decoded(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read: {reason}") from None


def need_directory(path: Path) -> None:
    """Make sure that there is a directory of results to read.

    Raises
    ------
    InputError
        If there is none.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such directory")


def check_directory(path: Path) -> None:
    """Make sure that results can go to a directory, before anything runs; what is not there is not left behind.

    Raises
    ------
    InputError
        If something else is in its place or in that of a directory above it, or it cannot be made.
    """
    missing: list[Path] = []
    made: list[Path] = []
    there = path
    try:
        while not there.exists():
            missing.append(there)
            there = there.parent
        if not there.is_dir():
            raise InputError(f"--out {path}: {there} is no directory; choose another place")
        for one in reversed(missing):
            # Another process may make it meanwhile.
            with contextlib.suppress(FileExistsError):
                one.mkdir()
                made.append(one)
    except OSError as error:
        raise InputError(f"--out {path}: it cannot be made ({error.strerror}); choose another place") from error
    finally:
        for one in reversed(made):
            with contextlib.suppress(OSError):
                one.rmdir()


def is_name(text: str) -> bool:
    """Whether a text names one file in a directory, on every system: no path, drive, device or parent directory."""
    return bool(text.strip(". ")) and text.isprintable() and not any(letter in text for letter in "/\\:")


def refuse_links(root: Path, names: Iterable[str]) -> None:
    """Make sure that nothing that a directory holds under some names, or below them, is a symbolic link.

    A directory may come from somebody else: a link in it would have a command read or write anywhere.

    Raises
    ------
    InputError
        If there is a link.
    """
    for name in names:
        path = root / name
        found = path if path.is_symlink() else next(_links(path), None)
        if found is not None:
            raise InputError(f"{found}: a symbolic link, which may lead out of the directory; remove it")


def _links(folder: Path) -> Iterator[Path]:
    """Symbolic links below a folder, which need not exist."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield folder / entry.name
            elif entry.is_dir():
                yield from _links(folder / entry.name)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` and rename it onto ``path`` when the block ends without an error.

    The name holds the process and a serial number, so that threads and processes that write the same file never
    share a temporary one. Of a link the file behind it is replaced. What is no file (a pipe, ``/dev/null``) is written
    into as it stands: root could rename a file onto a device, and every program after it would find that file.

    Raises
    ------
    OSError
        If the directory cannot be made or written to.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_serial)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            # A full disk is met by a write, which knows no name.
            error.filename = str(path)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content``, whole or not at all (see :func:`replacing`)."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all (see :func:`replacing`)."""
    write_bytes(path, text.encode())


def json_text(value: object) -> str:
    """Return a value as JSON: a line for each of its parts, and for theirs where they are longer than a record.

    Numbers of one list stand on one line, however many they are.

    The same value is always the same text. NaN and infinite numbers, which JSON has not, are a ``ValueError``.

    Examples
    --------
    >>> print(json_text({"name": "a", "rows": [{"n": 1}, {"n": 2}]}), end="")
    {
     "name": "a",
     "rows": [{"n": 1}, {"n": 2}]
    }
    """
    return _json(value, 0) + "\n"


def _json(value: object, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list | tuple):
        return text
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    if depth and (len(text) <= RECORD or all(isinstance(part, int | float | None) for part in parts)):
        return text
    written = [_json(part, depth + 1) for part in parts]
    if isinstance(value, dict):
        written = [f"{json.dumps(key, ensure_ascii=False)}: {part}" for key, part in zip(value, written, strict=True)]
    first, last = "{}" if isinstance(value, dict) else "[]"
    inner = "\n" + " " * (depth + 1)
    return f"{first}{inner}{(',' + inner).join(written)}\n{' ' * depth}{last}"
