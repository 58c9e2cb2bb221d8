"""Output of ``optcp validate --paths``: paths of flows, backup paths and ECMP choices."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table

from optcp.common.terminal import show_table
from optcp.scenarios.hashes import with_hashes
from optcp.scenarios.schedules import time

if TYPE_CHECKING:
    from rich.console import Console

    from optcp.scenarios.own_names import OwnNames

MOST_ROUTES = 100
"""Maximum number of successive routes printed per flow."""


def show_paths(
    console: Console, resolved: dict[str, Any], hashed: dict[str, Any] | None, seed: int, own: OwnNames
) -> None:
    """Print the paths with their flows, the backup paths with the links they protect, and the ECMP choices.

    ``hashed`` holds the ECMP choices of the run with this seed, or None without ECMP. ``own`` has the printed names.
    """
    resolved = with_hashes(resolved, hashed)
    rows: list[tuple[str, ...]] = []
    over: Counter[str] = Counter()
    for entry in [*resolved["flows"], *resolved.get("traffic", ())]:
        for route in entry["routes"]:
            flows, path = route["flows"], own.path(route["path"])
            name = flows[0] if len(flows) == 1 else f"{flows[0]} and {len(flows) - 1} more"
            rows.append((name, path + (" (routed)" if route.get("routed") else "")))
            over.update({port: len(flows) for port in route["ports"]})
    if rows:
        show_table(console, _table(("flow", "path"), rows))
    drawn = [one for one in resolved["flows"] if "drawn" in one]
    for entry in drawn:
        pairs = sum(len(route["flows"]) for route in entry["routes"])
        console.print(f"{entry['group']}: each run draws {entry['drawn']['count']} of these {pairs} flows")
    ends = {link["name"]: link["ends"] for link in resolved["links"]}
    backups: list[tuple[str, ...]] = [
        (_some(one["lsps"]) if "lsps" in one else one["flows"] or "(routed)", _around(one, ends, own),
         own.path(one["backup"]))
        for one in resolved["protection"]
    ]  # fmt: skip
    if backups:
        show_table(console, _table(("flows", "protected", "backup path"), backups))
    if len(over) > 1:
        (most, high), *_, (least, low) = over.most_common()
        mean = statistics.fmean(over.values())
        ports = f"maximum {high} ({own.port(most)}), minimum {low} ({own.port(least)})"
        console.print(f"flows per link: mean {mean:.1f}, {ports}")
    if hashed is not None:
        console.print(f"ECMP choices in the run with seed {seed}, data and ACKs")
        spread = _by_set(hashed["spread"])
        rows = [
            (own.node(router), str(to), "  ".join(f"{own.port(port)} {flows}" for port, flows in over))
            for router, to, over in spread
        ]
        if rows:
            show_table(console, _table(("router", "destinations", "flows by next hop"), rows))
        else:
            console.print("no flow traverses a router with several next hops of equal cost")


def show_routes(console: Console, written: dict[str, list[tuple[int, list[str]]]], own: OwnNames) -> None:
    """Print the routes of flows over time under explicit forwarding tables."""
    rows: list[tuple[str, ...]] = []
    for flow, routes in written.items():
        names = itertools.chain([flow], itertools.repeat(""))
        if len(routes) > 1:
            of_flow = zip(names, routes[:MOST_ROUTES], strict=False)
            rows += [(name, time(at_ps), own.path(nodes) or "none") for name, (at_ps, nodes) in of_flow]
        if len(routes) > MOST_ROUTES:
            rows.append(("", "", f"... and {len(routes) - MOST_ROUTES} more"))
    if rows:
        show_table(console, _table(("flow", "from", "route"), rows))


def _by_set(spread: list[tuple[str, str, list[tuple[str, int]]]]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Return, per router and set of next hops, the number of destinations and the flows per next hop."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    destinations: Counter[tuple[str, ...]] = Counter()
    for router, _, over in spread:
        key = (router, *(port for port, _ in over))
        destinations[key] += 1
        found.setdefault(key, Counter()).update(dict(over))
    return [(key[0], destinations[key], [(port, flows[port]) for port in key[1:]]) for key, flows in found.items()]


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _around(protection: dict[str, Any], ends: dict[str, list[str]], own: OwnNames) -> str:
    links, backup = protection["links"], protection["backup"]
    if not links:
        return f"{own.node(backup[0])} to {own.node(backup[-1])}"
    return ", ".join(own.link(name, *ends[name]) for name in links)


def _table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(*names, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
