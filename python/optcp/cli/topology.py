"""Commands ``topology show`` and ``topology convert``: contents of topology files, and other formats."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from optcp.cli import completion
from optcp.cli.options import Place
from optcp.common.plurals import count_noun
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.topology import Network

MOST_ROWS = 8
"""Number of links and demands that `show` prints without --all."""


@click.group()
def topology() -> None:
    """Show a network of a file or collection, and convert it to other formats.

    Formats are GML, GraphML (yEd, Topology Zoo), SNDlib (native and XML), and GNPy (JSON and spreadsheet). JSON files
    of RFC 8345, TAPI and TopoHub are read, too, and directories with links.csv.
    """


@topology.command()
@click.argument("network", metavar="FILE|NAME", shell_complete=completion.among(completion.networks))
@click.option("--json", "as_json", is_flag=True, help="Print the whole network as JSON.")
@click.option("--all", "whole", is_flag=True, help="Print every link and demand.")
def show(network: str, as_json: bool, whole: bool) -> None:
    """Print nodes, links, rates and demands of a network, with ignored attributes and assumptions."""
    from optcp.topology import find

    found = find(network)
    if as_json:
        click.echo(json.dumps(_document(found), indent=1, ensure_ascii=False))
        return
    click.echo("\n".join(_lines(network, found, None if whole else MOST_ROWS)))


@topology.command()
@click.argument("network", metavar="FILE|NAME", shell_complete=completion.among(completion.networks))
@click.argument("out", type=Place(path_type=Path), metavar="OUT")
@click.option(
    "--to",
    "name",
    metavar="FORMAT",
    shell_complete=completion.among(completion.topology_formats),
    help="Format: gml, graphml, sndlib-native, sndlib-xml, gnpy, rfc8345 or csv. [default: by the suffix of OUT]",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def convert(network: str, out: Path, name: str | None, force: bool) -> None:
    """Write a network in another format, and list the parts that the format does not hold.

    OUT is a file, or the directory of three CSV files.
    """
    from optcp.common.files import write_bytes
    from optcp.topology import find, writer

    found = find(network)
    form = writer(name, str(out))
    if form.write is None:
        raise InputError(f"format {form.name!r} is only read")
    if form.name == "csv" and (out.suffix or out.is_file()):
        raise InputError(f"{out}: CSV networks have three files; name a directory, such as {out.stem}")
    files = {out / file if file else out: content for file, content in form.write(form.kept(found)).items()}
    if not force and (there := [path for path in files if path.exists()]):
        raise InputError(f"{there[0]} exists; use --force to overwrite it")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
        click.echo(f"{path}")
    if lost := form.lost(found):
        click.echo(f"not in {form.title}: {'; '.join(lost)}", err=True)


def _lines(reference: str, found: Network, most: int | None) -> list[str]:
    from optcp.topology import FORMATS

    title = next((form.title for form in FORMATS if form.name == found.reading.format), found.reading.format)
    rows = {
        "network": reference + (f" ({found.name})" if found.name and not reference.endswith(found.name) else ""),
        "format": title,
        "nodes": f"{len(found.nodes)}, {sum(node.place is not None for node in found.nodes)} with coordinates",
        "links": _links(found),
        "rates": _rates(found),
        **_given(found),
        "demands": _demands(found),
    }
    wide = max(map(len, rows))
    lines = [f"{name:<{wide}}  {words}" for name, words in rows.items() if words]
    if links := _table(found, most):
        lines += ["", *links]
    for name, sentences in (
        ("ignored", found.reading.ignored),
        ("assumed", (*found.reading.assumed, *found.reading.notes)),
    ):
        lines += ["", f"{name}:", *(f"  {sentence}" for sentence in sentences or ("nothing",))]
    return lines


def _links(found: Network) -> str:
    total = found.total_km()
    without = sum(link.length_mm is None for link in found.links)
    lengths = f"{total:,.6g} km in all" if total is not None else f"{without} without a length"
    return f"{len(found.links)}, {lengths}"


def _rates(found: Network) -> str:
    from optcp.topology.units import rate_text

    rates = [rate for link in found.links for rate in link.rates if rate is not None]
    if not rates:
        names = ", ".join(f"`{name}`" for name in found.reading.rates)
        return f"none with a unit; attributes that look like rates: {names}" if names else "none"
    with_rate = sum(link.rates[0] is not None for link in found.links)
    low, high = rate_text(min(rates)), rate_text(max(rates))
    return f"{with_rate} of {count_noun(len(found.links), 'link')}, " + (low if low == high else f"{low} to {high}")


def _given(found: Network) -> dict[str, str]:
    """Return the number of links with each other value."""
    of = f"of {count_noun(len(found.links), 'link')}"
    counts = {
        "delays": sum(link.delays != (None, None) for link in found.links),
        "costs": sum(link.costs != (None, None) for link in found.links),
        "losses": sum(link.losses != (None, None) for link in found.links),
        "modules": sum(bool(link.modules) for link in found.links),
    }
    given = {name: f"{count} {of}" for name, count in counts.items() if count}
    if risks := {risk for link in found.links for risk in link.risks}:
        given["risks"] = f"{len(risks)}"
    if found.fibres:
        ducts = len({one.duct for one in found.fibres if one.duct})
        laid = sum(link.over is not None for link in found.links)
        given["fibres"] = f"{len(found.fibres)}, {count_noun(ducts, 'duct')}; {laid} {of} over them"
    if one_way := sum(link.directed for link in found.links):
        given["one-way"] = f"{one_way} {of}"
    return given


def _demands(found: Network) -> str:
    from optcp.topology.units import plain, rate_text

    if not found.demands:
        return "none"
    total = sum(demand.amount for demand in found.demands)
    with_unit = all(demand.volume_bps is not None for demand in found.demands)
    words = rate_text(int(total)) if with_unit else f"weights with the sum {plain(round(Decimal(total), 6))}"
    return f"{len(found.demands)}, {words}"


def _table(found: Network, most: int | None) -> list[str]:
    from optcp.topology.units import plain, rate_text

    rows = [("from", "to", "link", "rate", "length (km)", "cost")]
    for link in found.links[:most]:
        a, b = (found.nodes[end].name for end in link.ends)
        rates = [None if rate is None else rate_text(rate) for rate in link.rates]
        rate = rates[0] if rates[0] == rates[1] else f"{rates[0] or '-'} / {rates[1] or '-'}"
        length = "-" if link.length_mm is None else f"{link.length_mm / 1e6:.6g}"
        rows.append(
            (a, b, link.name or "-", rate or "-", length, "-" if link.costs[0] is None else plain(link.costs[0]))
        )
    if len(rows) == 1:
        return []
    wide = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{size}}" for cell, size in zip(row, wide, strict=True)).rstrip() for row in rows]
    more = len(found.links) - (len(rows) - 1)
    return lines + ([f"... {more} more; --all prints every link"] if more else [])


def _document(found: Network) -> dict[str, Any]:
    """Return a network for machines; values per direction are lists of two."""
    from optcp.topology.names import names_of
    from optcp.topology.units import plain

    def both(values: Sequence[Any]) -> list[Any]:
        return [value if value is None or isinstance(value, int) else float(plain(value)) for value in values]

    names = names_of(found.nodes)
    return {
        "format": found.reading.format,
        "network": found.name,
        "nodes": [
            {"name": node.name, "scenario_name": name, "place": node.place, "aliases": list(node.aliases)}
            for node, name in zip(found.nodes, names, strict=True)
        ],
        "links": [
            {
                "from": found.nodes[link.ends[0]].name,
                "to": found.nodes[link.ends[1]].name,
                "name": link.name,
                "rate_bps": both(link.rates),
                "length_km": None if link.length_mm is None else link.length_mm / 1e6,
                "delay_ps": both(link.delays),
                "cost": both(link.costs),
                "loss": both(link.losses),
                "risks": list(link.risks),
                "over": None if link.over is None else list(link.over),
                "one_way": link.directed,
                "modules": [{"capacity": float(one.capacity), "cost": float(one.cost)} for one in link.modules],
            }
            for link in found.links
        ],
        "fibres": [dataclasses.asdict(one) for one in found.fibres],
        "demands": [
            {
                "from": found.nodes[demand.ends[0]].name,
                "to": found.nodes[demand.ends[1]].name,
                "volume_bps": demand.volume_bps,
                "weight": None if demand.weight is None else float(demand.weight),
            }
            for demand in found.demands
        ],
        "ignored": list(found.reading.ignored),
        "assumed": [*found.reading.assumed, *found.reading.notes],
    }


COMMANDS = (topology,)
