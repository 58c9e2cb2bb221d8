"""Backup routes of a scenario, and the share of a network that they protect, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from optcp.common.terminal import show_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def show_backups(console: Console, backups: Iterable[dict[str, Any]]) -> None:
    """Print routes and backups, a line a router and destination."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("router", "destination", "cost", "next hop", "backup", "found by", "protects"):
        table.add_column(name, justify="right" if name == "cost" else "left", no_wrap=name != "backup")
    for one in backups:
        found = (one["mechanism"] or "-", one["protects"] or "-")
        way = " ".join(one["backup"]) or "-"
        table.add_row(one["router"], one["destination"], str(one["cost"]), " ".join(one["next"]), way, *found)
    show_table(console, table)


def show_coverage(console: Console, cells: Iterable[dict[str, int]]) -> None:
    """Print how much of a network fast reroute protects."""
    table = Table(box=None, pad_edge=False)
    heads = ["pairs", "protected", "of those that can be", "from the node", "by a tunnel", "links", "for all behind"]
    for name in heads:
        table.add_column(name, justify="right")
    # Cells that differ in what fails are protected alike.
    for one in map(dict, dict.fromkeys(tuple(cell.items()) for cell in cells)):
        share = [_share(one[name], one["pairs"]) for name in ("protected", "node_protected", "tunnels")]
        share.insert(1, _share(one["protected"], one["protectable"]))
        table.add_row(str(one["pairs"]), *share, str(one["links"]), _share(one["links_protected"], one["links"]))
    if table.row_count:
        console.print("coverage of fast reroute: pairs of router and destination, directions of links", style="bold")
        show_table(console, table)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
