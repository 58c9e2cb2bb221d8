"""``optcp validate --paths``: the path of every flow, its backups, and how flows spread over the links."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.table import Table

from optcp.tables import show_table

if TYPE_CHECKING:
    from rich.console import Console


def show_paths(console: Console, resolved: dict[str, Any]) -> None:
    """Print every path with its flows, every backup with what it is for, and the links with most and fewest flows."""
    rows: list[tuple[str, ...]] = []
    over: Counter[str] = Counter()
    for entry in [*resolved["flows"], *resolved.get("traffic", ())]:
        for route in entry["routes"]:
            flows, path = route["flows"], " ".join(route["path"])
            name = flows[0] if len(flows) == 1 else f"{flows[0]} and {len(flows) - 1} more"
            rows.append((name, path + (" (routed)" if route.get("routed") else "")))
            over.update({port: len(flows) for port in route["ports"]})
    if rows:
        show_table(console, _table(("flow", "path"), rows))
    drawn = [one for one in resolved["flows"] if "drawn" in one]
    for entry in drawn:
        pairs = sum(len(route["flows"]) for route in entry["routes"])
        console.print(f"{entry['group']}: each run draws {entry['drawn']['count']} of these {pairs}")
    backups: list[tuple[str, ...]] = [
        (one["flows"] if "lsps" not in one else _some(one["lsps"]), _around(one), " ".join(one["backup"]))
        for one in resolved["protection"]
    ]
    if backups:
        show_table(console, _table(("flows", "around", "backup"), backups))
    if len(over) > 1:
        (most, high), (least, low) = over.most_common(1)[0], over.most_common()[-1]
        mean = statistics.fmean(over.values())
        console.print(f"flows a link: {mean:.1f} on average, at most {high} ({most}), at least {low} ({least})")


def _some(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _around(protection: dict[str, Any]) -> str:
    links = protection["links"]
    return ", ".join(links) if links else f"{protection['backup'][0]} to {protection['backup'][-1]}"


def _table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(*names, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
