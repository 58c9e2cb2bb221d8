"""Printed values and statements, from ``tables.toml`` and ``claims.toml`` of each paper; results of ns-2."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Statement:
    """One entry of a ``claims.toml``: what a paper says in words.

    Attributes
    ----------
    id
        Its name, unique in the exhibit.
    exhibit, where, text
        The exhibit it belongs to, the place in the paper, the statement.
    how
        How it is to be judged.
    """

    id: str
    exhibit: str
    where: str
    text: str
    how: str


def read(folder: str, name: str) -> dict[str, Any]:
    """Read a TOML file of a paper's folder, or of ``data``, which all papers share."""
    return tomllib.loads((resources.files("optcp.papers") / folder / name).read_text(encoding="utf-8"))


@functools.cache
def tables(paper: str) -> dict[str, Any]:
    """Return every printed value of a paper, by table."""
    return read(paper, "tables.toml")


@functools.cache
def ns2() -> dict[str, Any]:
    """Return what independent ns-2 runs gave, by paper and table: ``ns2.toml``, with the keys of :func:`tables`."""
    return read("data", "ns2.toml")


@functools.cache
def statements(paper: str) -> tuple[Statement, ...]:
    """Return every claim of a paper, in file order."""
    names = [one.name for one in fields(Statement)]
    return tuple(Statement(**{name: entry[name] for name in names}) for entry in read(paper, "claims.toml")["claim"])


def statements_of(exhibit: str) -> list[Statement]:
    """Return the claims of one exhibit, in file order."""
    return [statement for statement in statements(exhibit.partition("/")[0]) if statement.exhibit == exhibit]
