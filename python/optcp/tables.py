"""Results as tables on the terminal."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from optcp.evidence import outside, page
from optcp.labelled import censored
from optcp.papers.judge import word
from optcp.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console
    from rich.table import Column

    from optcp import bench
    from optcp.compare import Comparison
    from optcp.conformance import Outcome
    from optcp.evidence import base as evidence
    from optcp.packetdrill import Outcome as Script
    from optcp.papers.model import Claim, Holds, Result, Row

WIDEST = 10_000
"""Letters a line that no table needs."""

MOST_STUDIES = 3
"""That are named where the size of an exhibit is said."""

FOLDED = 4
"""Letters a line that a folded key or metric keeps at least."""

STYLES = {
    "match": "green",
    "near": "yellow",
    "differs": "red",
    "undecided": "magenta",
    "claim-only": "dim",
    "true": "green",
    "false": "red",
    "ok": "green",
    "failed": "red",
    "refused": "yellow",
}


def show_result(console: Console, result: Result) -> None:
    """Print an exhibit: its rows, its claims, what was assumed."""
    console.print()
    console.print(Text(f"{result.exhibit}  {result.title}", style="bold"))
    console.print(Text(f"{result.source['where']}; {size_text(result)}", style="dim"))
    if result.rows:
        show_table(console, _rows(result.rows))
        for why in dict.fromkeys(row.why for row in result.rows if row.why):
            console.print(Text.assemble(("differs", STYLES["differs"]), f"  {why}"))
    if result.claims:
        console.print(_claims(result))
    console.print(Text(assumed_text(result), style="dim"))
    for note in result.notes:
        console.print(Text(note, style="dim"))


def size_text(result: Result) -> str:
    """Say how many runs are behind a result, and how many the paper had."""
    name, paper_runs = result.size["name"], result.size["paper_runs"]
    theirs = "" if paper_runs is None else f"; the paper had {many(paper_runs, 'run')}"
    if result.provenance["seeds"] is None:
        return f"size {name}: no runs{theirs}"
    counts: dict[int, list[str]] = {}
    for study, count in result.size["seeds"].items():
        if count:
            counts.setdefault(count, []).append(study)
    parts = [
        f"{many(count, 'seed')} "
        + (f"of each of {len(of)} studies" if len(of) > MOST_STUDIES else f"({', '.join(of)})")
        for count, of in counts.items()
    ]
    if kept := len(result.provenance.get("kept", [])):
        parts.append(f"{many(kept, 'run')} stored with the project")
    first, last = result.provenance["seeds"]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    return f"size {name}: {', '.join(parts)}, {seeds}{theirs}"


def assumed_text(result: Result) -> str:
    """List the paper's unstated parameters with the assumed values, and what ``--set`` changed."""
    text = "assumed: " + ", ".join(f"{name} = {value}" for name, value in result.assumed.items())
    if result.changed:
        changed = ", ".join(f"{name} (default {value})" for name, value in result.changed.items())
        text += f"; changed by --set: {changed}"
    return text


def number(value: float | None) -> str:
    """Write a value with two decimals; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}"


def measured(row: Row) -> str:
    """Write the measured value of a row; one that the end of runs cuts by its bound."""
    if row.at_least is not None:
        return f"> {number(row.at_least)}"
    return number(row.measured) if row.at_most is None else f"< {number(row.at_most)}"


def bounds(values: Sequence[float | None]) -> str:
    """Write an estimate with the ends of its interval."""
    centre, low, high = (number(value) for value in values)
    return f"{centre} [{low}, {high}]"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval; a dash for an end that one run cannot give, or for both."""
    if low is None and high is None:
        return "-"
    return f"[{number(low)}, {number(high)}]"


