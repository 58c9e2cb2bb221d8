"""Printed values, statements, results of ns-2: the data files ``tables.toml``, ``claims.toml``, ``ns2.toml``."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Statement:
    """One entry of ``claims.toml``: what a paper says in words.

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


def data_text(name: str) -> str:
    """Read the text of a data file of this package."""
    return (resources.files("optcp.papers.data") / name).read_text(encoding="utf-8")


@functools.cache
def tables() -> dict[str, Any]:
    """Return every printed value, by paper and table."""
    return tomllib.loads(data_text("tables.toml"))


@functools.cache
def ns2() -> dict[str, Any]:
    """Return what independent ns-2 runs gave, by paper and table: ``ns2.toml``, with the keys of :func:`tables`."""
    return tomllib.loads(data_text("ns2.toml"))


@functools.cache
def statements() -> tuple[Statement, ...]:
    """Return every claim, in file order."""
    entries = tomllib.loads(data_text("claims.toml"))["claim"]
    names = [one.name for one in fields(Statement)]
    return tuple(Statement(**{name: entry[name] for name in names}) for entry in entries)


def statements_of(exhibit: str) -> list[Statement]:
    """Return the claims of one exhibit, in file order."""
    return [statement for statement in statements() if statement.exhibit == exhibit]
