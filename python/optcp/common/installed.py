"""What installed packages add to optcp: papers, and commands.

An installed package offers a paper by an entry point of the group ``optcp.papers``, and a command by one of the group
``optcp.commands``. A paper's name is that of the entry point, its object the package with the exhibits.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PAPERS = "optcp.papers"
COMMANDS = "optcp.commands"


@functools.cache
def offered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, in the order of their names; nothing is imported."""
    # A quarter of the time in which a command starts; most commands need no entry point.
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def folders() -> dict[str, Path]:
    """Return the folder of each installed paper by the paper's name; papers are not imported for that."""
    found = {}
    for name, point in offered(PAPERS).items():
        spec = importlib.util.find_spec(point.module)
        if spec is not None and spec.origin is not None:
            found[name] = Path(spec.origin).parent
    return found