def show_table(console: Console, table: Table) -> None:
    """Print a table without cutting any text short.

    It has its own width, however wide that is. On a terminal that is too narrow the columns that may wrap are folded,
    to no less than ``FOLDED`` letters, and the others stay whole.
    """
    table.width = console.measure(table, options=console.options.update(max_width=WIDEST)).maximum
    if console.is_terminal and table.width > console.width:
        columns = [column for column in table.columns if not column.no_wrap]
        spare = sum(max(_letters(column) - FOLDED, 0) for column in columns)
        table.width = max(console.width, table.width - spare)
        for column in columns:
            column.overflow, column.justify = "fold", "left"
            column.header = str(column.header).replace("_", "_\n")
    console.print(table, crop=False)


def _letters(column: Column) -> int:
    return max(cell_len(str(text)) for text in (column.header, *column.cells))


def _rows(rows: Sequence[Row]) -> Table:
    keys = list(dict.fromkeys(name for row in rows for name in row.key))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in keys:
        table.add_column(name, justify="right")
    table.add_column("metric")
    for name in ("printed", "measured", "95 % interval", "n"):
        table.add_column(name, no_wrap=True, justify="right")
    table.add_column("verdict", no_wrap=True)
    for row in rows:
        table.add_row(
            *(str(row.key.get(name, "")) for name in keys),
            row.metric,
            number(row.paper),
            measured(row),
            interval(*row.ci95),
            str(row.n),
            Text(row.verdict, style=STYLES[row.verdict]),
        )
    return table


def _claims(result: Result) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("holds", no_wrap=True)
    table.add_column("claim (evidence: in the JSON file and the report)", overflow="fold")
    for claim in result.claims:
        readings = ", ".join(f"{name}: {word(holds)}" for name, holds in claim.readings.items())
        text = Text(claim.text)
        text.append(f"  {claim.where}; {readings}", style="dim")
        if ended := ended_text(result, claim):
            text.append(f"; {ended}", style="dim")
        table.add_row(_chip(claim.holds), text)
    return table


def ended_text(result: Result, claim: Claim) -> str:
    """Say with how many seeds a claim was decided, or why it is not; nothing where neither is known."""
    if "until_decided" not in result.size:
        return "interpretations disagree" if claim.disagrees else ""
    stage, seeds = (result.size["until_decided"]["claims"][claim.id][key] for key in ("stage", "seeds"))
    # Elsewhere the number of seeds bears on nothing.
    return f"{stage} at {seeds} seeds" if stage in ("decided", "bound reached") else stage


def _chip(holds: Holds) -> Text:
    return Text(word(holds), style=STYLES[word(holds)])


def counts(words: Iterable[str], order: Sequence[str]) -> str:
    """Count words, in a fixed order: "3 match, 1 differs"."""
    found = list(words)
    return ", ".join(f"{found.count(name)} {name}" for name in order if name in found)


def show_bench(
    console: Console,
    rows: Sequence[bench.Row],
    worlds: Sequence[bench.World],
    in_one_run: Sequence[bench.InOneRun],
    core: bench.Core,
) -> None:
    """Print the speed of each size and TCP of the workload, of other worlds, of threads, and of the core of bursts."""
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
    table.add_column("world")
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
        f"{packets:.2f} M packets, {packets / core.cpu_s:.2f} M / CPU s; {requests:.3f} M requests for a wavelength, "
        f"{requests / core.cpu_s:.3f} M / CPU s, {core.lost / core.requests:.1%} in vain",
        soft_wrap=True,
    )


def _in_one_run(worlds: Sequence[bench.InOneRun]) -> Table:
    first, *others = worlds[0].ways
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("in one run")
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


