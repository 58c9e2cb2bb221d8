"""Scenarios for the playground: file contents with references, and estimates of their size."""

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
"""Maximum number of packet-hops of a small scenario, which a browser simulates in about a second."""

MOST_ADDRESS = 12_000
"""Maximum number of characters of the fragment of a link."""

PICTURES = 80
"""Number of intervals of an added observation."""


def read(file: Path, settings: Mapping[str, str] | None = None) -> Start:
    """Return a scenario file for the page, with the contents of its references.

    Parameters
    ----------
    file
        Scenario file.
    settings
        Values by key path, as for ``--set``. With settings, the text is rewritten.

    Raises
    ------
    ScenarioError
        If the scenario is invalid.
    """
    library: dict[str, dict[str, Any]] = {}
    with answered(library):
        world = _core.Scenario.load(str(file), list((settings or {}).items()))
    return Start(file.name, world.to_toml() if settings else file.read_text(encoding="utf-8"), library)


def packet_hops(world: _core.Scenario) -> float:
    """Return an approximate upper bound on the number of packet-hops of a run, without a run.

    Each flow sends until the end of the run or of its file, at its equal share of the slowest link of its first path.
    Each packet has an ACK. Sources send at their configured rate. Randomly drawn flows count as one per path. The bound
    is infinite if no link of a path has a given rate.
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
    """Return the rates of ports, under both names of each port."""
    rates = {}
    for link in links:
        a, b = link["ends"]
        for port, way in ((f"{a}->{b}", "forward"), (f"{b}->{a}", "reverse")):
            rates[port] = rates[f"{link['name']}:{port}"] = link[way]["rate_bps"]
    return rates


def small(world: _core.Scenario) -> bool:
    """Whether a browser simulates the scenario within seconds, and it has TCP flows."""
    resolved = json.loads(world.resolved())
    return any(group.get("routes") for group in resolved["flows"]) and _packet_hops(resolved) <= MOST_HOPS


def observed(world: _core.Scenario, text: str) -> str:
    """Return the text of a scenario with all observations that the page draws, where possible."""
    resolved = json.loads(world.resolved())
    drawn = {"goodput": True, "tcp": False, "queue": True}
    if resolved.get("end_with_flows"):
        drawn = {"tcp": False}  # intervals need a known end of the run
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
    added = "# Added for the plots of the page; the run is the same."
    return "\n".join([text.rstrip("\n"), "", added, *lines[1:], ""])


def short(world: _core.Scenario, name: str) -> str:
    """Return the address of a scenario (see :func:`address`), or an empty text if it is large or names files.

    Parameters
    ----------
    world
        Scenario, to which the observations of the page are added.
    name
        File name on the page.
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
