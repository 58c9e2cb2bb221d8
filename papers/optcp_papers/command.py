"""Command ``optcp evidence``."""

import textwrap
from pathlib import Path

import click

from optcp.cli.options import COUNT, DASK, DIRECTORY, FILE, JOBS, Alias, console, workers


class Experiments(click.Command):
    """Command whose help lists the experiments, which are only imported for the help."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help, and the valid values of NAME."""
        from optcp_papers.evidence import EXPERIMENTS

        super().format_help_text(ctx, formatter)
        *names, last = (experiment.name for experiment in EXPERIMENTS)
        text = f"NAME is an experiment: {', '.join(names)} or {last}; all by default."
        formatter.write_paragraph()
        # Click would break lines at the hyphens of names.
        formatter.write(textwrap.indent(textwrap.fill(text, formatter.width - 2, break_on_hyphens=False), "  ") + "\n")


@click.command(cls=Experiments)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--seeds",
    cls=Alias,
    also="--runs",
    type=COUNT,
    help="Runs of each cell. [default: the experiment's own number]",
)
@click.option(
    "--out", type=DIRECTORY, default=Path("results/evidence"), show_default=True, help="Where results and runs go."
)
@JOBS
@DASK
@click.option("--write-page", "page", type=FILE, help="Store the results beside this page and write it anew.")
def evidence(
    names: tuple[str, ...], seeds: int | None, out: Path, jobs: int | None, dask: str | None, page: Path | None
) -> None:
    """Compare the model of TCP with evidence from outside: long runs, recorded cases.

    Stored runs are used again.
    """
    from optcp.common.files import check_directory
    from optcp.study.progress import for_console
    from optcp_papers.evidence.run import evidence as run_experiments
    from optcp_papers.evidence.run import select, write_page
    from optcp_papers.evidence.show import show_evidence

    check_directory(out)
    results = run_experiments(select(names), seeds, out, workers(jobs, dask), for_console(console(stderr=True)))
    if page is not None:
        write_page(page, results)
    for result in results:
        show_evidence(console(), result)
    if page is not None:
        click.echo(f"page: {page}")
