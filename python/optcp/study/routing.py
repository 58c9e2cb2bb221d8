"""Terminal tables of backup routes and of the coverage of fast reroute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from optcp.common.terminal import show_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def show_backups(console: Console, backups: Iterable[dict[str, Any]]) -> None:
    """Print next hops and backups, one line per router and destination."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("router", "destination", "cost", "next hop", "backup", "found by", "protects"):
        table.add_column(name, justify="right" if name == "cost" else "left", no_wrap=name != "backup")
    for one in backups:
        found = (one["mechanism"] or "-", one["protects"] or "-")
        path = " ".join(one["backup"]) or "-"
        table.add_row(one["router"], one["destination"], str(one["cost"]), " ".join(one["next"]), path, *found)
    show_table(console, table)


def repairs(settings: Iterable[tuple[str, str]]) -> bool:
    """Return whether a scenario, by its settings, has a mechanism of fast reroute."""
    written = dict(settings)
    mechanism = written.get("routing.repair", "none")
    if mechanism.startswith("$"):
        mechanism = written.get(f"parameters.{mechanism[1:]}", mechanism)
    return mechanism != "none"


def show_coverage(console: Console, cells: Iterable[dict[str, int]]) -> None:
    """Print the share of destinations and links that fast reroute protects."""
    table = Table(box=None, pad_edge=False)
    heads = [
        "pairs",
        "protected",
        "of protectable pairs",
        "node protection",
        "through a tunnel",
        "links",
        "for all destinations",
    ]
    for name in heads:
        table.add_column(name, justify="right")
    # Parameter combinations that differ only in failures have equal coverage and share a line.
    for one in map(dict, dict.fromkeys(tuple(cell.items()) for cell in cells)):
        share = [_share(one[name], one["pairs"]) for name in ("protected", "node_protected", "tunnels")]
        share.insert(1, _share(one["protected"], one["protectable"]))
        table.add_row(str(one["pairs"]), *share, str(one["links"]), _share(one["links_protected"], one["links"]))
    if table.row_count:
        console.print("coverage of fast reroute: router-destination pairs, link directions", style="bold")
        show_table(console, table)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
