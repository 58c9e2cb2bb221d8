"""Arguments that name a part of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.common import arguments
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def protections(entries: Sequence[Mapping[str, Any]], protection: str | int) -> list[int]:
    """Return the numbers of the entries that protect a group of flows, or the number itself."""
    if not entries:
        raise InputError("the scenario has no [[protection]]")
    if not isinstance(protection, str):
        return [arguments.whole(protection, "protection", 0, len(entries) - 1)]
    groups = [[found] if isinstance(found := entry.get("flows", []), str) else found for entry in entries]
    chosen = [number for number, names in enumerate(groups) if protection in names]
    if not chosen:
        every = {name for names in groups for name in names}
        raise InputError(f"no protection of flows {arguments.shown(protection)}; {nearest(protection, every)}")
    return chosen


def link_of(link: str | Sequence[str]) -> str | list[str]:
    """Return a link as in a scenario: its name, or its two nodes."""
    if isinstance(link, str):
        return link
    parts = arguments.texts(link, "link")
    return parts[0] if len(parts) == 1 else parts
