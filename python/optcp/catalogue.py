"""Names that ``optcp list`` prints: catalogue, experiments, shipped scenarios, networks and satellites.

``optcp list profiles`` also prints the options of each TCP profile with their reasons.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from optcp import _core
from optcp.common.plurals import count_noun
from optcp.constellation import SHELLS, cities
from optcp.papers.registry import exhibits
from optcp.scenarios.shipped import scenarios
from optcp.scenarios.topologies import networks

if TYPE_CHECKING:
    from pathlib import Path

Families = dict[str, list[tuple[str, str]]]


def families() -> Families:
    """Return the names of each family with their descriptions."""
    found: Families = {"exhibits": [(id_, f"{one.title} ({one.where})") for id_, one in exhibits().items()]}
    found["scenarios"] = [(name, _title(path)) for name, path in scenarios().items()]
    for entry in _core.catalogue():
        source = f" [{entry['source']}]" if entry["source"] else ""
        found.setdefault(entry["family"], []).append((entry["name"], entry["summary"] + source))
    found["topologies"] = [
        (collection, f"{count_noun(len(names), 'network')}, such as {names[0]}: `optcp list {collection}`")
        for collection, names in networks().items()
    ]
    found["constellations"] = [(name, f"{one.summary} [{one.source}]") for name, one in SHELLS.items()]
    found["constellations"].append(("cities", f"{len(cities())} ground stations by name: `optcp list cities`"))
    return found


def collections() -> dict[str, list[str]]:
    """Return the lists that are too long for ``families``: the networks of each collection, and the cities."""
    width = max(map(len, cities()))
    places = [f"{name:<{width}}  {one.latitude_deg},{one.longitude_deg}" for name, one in cities().items()]
    return {**networks(), "cities": places}


def profile_lines() -> list[str]:
    """Return the TCP profiles: all options of the first, and the differences of the others, with reasons."""
    lines = []
    reference, *_ = profiles = _core.profiles()
    keys = [key for key, _, _ in reference["choices"]]
    values = [value for profile in profiles for _, value, _ in profile["choices"]]
    wide, wider = max(map(len, keys)), max(map(len, values))
    for profile in profiles:
        differs = "" if profile is reference else f"; differences from {reference['name']}"
        lines.append(f"{profile['name']}: {profile['summary']} [{profile['source']}]{differs}")
        lines += [f"  {key:<{wide}}  {value:<{wider}}  {why}" for key, value, why in profile["choices"]]
    return lines


def _title(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))
