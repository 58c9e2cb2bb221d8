"""Papers and commands of installed packages.

Packages add papers by entry points of the group ``optcp.papers``, and commands by entry points of ``optcp.commands``.
The entry point of a paper has the name of the paper and refers to the package with its exhibits.
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
    """Return the entry points of a group, sorted by name, without importing them."""
    # Import late: this takes a quarter of the start-up time, and most commands need no entry point.
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def folders() -> dict[str, Path]:
    """Return the folder of each installed paper by name, without importing the papers."""
    found = {}
    for name, point in offered(PAPERS).items():
        spec = importlib.util.find_spec(point.module)
        if spec is not None and spec.origin is not None:
            found[name] = Path(spec.origin).parent
    return found
