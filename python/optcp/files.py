"""Writing files so that a reader never sees half of one, and reading texts line by line."""

from __future__ import annotations

import contextlib
import itertools
import os
from typing import IO, TYPE_CHECKING

from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_serial = itertools.count()


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text.

    Raises
    ------
    InputError
        If it cannot be read, or is no UTF-8 text; the message names it.
    """
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"{path}: cannot be read: {reason}") from None


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
