"""Terminal output of ``bench``, ``conformance`` and ``packetdrill``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from optcp.common.terminal import STYLES, bounds, number, show_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from optcp.checks import bench
    from optcp.checks.conformance import Outcome
    from optcp.checks.packetdrill import Outcome as Script


def show_bench(
    console: Console,
    rows: Sequence[bench.Row],
    worlds: Sequence[bench.World],
    in_one_run: Sequence[bench.InOneRun],
    core: bench.Core,
) -> None:
    """Print the speed of the dumbbells, other scenarios, threads and the burst-switched core."""
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("TCP")
    heads = [
        "flows",
        "simu-\nlated",
        "M hops",
        "M hops\n/ CPU s",
        f"/ {rows[0].tcp}",
        "set-up",
        "run",
        "memory",
        "utili-\nsation",
        "events\n/ hop",
    ]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.tcp,
            str(row.flows),
            f"{row.seconds} s",
            f"{row.packet_hops / 1e6:.2f}",
            f"{row.hops_per_cpu_s / 1e6:.2f}",
            f"{row.relative:.2f}",
            f"{row.set_up_s * 1e3:.1f} ms",
            f"{row.cpu_s:.2f} s",
            f"{row.memory_mb:.1f} MiB",
            f"{row.utilisation:.3f}",
            f"{row.events_per_hop:.2f}",
        )
    show_table(console, table)
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("scenario")
    for head in ("M hops", "M hops\n/ CPU s", "set-up\nand run", "memory", "dropped", "events\n/ hop"):
        table.add_column(head, justify="right", no_wrap=True)
    for world in worlds:
        table.add_row(
            world.name,
            f"{world.packet_hops / 1e6:.2f}",
            f"{world.hops_per_cpu_s / 1e6:.2f}",
            f"{world.cpu_s:.2f} s",
            f"{world.memory_mb:.1f} MiB",
            str(world.dropped),
            f"{world.events_per_hop:.2f}",
        )
    show_table(console, table)
    show_table(console, _in_one_run(in_one_run))
    packets, requests = core.packets / 1e6, core.requests / 1e6
    console.print(
        f"core of burst switches, 14 nodes, 8 wavelengths, load 0.5: {core.cpu_s:.2f} s, {core.memory_mb:.1f} MiB; "
        f"{packets:.2f} M packets, {packets / core.cpu_s:.2f} M / CPU s; {requests:.3f} M wavelength requests, "
        f"{requests / core.cpu_s:.3f} M / CPU s, {core.lost / core.requests:.1%} blocked",
        soft_wrap=True,
    )


def _in_one_run(worlds: Sequence[bench.InOneRun]) -> Table:
    first, *others = worlds[0].ways
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("one run")
    heads = ["M hops", *(f"{way}\nns / hop" for way in worlds[0].ways), *(f"{first}\n/ {way}" for way in others)]
    for head in (*heads, f"{others[-1]}\nCPU", *(f"{way}\nmemory" for way in worlds[0].ways)):
        table.add_column(head, justify="right", no_wrap=True)
    for world in worlds:
        ways = world.ways.values()
        quotients = [
            Text(bounds((way.relative, *way.relative_ci95)) if way.relative_ci95 else number(way.relative))
            for way in (world.ways[other] for other in others)
        ]
        table.add_row(
            world.name,
            f"{world.packet_hops / 1e6:.2f}",
            *(f"{way.ns_per_hop:.1f}" for way in ways),
            *quotients,
            f"{world.ways[others[-1]].cpu_s:.2f} s",
            *(f"{way.memory_mb:.1f} MiB" for way in ways),
        )
    return table


def show_outcomes(console: Console, outcomes: Iterable[Outcome]) -> None:
    """Print the results of conformance cases; "-" for incomplete transfers."""
    table = Table(box=None, pad_edge=False)
    table.add_column("case", no_wrap=True)
    for name in ("completed (s)", "transmissions", "retransmissions", "RTOs"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in outcomes:
        completed = "-" if one.completion_s is None else f"{one.completion_s:.6f}"
        table.add_row(Text(one.name), completed, str(one.transmissions), str(one.retransmissions), str(one.timeouts))
    show_table(console, table)


def show_scripts(console: Console, outcomes: Iterable[Script]) -> None:
    """Print the results of packetdrill scripts."""
    table = Table(box=None, pad_edge=False)
    for name in ("result", "script", "line"):
        table.add_column(name, no_wrap=True)
    for one in outcomes:
        result = Text(one.result, style=STYLES[one.result])
        table.add_row(result, Text(one.file), "" if one.line is None else str(one.line))
    show_table(console, table)
