"""Node names of scenarios, made from names in files: no spaces, no duplicates."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from optcp.common import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.topology.model import Node

MOST_NOTED = 3
"""Maximum number of links and nodes in a note."""


def names_of(nodes: Sequence[Node]) -> list[str]:
    """Return the names of nodes in scenarios; valid labels stay unchanged."""
    wanted = [plain(node.label) or f"n{plain(node.id)}" for node in nodes]
    found = UsedNames()
    for name, node in zip(wanted, nodes, strict=True):
        if name == node.label:
            found.take(name)
    kept = set(found.taken)
    names = []
    for name, node in zip(wanted, nodes, strict=True):
        if name == node.label and name in kept:
            kept.remove(name)
        else:
            name = found.numbered(name) if found.has(name) else name  # noqa: PLW2901
            found.take(name)
        names.append(name)
    return names


def duplicates(nodes: Sequence[Node], names: Sequence[str]) -> list[str]:
    """Return a note on nodes with the same name in the file."""
    count = Counter(node.label for node in nodes)
    again = [
        f"{name} is called {node.label}"
        for node, name in zip(nodes, names, strict=True)
        if node.label and count[node.label] > 1 and name != node.label
    ]
    return [f"several nodes have the same name in the file: {few(again)}"] if again else []


def few(names: Sequence[str]) -> str:
    """Return the first names, quoted, and the number of the others."""
    more = f" and {len(names) - MOST_NOTED} more" if len(names) > MOST_NOTED else ""
    return ", ".join(f"`{rows.short(name)}`" for name in names[:MOST_NOTED]) + more


def plain(label: str) -> str:
    """Return a label with ``-`` for spaces, and without characters that names may not have."""
    return "".join(c for c in re.sub(r"\s+", "-", label.strip()) if c.isalnum() or c in "_-.")


def unique(labels: Iterable[str], default: str) -> dict[str, str]:
    """Return a valid name for each label; ``default`` replaces labels without a valid character."""
    used, names = UsedNames(), {}
    for label in dict.fromkeys(labels):
        name = plain(label)
        name = name if any(map(str.isalnum, name)) else default
        name = used.numbered(name) if used.has(name) else name
        used.take(name)
        names[label] = name
    return names


class UsedNames:
    """Used names in order, and next numbers for duplicates."""

    def __init__(self) -> None:
        self.taken: dict[str, None] = {}
        self._next: dict[str, int] = {}

    def has(self, name: str) -> bool:
        """Return whether a name is used."""
        return name in self.taken

    def take(self, name: str) -> None:
        """Mark a name as used."""
        self.taken[name] = None

    def numbered(self, name: str) -> str:
        """Return the name with the smallest free number from 2."""
        number = self._next.get(name, 2)
        while f"{name}-{number}" in self.taken:
            number += 1
        self._next[name] = number
        return f"{name}-{number}"
