"""Scenarios of tool calls: found below the directory or among the shipped ones, and read with their files only."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from optcp import _core
from optcp.errors import InputError
from optcp.mcp.fence import FilesBeside, inside
from optcp.scenarios import shipped
from optcp.scenarios.scenario import load, written
from optcp.scenarios.topologies import use_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SUFFIX = ".toml"


def find(text: str) -> Path:
    """Return the file of a scenario: a path below the directory, or the name of a shipped scenario.

    Raises
    ------
    InputError
        If neither exists, or the path leaves the directory.
    """
    path = inside(text, "scenario")
    # A shipped name is looked up as the command does, and the message has the nearest name.
    return path if path.is_file() else shipped.find(text)


def title_of(text: str) -> str | None:
    """Return the title of a scenario, or None if there is no such scenario."""
    try:
        path = find(text)
        with confined(path):
            return load(path).title
    except (InputError, _core.ScenarioError):
        return None


@contextmanager
def confined(scenario: Path) -> Iterator[None]:
    """Let the scenario read only files below the directory, or next to a shipped scenario."""
    with use_files(FilesBeside(scenario)):
        yield


def new_file(text: str) -> Path:
    """Return the path of a scenario file to write.

    Raises
    ------
    InputError
        If it leaves the directory or has another suffix.
    """
    path = inside(text, "file")
    if path.suffix != SUFFIX:
        raise InputError(f"file {text!r}: expected a name that ends with {SUFFIX}, such as `{path.stem}{SUFFIX}`")
    return path


def pairs(settings: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Return settings as key paths and texts, as ``--set`` takes them."""
    return written(settings or {})
