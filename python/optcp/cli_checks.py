"""The verbs that check and measure the simulator: against other stacks, scripts and evidence, and its speed."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from optcp.errors import RunFailed
from optcp.options import COUNT, DASK, DIRECTORY, FILE, JOBS, POSITIVE, Alias, Whole, console, workers


@click.command()
@click.argument("cases", type=FILE)
@click.option("--out", type=FILE, required=True, help="Where the results go.")
def conformance(cases: Path, out: Path) -> None:
    """Run the single-flow cases of a JSON file, for comparison with what another stack did.

    A case that asks for something that does not exist is left out of the results and named; the status is then 1.
    """
    from optcp.conformance import conform
    from optcp.tables import show_outcomes

    outcomes, refused = conform(cases, out)
    show_outcomes(console(), outcomes)
    click.echo(f"results: {out}")
    if refused:
        raise RunFailed("\n".join(["these cases were refused:", *refused]))


@click.command()
@click.argument("scripts", type=FILE, nargs=-1, required=True, metavar="FILE.pkt...")
@click.option("--tolerance", type=Whole(0, 1_000_000), metavar="MS", help="What times may be off by. [default: 4]")
@click.option("--json", "out", type=FILE, help="Where the outcomes go as JSON too.")
def packetdrill(scripts: tuple[Path, ...], tolerance: int | None, out: Path | None) -> None:
    """Run packetdrill scripts against the simulated endpoint.

    A script that fails is shown with its line, what it expects and what happened; the status is then 1. One that
    asks for something that is not simulated is refused with the reason; the status is then 2.
    """
    from optcp.packetdrill import run as run_script
    from optcp.packetdrill import write
    from optcp.tables import counts, show_scripts

    tolerance_us = None if tolerance is None else 1000 * tolerance
    outcomes = [run_script(script, tolerance_us) for script in scripts]
    for outcome in outcomes:
        click.echo(outcome.message(), nl=False, err=True)
    show_scripts(console(), outcomes)
    words = [outcome.result for outcome in outcomes]
    click.echo(counts(words, ("ok", "failed", "refused")))
    if out:
        write(outcomes, out)
    raise click.exceptions.Exit(2 if "refused" in words else int("failed" in words))


class Experiments(click.Command):
    """A command whose help names the experiments, which are imported when somebody asks for it."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help, and what NAME may be."""
        from optcp.evidence import EXPERIMENTS

        super().format_help_text(ctx, formatter)
        *names, last = (one.name for one in EXPERIMENTS)
        text = f"NAME is an experiment: {', '.join(names)} or {last}; all by default."
        formatter.write_paragraph()
        # Names have hyphens, at which click would break lines.
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
    from optcp.evidence.run import evidence as run_experiments
    from optcp.evidence.run import select, write_page
    from optcp.files import check_directory
    from optcp.study.progress import for_console
    from optcp.tables import show_evidence

    check_directory(out)
    results = run_experiments(select(names), seeds, out, workers(jobs, dask), for_console(console(stderr=True)))
    if page is not None:
        write_page(page, results)
    for result in results:
        show_evidence(console(), result)
    if page is not None:
        click.echo(f"page: {page}")


@click.command()
@click.option("--repeat", type=POSITIVE, default=3, show_default=True, help="Runs of each size; medians are shown.")
def bench(repeat: int) -> None:
    """Measure the speed: a dumbbell of 10, 100 and 1000 flows by their TCP, a mesh, a fat-tree and other worlds."""
    from optcp.bench import ROWS, SIZES, WAYS, measure, measure_core, measure_in_one_run, measure_worlds
    from optcp.benchworlds import IN_ONE_RUN, WORLDS
    from optcp.tables import show_bench

    tables, notes = console(), console(stderr=True)
    rows = []
    for flows, seconds in SIZES:
        notes.print(f"{flows} flows, {seconds} s, {repeat} times with each of {'; '.join(ROWS)} ...")
        rows += measure(ROWS, flows, seconds, repeat)
    notes.print(f"{'; '.join(WORLDS)}, {repeat} times ...")
    worlds = measure_worlds(repeat)
    notes.print(f"{'; '.join(IN_ONE_RUN)}, {repeat} times with each of {'; '.join(WAYS)} ...")
    in_one_run = measure_in_one_run(repeat)
    notes.print(f"a core of burst switches (scenario burst-core), {repeat} times ...")
    show_bench(tables, rows, worlds, in_one_run, measure_core(repeat))


VERBS = (conformance, packetdrill, evidence, bench)
