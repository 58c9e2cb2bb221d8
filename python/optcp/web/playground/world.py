"""Worlds for the page: of scenario files, with what they refer to, and of those the small ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.scenarios.topologies import answered, use_files
from optcp.web.playground.page import Start, address

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_HOPS = 5e6
"""Packet-hops of a small world: a browser simulates so many in a second."""

MOST_ADDRESS = 12_000
"""Characters of what follows the page's name in a link."""

PICTURES = 80
"""Intervals of an observation that is added."""


def read(file: Path, settings: Mapping[str, str] | None = None) -> Start:
    """Return a scenario file as a world for the page, with all that it refers to.

    Parameters
    ----------
    file
        The scenario.
    settings
        Values by key path, as ``--set`` takes them. The text is the file's own only if there are none.

    Raises
    ------
    ScenarioError
        If it is wrong.
    """
    library: dict[str, dict[str, Any]] = {}
    with answered(library):
        world = _core.Scenario.load(str(file), list((settings or {}).items()))
    return Start(file.name, world.to_toml() if settings else file.read_text(encoding="utf-8"), library)


def packet_hops(world: _core.Scenario) -> float:
    """Return how many packet-hops a run has at most, about: an estimate from above, without a run.

    Every flow sends until the end with its share of the narrowest link of its first path, which all flows over that
    link have alike, or until its file is sent; each packet has an ACK; sources send as much as they are said to. Flows
    that come at random are one for each of their paths.
    Infinite where no link of a path has a rate of its own.
    """
    return _packet_hops(json.loads(world.resolved()))


def _packet_hops(resolved: Mapping[str, Any]) -> float:
    rates = _rates(resolved["links"])
    groups = [
        (group, route, len(route["flows"]) or 1) for group in resolved["flows"] for route in group.get("routes", ())
    ]
    users = Counter[str]()
    for _, route, flows in groups:
        users.update(dict.fromkeys(route["ports"], flows))
    found = 0.0
    for group, route, flows in groups:
        tcp = resolved["tcp"][group["tcp"]]
        share = min((rates[port] / users[port] for port in route["ports"] if port in rates), default=math.inf)
        packets = share * resolved["stop_ps"] / 8e12 / (tcp["mss_bytes"] + tcp["header_bytes"])
        found += 2 * flows * len(route["ports"]) * min(packets, group.get("size_segments") or math.inf)
    for source in resolved.get("traffic", ()):
        packets = source["packets_per_s"] * (source["until_ps"] - source["start_ps"]) / 1e12
        found += packets * sum(len(route["ports"]) for route in source["routes"])
    return found


def _rates(links: list[dict[str, Any]]) -> dict[str, int]:
    """Of ports, by both names that a port may have."""
    rates = {}
    for link in links:
        a, b = link["ends"]
        for port, way in ((f"{a}->{b}", "forward"), (f"{b}->{a}", "reverse")):
            rates[port] = rates[f"{link['name']}:{port}"] = link[way]["rate_bps"]
    return rates


def small(world: _core.Scenario) -> bool:
    """Whether a browser simulates it while its reader waits, and has TCP to show."""
    resolved = json.loads(world.resolved())
    return any(group.get("routes") for group in resolved["flows"]) and _packet_hops(resolved) <= MOST_HOPS


def observed(world: _core.Scenario, text: str) -> str:
    """Return the text of a world with an observation of each kind that the page draws and the world may have."""
    resolved = json.loads(world.resolved())
    drawn = {"goodput": True, "tcp": False, "queue": True}
    if resolved.get("end_with_flows"):
        drawn = {"tcp": False}  # nothing has intervals up to an end that nobody knows
    kinds = [one["kind"] for one in resolved["observe"]]
    taken = {one["name"] for one in resolved["observe"]}
    interval_us = max(1, int(float(f"{resolved['stop_ps'] / PICTURES / 1e6:.1g}")))
    unit, size = next(one for one in (("s", 10**6), ("ms", 10**3), ("us", 1)) if interval_us % one[1] == 0)
    lines = []
    for kind, has_interval in drawn.items():
        if kind not in kinds:
            name = kind
            while name in taken:
                name += "2"
            lines += ["", "[[observe]]", f'name = "{name}"', f'kind = "{kind}"']
            lines += [f'interval = "{interval_us // size} {unit}"'] * has_interval
    if not lines:
        return text
    added = "# Added for the pictures of the page; the run is the same."
    return "\n".join([text.rstrip("\n"), "", added, *lines[1:], ""])


def short(world: _core.Scenario, name: str) -> str:
    """Return the address of a world in the page (see :func:`address`), or nothing if it is not small or names files.

    Parameters
    ----------
    world
        The world, of which all is seen that the page draws.
    name
        What its file is called on the page.
    """
    if not small(world):
        return ""
    library: dict[str, dict[str, Any]] = {}
    text = observed(world, world.to_toml())
    try:
        with use_files({}), answered(library):
            _core.Scenario.parse(text, name)
    except _core.ScenarioError:
        return ""
    found = address(Start(name, text, library))
    return found if len(found) <= MOST_ADDRESS else ""
