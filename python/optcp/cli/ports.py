"""Output of ``optcp validate --ports``: rate, delay and queue of each port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from optcp.common.terminal import rate_text, show_table, size_text
from optcp.scenarios.schedules import time

if TYPE_CHECKING:
    from rich.console import Console


def show_ports(console: Console, resolved: dict[str, Any]) -> None:
    """Print the ports of a resolved scenario. A full queue in bytes also has the time that it takes to empty."""
    table = Table("port", "rate", "delay", "queue", "empties in", "discipline", box=None, pad_edge=False)
    for link in resolved["links"]:
        for direction, ends in (("forward", link["ends"]), ("reverse", link["ends"][::-1])):
            port = link[direction]
            between = "->".join(ends)
            name = between if link["name"] == "-".join(link["ends"]) else f"{link['name']}:{between}"
            limit, empties = "unlimited", ""
            if (octets := port.get("queue_bytes")) is not None:
                limit = size_text(octets)
                empties = time(round(octets * 8e12 / port["rate_bps"] / 1e6) * 10**6)
            elif port.get("queue_packets") is not None:
                limit = f"{port['queue_packets']} packets"
            delay = port["delay_ps"]
            drawn = time(delay) if isinstance(delay, int) else "drawn"
            kind = port.get("discipline", {}).get("kind", "drop-tail")
            table.add_row(name, rate_text(port["rate_bps"]), drawn, limit, empties, kind)
    show_table(console, table)
