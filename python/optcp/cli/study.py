"""The verbs of what is finished: pictures, other forms, comparisons, figures and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp import export as export_forms
from optcp.cli import completion
from optcp.cli.options import CELL, DIRECTORY, FILE, PAPERS, Whole, console, settings

if TYPE_CHECKING:
    from pathlib import Path

METRICS = completion.among(completion.metrics)
SEED = click.option("--seed", type=Whole(), metavar="N", help="Runs with this seed.")


@click.command()
@click.argument("directory", type=DIRECTORY)
@click.option("--at", multiple=True, required=True, metavar="AXIS=VALUE", help="The cell to compare with; repeat.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    shell_complete=METRICS,
    help="Only this metric; may be repeated.",
)
@click.option("--format", "form", type=click.Choice(["table", "csv"]), default="table", show_default=True)
@click.option("--all", "everything", is_flag=True, help="Print every row of a long table.")
def compare(directory: Path, at: tuple[str, ...], metrics: tuple[str, ...], form: str, everything: bool) -> None:
    """Compare every metric of the study in DIRECTORY with one cell, seed by seed.

    All cells use the same seeds, so differences are computed per seed. With several axes, name a value of each, or of
    some: along the others each cell has a reference of its own.
    """
    from optcp.data.labelled import MOST_ROWS
    from optcp.scenarios import warned
    from optcp.study import asked
    from optcp.study.done import StudyResult

    reference = dict(settings("--at", at))
    for name in metrics:
        asked.check_metric(name, "--metric")
    done = StudyResult.open(directory, lambda grid: asked.check_values(grid, "--at", reference))
    found = done.compare(at=reference, metrics=metrics or None)
    warned.show(warned.identical(done), whole=True)
    if form == "csv":
        click.echo(found.csv(), nl=False)
        return
    from optcp.study.compared import show_comparison

    show_comparison(console(), found, None if everything else MOST_ROWS)


@click.command()
@click.argument("directory", type=DIRECTORY)
@click.option("--y", required=True, metavar="METRIC", shell_complete=METRICS, help="What is drawn.")
@click.option("--x", metavar="AXIS", help="Along which axis. [default: the first one of numbers]")
@click.option("--by", metavar="AXIS", help="A curve for each of its values. [default: the only axis left]")
@click.option("--at", multiple=True, metavar="AXIS=VALUE", help="A value of another axis; may be repeated.")
@click.option("--of", multiple=True, metavar="NAME", help="Only this group, port or reason; may be repeated.")
@click.option(
    "--minus", multiple=True, metavar="AXIS=VALUE", help="Differences from this cell, paired by seed; repeat."
)
@click.option("--columns", type=Whole(1, 2), default=1, show_default=True, help="Width, of an IEEE page.")
@click.option("--out", type=FILE, help="A file .svg, .pdf or .png. [default: DIRECTORY/plots/METRIC-AXIS.svg]")
def plot(
    directory: Path,
    y: str,
    x: str | None,
    by: str | None,
    at: tuple[str, ...],
    of: tuple[str, ...],
    minus: tuple[str, ...],
    columns: int,
    out: Path | None,
) -> None:
    """Draw a metric of the study in DIRECTORY: means over the seeds with 95 % intervals."""
    from optcp.data.labelled import optional

    optional("matplotlib")
    from optcp.plots.study import Request, check, write
    from optcp.scenarios import warned
    from optcp.study.done import StudyResult

    asked = Request(y, x, by, dict(settings("--at", at)), of, dict(settings("--minus", minus)), columns)
    done = StudyResult.open(directory, lambda grid: check(grid, asked, out))
    click.echo(str(write(done, asked, out)))
    cut = [one for one in warned.unfinished(done) if y in one.message]
    warned.show([*warned.identical(done), *cut], whole=True)


@click.command()
@click.argument("directory", type=DIRECTORY)
@CELL
@SEED
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="What to draw; may be repeated. [default: all]")
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Only these flows; may be repeated.")
@click.option("--port", "ports", multiple=True, metavar="NAME", help="Only these ports: 'A->B'; may be repeated.")
@click.option("--from", "start", metavar="T", help="Start of the time axis: 4.9, 4.9s, 4900ms.")
@click.option("--to", "end", metavar="T", help="End of the time axis.")
@click.option("--out", type=FILE, help="File of the only picture: .png, .pdf or .svg.")
@click.option("--format", "form", type=click.Choice(["png", "pdf", "svg"]), help="Of all pictures. [default: png]")
def trace(
    directory: Path,
    cells: tuple[str, ...],
    seed: int | None,
    kinds: tuple[str, ...],
    flows: tuple[str, ...],
    ports: tuple[str, ...],
    start: str | None,
    end: str | None,
    out: Path | None,
    form: str | None,
) -> None:
    """Draw what a run of a study observed, into DIRECTORY/plots.

    DIRECTORY is what `optcp run` made; of several runs --cell and --seed choose one. KIND is tcp (windows over time),
    rtt (windows and round trips over satellites), sequence (segments, ACKs and drops over time), queue, sojourn, load,
    goodput, drops or marks.
    """
    from optcp.data.labelled import optional

    optional("matplotlib")
    from optcp.plots.trace.draw import check, draw
    from optcp.plots.trace.request import Request, seconds
    from optcp.study import StudyResult, choose

    asked = Request(kinds, flows, ports, seconds(start, "--from"), seconds(end, "--to"))
    check(asked, out, form)
    done = StudyResult.open(directory)
    run = choose.one(done, settings("--cell", cells), seed)
    for path, remark in draw(run, asked, done.store.written("plots"), out, form):
        click.echo(f"{path}{remark}")


@click.command()
@click.argument("directory", type=DIRECTORY)
@click.option("--format", "form", type=click.Choice(list(export_forms.FORMS)), required=True, help="What to write.")
@CELL
@SEED
def export(directory: Path, form: str, cells: tuple[str, ...], seed: int | None) -> None:
    """Write what is in DIRECTORY in another form: a study's into DIRECTORY/export, an exhibit's beside its result.

    csv: each table of a study, rows and curves of every exhibit. parquet: the same of exhibits; studies are Parquet
    already. pcapng, ns2: what runs observed of packets, as captures for Wireshark and as ns-2's trace. latex: the
    table of each exhibit.
    """
    for path, remark in export_forms.files(directory, form, export_forms.Chosen(settings("--cell", cells), seed)):
        click.echo(f"{path}{remark}")


@click.command()
@PAPERS
@click.argument("directory", type=DIRECTORY)
def report(directory: Path) -> None:
    """Write DIRECTORY/report/index.html: one page of the study in DIRECTORY.

    Where there are results of exhibits or sensitivity studies, it is a page of these.
    """
    from optcp.data.labelled import missing
    from optcp.report import build
    from optcp.web.playground import simulator

    click.echo(f"report: {build.write_report(directory, simulator())}")
    if bare := missing("matplotlib"):
        click.echo(f"the report has no figures: {bare}", err=True)


VERBS = (trace, export, report, compare, plot)
