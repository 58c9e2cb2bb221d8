"""Commands for finished studies: ``trace``, ``export``, ``report``, ``compare`` and ``plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp import export as export_forms
from optcp.cli import completion
from optcp.cli.options import CELL, DIRECTORY, FILE, PAPERS, Format, Whole, console, settings

if TYPE_CHECKING:
    from pathlib import Path

METRICS = completion.among(completion.metrics)
SEED = click.option("--seed", type=Whole(), help="Select the runs with this seed.")


@click.command()
@click.argument("directory", type=DIRECTORY, metavar="DIR")
@click.option(
    "--at", multiple=True, required=True, metavar="NAME=VALUE", help="Reference value of a swept parameter. Repeatable."
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    shell_complete=METRICS,
    help="Compare only this metric. Repeatable.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv"]),
    default="table",
    show_default=True,
    metavar="table|csv",
    help="Output format.",
)
@click.option("--all", "everything", is_flag=True, help="Print all rows of a long table.")
def compare(directory: Path, at: tuple[str, ...], metrics: tuple[str, ...], form: str, everything: bool) -> None:
    """Compare the metrics of a study with a reference value, seed by seed.

    All parameter combinations use the same seeds, so differences are computed per seed. If several parameters are
    swept, --at can fix some of them: each combination is then compared with the reference of equal other values.
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
    warned.show(warned.of_seeds(done), whole=True)
    if form == "csv":
        click.echo(found.csv(), nl=False)
        return
    from optcp.study.compared import show_comparison

    show_comparison(console(), found, None if everything else MOST_ROWS)


@click.command()
@click.argument("directory", type=DIRECTORY, metavar="DIR")
@click.option("--y", required=True, metavar="METRIC", shell_complete=METRICS, help="Metric to plot.")
@click.option("--x", metavar="NAME", help="Swept parameter on the x axis. [default: the first one with numbers]")
@click.option(
    "--by", metavar="NAME", help="Draw one curve per value of this parameter or label. [default: the only one left]"
)
@click.option("--at", multiple=True, metavar="NAME=VALUE", help="Fix another swept parameter. Repeatable.")
@click.option("--of", multiple=True, metavar="NAME", help="Draw only this group, port or reason. Repeatable.")
@click.option(
    "--minus", multiple=True, metavar="NAME=VALUE", help="Draw differences from this value, paired by seed. Repeatable."
)
@click.option("--columns", type=Whole(1, 2), default=1, show_default=True, help="Width in columns of an IEEE page.")
@click.option("--out", type=FILE, help="File .svg, .pdf or .png. [default: DIR/plots/METRIC-NAME.svg]")
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
    """Plot a metric of a study: means over the seeds with 95 % intervals."""
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
@click.argument("directory", type=DIRECTORY, metavar="DIR")
@CELL
@SEED
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Plot only this kind. Repeatable. [default: all]")
@click.option("--flow", "flows", multiple=True, metavar="FLOW", help="Plot only this flow, or `slowest`. Repeatable.")
@click.option("--port", "ports", multiple=True, metavar="PORT", help="Plot only this port, such as 'A->B'. Repeatable.")
@click.option("--from", "start", metavar="TIME", help="Start of the time axis, such as 4.9, 4.9s or 4900ms.")
@click.option("--to", "end", metavar="TIME", help="End of the time axis.")
@click.option("--out", type=FILE, help="File .png, .pdf or .svg, if there is only one plot.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["png", "pdf", "svg"]),
    metavar="png|pdf|svg",
    help="Format of all plots. [default: png]",
)
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
    """Plot what one run of a study recorded: windows, queues, drops, goodput.

    The plots go into DIR/plots. If the study has several runs, select one with --cell and --seed. KIND is tcp
    (windows), rtt (windows and RTTs over satellites), sequence (segments, ACKs and drops), completions, queue, sojourn,
    load, goodput, drops or marks.
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
@click.argument("directory", type=DIRECTORY, metavar="DIR")
@click.option(
    "--format",
    "form",
    type=Format(list(export_forms.FORMS)),
    required=True,
    metavar="|".join(export_forms.FORMS),
    help="Output format.",
)
@CELL
@SEED
def export(directory: Path, form: str, cells: tuple[str, ...], seed: int | None) -> None:
    """Convert results to CSV, Parquet, captures, ns-2 traces, timelines, logs or LaTeX.

    Files of a study go into DIR/export, files of an experiment next to its result. CSV has the tables of a study or the
    rows and curves of experiments. Parquet has rows and curves of experiments (studies are Parquet already). Recorded
    packets become captures for Wireshark (pcapng) or ns-2 traces (ns2). Timelines are for ui.perfetto.dev (perfetto),
    logs of senders for qvis (qlog). LaTeX has the table of each experiment.
    """
    for path, remark in export_forms.files(directory, form, export_forms.Chosen(settings("--cell", cells), seed)):
        click.echo(f"{path}{remark}")


@click.command()
@PAPERS
@click.argument("directory", type=DIRECTORY, metavar="DIR")
def report(directory: Path) -> None:
    """Write the HTML report of a study, or of experiments and sensitivity studies.

    The report is DIR/report/index.html.
    """
    from optcp.data.labelled import missing
    from optcp.report import build
    from optcp.web.playground import simulator

    click.echo(f"report: {build.write_report(directory, simulator())}")
    if bare := missing("matplotlib"):
        click.echo(f"the report has no figures: {bare}", err=True)


COMMANDS = (trace, export, report, compare, plot)
