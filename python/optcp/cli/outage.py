"""Command ``outage``: costs of the failures of a network."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli import completion
from optcp.cli.options import DIRECTORY, FILE, JOBS, console, pairs, workers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from optcp.outage.day import Day
    from optcp.outage.result import Result, TextTable

FAILURES = ("links", "nodes", "fibres", "ducts", "risks", "doubles")
ROUTINGS = ("shortest", "ecmp")
SENDERS = ("cubic", "bbr", "newreno")


@click.command()
@click.argument("network", metavar="NETWORK", shell_complete=completion.among(completion.networks))
@click.option(
    "--demands",
    type=FILE,
    help="CSV file with lines from,to,weight, or from,to,time,weight. [default: demands of the network, else gravity]",
)
@click.option("--time", metavar="HH:MM", help="Only this time of day of the demands. [default: each time]")
@click.option(
    "--mechanism",
    "mechanisms",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.among(completion.mechanisms),
    help="Recovery mechanism. Repeatable. [default: none, lfa, ti-lfa, local, 1:1, 1+1, 'restoration, 2 s'; for "
    "fibres: none, ti-lfa, 1+1, optical-protection, optical-restoration, ti-lfa+optical-restoration]",
)
@click.option(
    "--failures",
    type=click.Choice(FAILURES),
    metavar="KIND",
    help="Failures to simulate, one at a time: links, nodes, fibres or ducts with all links over them, risks (shared "
    "risks of the file), or doubles (two links, one after the other). Without ducts in the file, ducts are two links "
    "that leave a node in similar directions. [default: fibres if the file has them, else links]",
)
@click.option(
    "--routing",
    type=click.Choice(ROUTINGS),
    default="shortest",
    show_default=True,
    metavar="|".join(ROUTINGS),
    help="Paths of demands: shortest delay, or routers that split flows over all paths of equal cost (of the file, or "
    "else the delay).",
)
@click.option("--paths", type=FILE, help="CSV file with columns from,to,path: fixed working paths of demands.")
@click.option("settings", "--set", multiple=True, metavar="NAME=VALUE", help="Set an assumption. Repeatable.")
@click.option(
    "--sender",
    type=click.Choice(SENDERS),
    default="cubic",
    show_default=True,
    metavar="|".join(SENDERS),
    help="TCP of the long-lived flows.",
)
@click.option(
    "--out", type=DIRECTORY, metavar="DIR", help="Directory of the results. [default: results/outage-NETWORK]"
)
@JOBS
@click.option("--force", is_flag=True, help="Replace another study in the directory.")
def outage(
    network: str,
    demands: Path | None,
    time: str | None,
    mechanisms: tuple[str, ...],
    failures: str | None,
    routing: str,
    paths: Path | None,
    settings: tuple[str, ...],
    sender: str,
    out: Path | None,
    jobs: int | None,
    force: bool,
) -> None:
    """Measure what each failure of a network costs its transfers, by recovery mechanism.

    NETWORK is a name (`optcp list topologies`) or a topology file. DIR receives outage.json, a page (index.html) and a
    summary (outage.pdf). It also receives tables as CSV and in a spreadsheet (outage.xlsx, with openpyxl), and the
    runs, which later calls reuse. Assumptions that you do not set, such as rate_mbps, peak or detection_ms, have
    defaults, and a warning lists them.
    """
    import functools

    from optcp.common.files import check_directory
    from optcp.data.labelled import missing
    from optcp.outage.asked import OutageQuery
    from optcp.outage.day import Day
    from optcp.outage.made import make
    from optcp.scenarios import warned
    from optcp.study.progress import for_console

    target = out or Path("results") / f"outage-{Path(network).stem}"
    check_directory(target)
    asked = OutageQuery.by_time(
        network, str(demands) if demands else None, mechanisms, failures, pairs(settings), sender,
        ecmp=routing == "ecmp", paths=str(paths) if paths else None, time=time,
    )  # fmt: skip
    single = len(asked) == 1
    targets = {at: target if single else target / Day.directory(at) for at in asked}
    where = workers(jobs)
    warn = functools.partial(warned.show, whole=True)
    queries = {targets[at]: one for at, one in asked.items()}
    results = dict(
        zip(asked, make(queries, where, for_console(console(stderr=True)), warn=warn, force=force), strict=True)
    )
    given = [("--mechanism", one) for one in mechanisms] + [("--set", one) for one in settings]
    given += [("--demands", str(demands))] if demands else []
    given += [("--paths", str(paths))] if paths else []
    given += [("--failures", next(iter(asked.values())).failures), ("--routing", routing), ("--sender", sender)]
    written = []

    def command(at: str, directory: Path) -> str:
        options = [*given, *([("--time", at)] if at else []), ("--out", str(directory))]
        return shlex.join(["optcp", "outage", network, *itertools.chain.from_iterable(options)])

    for at, result in results.items():
        written += _write(targets[at], result, command(at, targets[at]))
    day = Day(results)
    _show(results[next(iter(results))].tables() if single else day.tables())
    if not single:
        written = [*_write_day(target, day, command("", target)), *targets.values()]
    click.echo("\n" + "\n".join(map(str, written)))
    if bare := missing("openpyxl"):
        click.echo(f"there is no spreadsheet: {bare}", err=True)
    if bare := missing("matplotlib"):
        click.echo(f"the page has no figure, and there is no summary as PDF: {bare}", err=True)


def _write(target: Path, result: Result, command: str) -> list[Path]:
    """Write the files of a result; return them."""
    from optcp.common.files import write_text
    from optcp.common.stored import with_checksum
    from optcp.data.labelled import missing
    from optcp.outage import tables
    from optcp.outage.listings import listings
    from optcp.report.outage import page

    written = [target / "outage.json", target / "index.html"]
    write_text(written[0], with_checksum(result.to_json()))
    write_text(written[1], page(result, command))
    written += tables.write(target, listings(result))
    if not missing("matplotlib"):
        from optcp.plots import outage_pdf

        outage_pdf.write(target / outage_pdf.NAME, result, command)
        written.append(target / outage_pdf.NAME)
    return written


def _write_day(target: Path, day: Day, command: str) -> list[Path]:
    """Write the files of a study by time of day; return them."""
    from optcp.common.files import write_text
    from optcp.common.stored import with_checksum
    from optcp.outage import tables
    from optcp.report.outage import day_page

    written = [target / "outage.json", target / "index.html"]
    write_text(written[0], with_checksum(day.to_json()))
    write_text(written[1], day_page(day, command))
    return [*written, *tables.write(target, day.listings())]


def _show(tables: Iterable[TextTable]) -> None:
    from rich.table import Table

    from optcp.common.terminal import show_table

    screen = console()
    for one in tables:
        screen.print(f"\n{one.title}", style="bold")
        table = Table(box=None, pad_edge=False, header_style="bold")
        for at, head in enumerate(one.heads):
            table.add_column(head, justify="right" if at else "left", no_wrap=True)
        for row in one.rows:
            table.add_row(*row)
        show_table(screen, table)
        screen.print(one.note, style="dim", soft_wrap=True)


COMMANDS = (outage,)
