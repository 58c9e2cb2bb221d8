"""Atomic writing of files, reading of texts, and checks of directories."""

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
"""Maximum number of characters of a JSON value on one line."""


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file.

    Raises
    ------
    InputError
        If it cannot be read or decoded; the message names the file.
    """
    return rows.lines(_text(path))


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file with their line numbers, as :func:`optcp.common.rows.rows`.

    Raises
    ------
    InputError
        If it cannot be read or decoded, or a line is not a row; the message names the file.
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
    """Raise an error if a directory of results does not exist.

    Raises
    ------
    InputError
        If it does not exist.
    """
    if not path.is_dir():
        raise InputError(f"{path}: no such directory")


def check_directory(path: Path) -> None:
    """Check, in advance of a run, that a directory can be created; directories created for the check are removed.

    Raises
    ------
    InputError
        If the path or a parent is not a directory, or it cannot be created.
    """
    missing: list[Path] = []
    made: list[Path] = []
    there = path
    try:
        while not there.exists():
            missing.append(there)
            there = there.parent
        if not there.is_dir():
            raise InputError(f"--out {path}: {there} is not a directory")
        for one in reversed(missing):
            # Another process may create it at the same time.
            with contextlib.suppress(FileExistsError):
                one.mkdir()
                made.append(one)
    except OSError as error:
        raise InputError(f"--out {path}: cannot create the directory ({error.strerror})") from error
    finally:
        for one in reversed(made):
            with contextlib.suppress(OSError):
                one.rmdir()


def is_name(text: str) -> bool:
    """Whether a text is a plain file name on every system: no path, drive, device or parent directory."""
    return bool(text.strip(". ")) and text.isprintable() and not any(letter in text for letter in "/\\:")


def refuse_links(root: Path, names: Iterable[str]) -> None:
    """Raise an error if some entries of a directory, or files below them, are symbolic links.

    A directory from another person could otherwise make a command read or write anywhere.

    Raises
    ------
    InputError
        If there is a link.
    """
    for name in names:
        path = root / name
        found = path if path.is_symlink() else next(_links(path), None)
        if found is not None:
            raise InputError(f"{found}: symbolic links are not allowed here; remove it")


def _links(folder: Path) -> Iterator[Path]:
    """Yield the symbolic links below a folder, which need not exist."""
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
    """Open a temporary file next to ``path``, and rename it to ``path`` if the block ends without an error.

    The temporary name contains the process and a serial number, so concurrent writers never share it. A link stays, and
    its target is replaced. Pipes and devices such as ``/dev/null`` are written directly, because root could rename a
    file onto a device.

    Raises
    ------
    OSError
        If the directory cannot be created or written.
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
            # The error of a write on a full disk has no file name.
            error.filename = str(path)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` atomically (see :func:`replacing`)."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8 atomically (see :func:`replacing`)."""
    write_bytes(path, text.encode())


def json_text(value: object) -> str:
    """Return a value as deterministic JSON, with one line per part; parts above ``RECORD`` characters are split.

    A list of numbers is always on one line. NaN and infinite numbers raise ``ValueError``.

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
