"""Confinement of a process to one directory: paths of arguments, and files that scenarios name."""

from __future__ import annotations

import errno
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optcp.errors import InputError

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REASON = "outside the directory of the server"
PROGRAMS = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "socket.bind",
        "socket.connect",
        "subprocess.Popen",
    }
)
"""Audit events of programs and connections, all refused."""
CHANGES = frozenset(
    {
        "os.chmod",
        "os.chown",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.symlink",
        "os.truncate",
        "os.utime",
    }
)
"""Audit events that change files; their first arguments are paths."""
SYSTEM = ("/dev/null", "/dev/urandom", "/proc/self", "/proc/cpuinfo", "/usr/share/fonts", "/usr/local/share/fonts")
"""Files and folders of the system that libraries read."""


class Outside(InputError):  # noqa: N818 - named after the path
    """Path that leaves the directory of the server."""


def inside(text: str, argument: str) -> Path:
    """Return a path relative to the current directory, if it stays there without a symbolic link.

    Parameters
    ----------
    text
        Path as given by a client.
    argument
        Name of the argument, for the message.

    Raises
    ------
    Outside
        If it leads elsewhere, contains ``..``, or passes a symbolic link.
    InputError
        If it is empty or no path.
    """
    path = Path(text)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    if not text.strip() or not text.isprintable():
        raise InputError(f"{argument} {text!r}: expected a path below the directory of the server")
    if path.is_absolute() or ".." in path.parts or "\\" in text or text.startswith("~"):
        raise Outside(f"{argument} {text!r}: {REASON}; expected a relative path without `..`")
    for part in (path, *path.parents):
        if part.is_symlink():
            raise Outside(
                f"{argument} {text!r}: {part} is a symbolic link, which may leave the directory of the server"
            )
    return path


class FilesBeside(Mapping[str, bytes]):
    """Files that a scenario may name, read on demand: those below the current directory, or next to a shipped scenario.

    Parameters
    ----------
    scenario
        The scenario file.
    """

    def __init__(self, scenario: Path) -> None:
        self._folder = scenario.parent
        self._root = (scenario.parent if scenario.is_absolute() else Path.cwd()).resolve()

    def __contains__(self, name: object) -> bool:
        """Whether the file may be asked for: a refusal then has its reason."""
        return isinstance(name, str)

    def __getitem__(self, name: str) -> bytes:
        """Return the content of a file; raise ``PermissionError`` for a file elsewhere."""
        path = self._folder / name
        if not path.resolve().is_relative_to(self._root):
            raise PermissionError(errno.EACCES, REASON, name)
        return path.read_bytes()

    def __iter__(self) -> Iterator[str]:
        """Return no names, because files are read on demand."""
        return iter(())

    def __len__(self) -> int:
        """Return 0, because files are read on demand."""
        return 0


def close(readable: tuple[Path, ...]) -> None:
    """Confine this process to the current directory; nothing undoes it.

    It writes only there, and reads only there, in the given folders, and code and data of installed packages. It starts
    no programs and opens no connections. This is a second barrier: arguments and files of scenarios are checked before.
    """
    root = os.path.realpath(Path.cwd())
    code = {*sys.path, *sysconfig.get_paths().values(), str(Path(__file__).parents[1])}
    allowed = (root, *(os.path.realpath(path) for path in code if path), *map(os.path.realpath, readable), *SYSTEM)

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = bool((flags or 0) & WRITING) or any(letter in (mode or "") for letter in "wax+")
            _check(path, (root, os.devnull) if writes else allowed)
        elif event in CHANGES:
            for path in arguments[: 2 if event in ("os.rename", "os.link", "os.symlink") else 1]:
                _check(path, (root,))
        elif event in PROGRAMS:
            raise PermissionError(errno.EACCES, "the server starts no programs and opens no connections")

    sys.addaudithook(check)


def _check(path: object, places: tuple[str, ...]) -> None:
    if isinstance(path, int):  # an open file
        return
    real = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]  # paths of any kind
    if not any(real == place or real.startswith(place.rstrip(os.sep) + os.sep) for place in places):
        raise PermissionError(errno.EACCES, REASON, os.fsdecode(path))  # type: ignore[arg-type]
