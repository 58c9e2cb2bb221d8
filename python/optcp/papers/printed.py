"""Published values and statements, from ``tables.toml`` and ``claims.toml`` of each paper."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from optcp.errors import InputError
from optcp.papers import registry

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Statement:
    """A statement of a paper: one entry of ``claims.toml``.

    Attributes
    ----------
    id
        Name, unique within the exhibit.
    exhibit, where, text
        Exhibit, place in the paper, and wording.
    how
        Criterion by which the statement is judged.
    """

    id: str
    exhibit: str
    where: str
    text: str
    how: str


def read(folder: Path, name: str) -> dict[str, Any]:
    """Read a TOML file in a directory; the result is empty if the file does not exist.

    Raises
    ------
    InputError
        If the file is not valid TOML.
    """
    path = folder / name
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


@functools.cache
def tables(paper: str) -> dict[str, Any]:
    """Return all published values of a paper, by table."""
    return read(registry.folder(paper), "tables.toml")


@functools.cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Return every claim of a paper, in file order."""
    names = [one.name for one in fields(Statement)]
    entries = read(registry.folder(paper), "claims.toml").get("claim", [])
    for entry in entries:
        if lacking := [name for name in names if not isinstance(entry.get(name), str)]:
            raise InputError(f"{registry.folder(paper) / 'claims.toml'}: a claim without {', '.join(lacking)}: {entry}")
    return tuple(Statement(**{name: entry[name] for name in names}) for entry in entries)


def statements_of(exhibit: str) -> list[Statement]:
    """Return the claims of one exhibit, in file order."""
    return [statement for statement in statements(exhibit.partition("/")[0]) if statement.exhibit == exhibit]
