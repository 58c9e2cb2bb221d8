"""Command ``flows``: lists of flows from captures and connection lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli.options import Place
from optcp.common.plurals import count_noun
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.flows import Flow


@click.command()
@click.argument("file", type=Place(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@click.option("--out", type=Place(path_type=Path), metavar="LIST", help="CSV file to write. [default: print the list]")
@click.option(
    "--names",
    type=Place(path_type=Path, exists=True, dir_okay=False),
    metavar="CSV",
    help="File with a row `name,node` per name or address of FILE, as nodes are called in the scenario.",
)
@click.option("--protocol", type=click.Choice(["tcp", "udp"]), help="List only flows of this protocol.")
@click.option("--absolute", is_flag=True, help="Keep the times of a capture. [default: from the first packet]")
@click.option("--force", is_flag=True, help="Overwrite an existing LIST.")
def flows(file: Path, out: Path | None, names: Path | None, protocol: str | None, absolute: bool, force: bool) -> None:
    """Reduce a capture or connection list to the list of flows of a scenario.

    FILE is a capture (pcap or pcapng), a connection matrix of htsim, or a flow file of the ns-3 simulator of HPCC.
    `list` of `[[flows]]` or `[[traffic]]` names the result.
    """
    from optcp.common.files import write_bytes
    from optcp.flows import lists, read

    if out is not None and out.exists() and not force:
        raise InputError(f"{out} exists; use --force to overwrite it")
    found = read(file, absolute=absolute)
    listed = [flow for flow in found.flows if protocol in (None, flow.protocol)]
    notes = [*found.notes]
    if names is not None:
        known = _nodes(names)
        everything = len(listed)
        listed = list(_renamed(listed, known))
        if not listed and everything:
            raise InputError(f"{names}: no flow is between these names; {nearest(found.flows[0].source, known)}")
        if left := everything - len(listed):
            notes.append(f"{count_noun(left, 'flow')} of other nodes left out")
    content = lists.written(listed)
    if out is None:
        click.echo(content.decode(), nl=False)
    else:
        write_bytes(out, content)
    total = sum(flow.size_bytes for flow in listed)
    click.echo(f"{count_noun(len(listed), 'flow')}, {total:,} bytes", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _nodes(file: Path) -> dict[str, str]:
    """Return the node of each name of a CSV file."""
    from optcp.scenarios import topologies

    known: dict[str, str] = {}
    for number, fields in topologies.csv_rows(file.name, str(file), 2):
        if len(fields) != 2 or not all(fields):
            raise InputError(f"{file}, line {number}: expected `name,node`")
        if known.setdefault(fields[0], fields[1]) != fields[1]:
            raise InputError(f"{file}, line {number}: two nodes for `{fields[0]}`")
    return known


def _renamed(flows: Iterable[Flow], known: Mapping[str, str]) -> Iterable[Flow]:
    for flow in flows:
        source, destination = known.get(flow.source), known.get(flow.destination)
        if source is not None and destination is not None and source != destination:
            yield flow._replace(source=source, destination=destination)


COMMANDS = (flows,)