def show_evidence(console: Console, result: evidence.Result) -> None:
    """Print what an experiment found beside what is known outside."""
    console.print()
    console.print(Text(f"{result.experiment}  {result.title}", style="bold"))
    headings = page.columns(result)
    # A table a variant: its column would leave no room for the others on a terminal.
    shown = [index for index, heading in enumerate(headings) if heading != "variant"]
    for variant, rows in itertools.groupby(result.rows, lambda row: row.key.get("variant")):
        if variant is not None:
            console.print(Text(variant, style="bold"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for index in shown:
            names = headings[index] in result.rows[0].key
            table.add_column(headings[index], justify="left" if names else "right", no_wrap=names)
        for row in rows:
            cells = page.line(result, row)
            table.add_row(*(Text(cells[index]) for index in shown))
        show_table(console, table)
    for source in page.sources(result):
        console.print(Text(f"{source}: {outside.sources()[source]}", style="dim"))


def show_outcomes(console: Console, outcomes: Iterable[Outcome]) -> None:
    """Print what conformance cases did; a dash where a transfer did not complete."""
    table = Table(box=None, pad_edge=False)
    table.add_column("case", no_wrap=True)
    for name in ("completed (s)", "transmissions", "retransmissions", "timeouts"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in outcomes:
        completed = "-" if one.completion_s is None else f"{one.completion_s:.6f}"
        table.add_row(Text(one.name), completed, str(one.transmissions), str(one.retransmissions), str(one.timeouts))
    show_table(console, table)


def show_comparison(console: Console, comparison: Comparison, most: int | None) -> None:
    """Print a paired comparison: a row a metric and cell, each in the unit that its size asks for."""
    where = ", ".join(f"{name} = {value}" for name, value in comparison.at.items())
    console.print(
        Text(f"against {where}, paired by seed; p is not corrected for the number of rows", style="bold"),
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("metric", "unit", *comparison.common, *(["of"] if comparison.differing else [])):
        table.add_column(name)
    for name in ("here", "there", "difference", "95 % interval", "%", "p", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    units = comparison.units()
    for row in comparison.rows[:most]:
        largest = max(abs(row.value_at_least), abs(row.reference_at_least))
        factor, unit = units[row.metric]

        def text(value: float, factor: float = factor, largest: float = largest) -> str:
            return digits(value / factor, largest / factor)

        here = censored(row.value, row.value_at_least, text)
        there = censored(row.reference, row.reference_at_least, text)
        gap, low, high = (text(value) for value in (row.difference, row.low, row.high))
        table.add_row(
            Text(row.metric), Text(unit), *(Text(row.cell[name]) for name in comparison.common),
            *([Text(" ".join(row.cell[name] for name in comparison.differing if name in row.cell))]
              if comparison.differing else []),
            here, there, gap, Text("-" if low == "-" else f"[{low}, {high}]"),
            digits(row.relative_pct, 100), p_text(row.p), str(row.n),
        )  # fmt: skip
    show_table(console, table)
    if names := list(dict.fromkeys(row.metric for row in comparison.rows if row.censored)):
        console.print(
            f"{', '.join(names)}: the end of the run cuts values, so means have a lower bound only and no difference; "
            "compare a quantile that all runs reach, or end the runs later",
            soft_wrap=True,
        )
    left = len(comparison.rows) - table.row_count
    if left:
        console.print(f"and {left} more rows: --all shows them, --metric NAME those of one metric")


def digits(value: float, beside: float) -> str:
    """Write a number with four digits; zero where it is but the rounding of numbers as large as ``beside``."""
    if not math.isfinite(value):
        return "-"
    if abs(value) < 1e-12 * beside:
        return "0"
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def p_text(p: float) -> str:
    """Write a p-value with two digits; what is very small as a bound."""
    return "-" if math.isnan(p) else "<0.001" if p < 0.001 else f"{p:.2g}"


def show_scripts(console: Console, outcomes: Iterable[Script]) -> None:
    """Print how packetdrill scripts ended."""
    table = Table(box=None, pad_edge=False)
    for name in ("result", "script", "line"):
        table.add_column(name, no_wrap=True)
    for one in outcomes:
        result = Text(one.result, style=STYLES[one.result])
        table.add_row(result, Text(one.file), "" if one.line is None else str(one.line))
    show_table(console, table)


def rate_text(bps: float) -> str:
    """Write a rate in bits a second with its unit."""
    if not math.isfinite(bps):
        return "-"
    for factor, unit in ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")):
        if abs(bps) >= factor:
            return f"{bps / factor:.3f} {unit}"
    return f"{bps:.0f} bps"
