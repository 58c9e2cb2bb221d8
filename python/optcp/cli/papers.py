"""The verbs of papers: reproduce their exhibits, and vary what they leave unstated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli import completion
from optcp.cli.options import (
    COUNT,
    DASK,
    DIGEST,
    DIRECTORY,
    FORK,
    JOBS,
    PAPERS,
    SET,
    Alias,
    Whole,
    console,
    pairs,
    workers,
)
from optcp.common.plurals import count_noun
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command()
@PAPERS
@click.argument("exhibits", nargs=-1, metavar="[EXHIBIT]...", shell_complete=completion.among(completion.exhibits))
@click.option(
    "--seeds",
    cls=Alias,
    also="--runs",
    type=COUNT,
    help="Random cases of each study. [default: the paper's own number]",
)
@click.option("--quick", is_flag=True, help="Fewer random cases, or --seeds, and short runs; the result says how many.")
@click.option(
    "--paper-scale",
    is_flag=True,
    help="The paper's own number and length of runs: also makes those of hours that are not stored with the project.",
)
@click.option(
    "--until-decided",
    is_flag=True,
    help="Add seeds in stages, up to --most, until each claim and value is decided.",
)
@click.option(
    "--most",
    type=Whole(min=2, max=1000),
    metavar="N",
    help="With --until-decided: at most N times the default number of seeds. [default: 8]",
)
@click.option("--first-seed", type=Whole(min=0), default=1, show_default=True, help="The first seed.")
@SET
@click.option("--out", type=DIRECTORY, default=Path("results"), show_default=True, help="Where results go.")
@JOBS
@DASK
@DIGEST
@FORK
@click.option("--check", is_flag=True, help="Compare the verdicts with the committed baseline; exit 3 on a change.")
@click.option("--write-baseline", is_flag=True, help="Make these verdicts the baseline.")
def reproduce(
    exhibits: tuple[str, ...],
    seeds: int | None,
    quick: bool,
    paper_scale: bool,
    until_decided: bool,
    most: int | None,
    first_seed: int,
    settings: tuple[str, ...],
    out: Path,
    jobs: int | None,
    dask: str | None,
    digest: bool,
    fork: bool,
    check: bool,
    write_baseline: bool,
) -> None:
    """Re-run experiments of the papers and compare with the printed values.

    EXHIBIT is one of `optcp list exhibits`, or a paper for all of its exhibits; all by default.
    """
    from optcp.common.files import check_directory
    from optcp.data import labelled
    from optcp.papers import baseline, until
    from optcp.papers.assume import named
    from optcp.papers.options import Options, Size
    from optcp.papers.registry import select
    from optcp.papers.reproduce import Request, check_settings, make_long_runs
    from optcp.papers.reproduce import reproduce as run_exhibits
    from optcp.papers.show import show_result
    from optcp.report import build
    from optcp.scenarios.scenario import check_seed
    from optcp.study.progress import for_console
    from optcp.web.playground import simulator

    check_directory(out)
    if quick and paper_scale:
        raise click.UsageError("--quick does not go with --paper-scale")
    if (check or write_baseline) and (settings or first_seed != 1):
        raise click.UsageError("the baseline is of the default parameters and seeds: no --set, no --first-seed")
    if until_decided and (quick or paper_scale or seeds):
        raise click.UsageError("--until-decided begins with the default size: no --quick, --seeds or --paper-scale")
    if most and not until_decided:
        raise click.UsageError("--most goes with --until-decided")
    most = most or 8
    size = until.size(most) if until_decided else Size.asked(quick, None if paper_scale else seeds)
    request = Request(select(exhibits), size, first_seed, pairs(settings), Options(digest, fork))
    check_settings(request)
    tables, messages = console(), console(stderr=True)
    where = workers(jobs, dask)
    known = baseline.stored()
    if check:
        missing = baseline.missing(known, [one.id for one in request.exhibits], size.name)
        _say_missing(missing, len(request.exhibits), size.name)
    with named(request.settings):
        if paper_scale:
            check_seed(first_seed + (seeds or 1) - 1)
            for left in make_long_runs(request, seeds or 1, where, for_console(messages)):
                click.echo(f"{left.file.stem}: left to the process that holds {left.lock}", err=True)
        todo = (out, where, for_console(messages))
        results = until.reproduce(request, most, *todo, _remark) if until_decided else run_exhibits(request, *todo)
    for result in results:
        show_result(tables, result)
    if write_baseline:
        baseline.renew(results)
    changed = [line for result in results for line in baseline.changes(known, result)] if check else []
    for line in changed:
        click.echo(line, err=True)
    # The report is of everything in the directory, of which something older may be damaged: it comes last.
    page = build.write_report(out, simulator())
    tables.print(f"\nreport: {page}", highlight=False, soft_wrap=True)
    if bare := labelled.missing("matplotlib"):
        click.echo(f"the report has no figures: {bare}", err=True)
    if changed:
        raise click.exceptions.Exit(3)


@click.command()
@PAPERS
@click.argument("exhibit", shell_complete=completion.among(completion.exhibits))
@click.option(
    "--over", multiple=True, metavar="KEY[=RANGE]", help="Vary only this, over its own or this range; repeat."
)
@SET
@click.option("--samples", type=COUNT, default=32, show_default=True, help="N of the design, a power of two.")
@click.option(
    "--seeds",
    cls=Alias,
    also="--runs",
    type=COUNT,
    default=10,
    show_default=True,
    help="Random cases of each setting.",
)
@click.option(
    "--confirm",
    is_flag=True,
    help="Run compatible settings again, on other seeds, with up to as many random cases as the paper had.",
)
@click.option("--out", type=DIRECTORY, default=Path("results"), show_default=True, help="Where results go.")
@JOBS
@DASK
def sensitivity(
    exhibit: str,
    over: tuple[str, ...],
    settings: tuple[str, ...],
    samples: int,
    seeds: int,
    confirm: bool,
    out: Path,
    jobs: int | None,
    dask: str | None,
) -> None:
    """Say which unstated parameter drives the result of EXHIBIT, and which settings give the printed values.

    All parameters for which the exhibit declares a plausible range are varied together, in N (k + 2) settings for k
    parameters. RANGE is LOW..HIGH, 'LOW..HIGH log' or ONE|OTHER|... . Stored runs are used again.
    """
    import time

    from optcp.common.files import check_directory, write_text
    from optcp.common.stored import with_checksum
    from optcp.data.labelled import missing
    from optcp.papers.registry import select
    from optcp.papers.sensitivity import confirm as again
    from optcp.papers.sensitivity import study
    from optcp.papers.sensitivity.result import result as analyse
    from optcp.papers.sensitivity.show import show
    from optcp.papers.sensitivity.space import space
    from optcp.study.progress import Counted, for_console

    check_directory(out)
    chosen = select([exhibit])
    if len(chosen) != 1:
        raise InputError(f"{exhibit} is a paper; name one of its exhibits: {', '.join(one.id for one in chosen)}")
    ranges = {key.strip(): text.strip() for key, _, text in (one.partition("=") for one in over)}
    fixed = pairs(settings)
    request = study.Request(chosen[0], space(chosen[0], ranges, fixed), samples, seeds, fixed)
    messages = console(stderr=True)
    began = time.monotonic()
    progress = Counted(for_console(messages))
    todo = (out, workers(jobs, dask), progress, messages.print)
    finished = study.run(request, *todo)
    found = analyse(finished, again.confirm(finished, *todo) if confirm else None)
    took_s = time.monotonic() - began
    path = out / "sensitivity" / f"{chosen[0].id}.json"
    write_text(path, with_checksum(found.to_json()))
    show(console(), found)
    made, runs = progress.runs, found.design["runs"]
    click.echo(
        f"\n{made} of {count_noun(runs, 'run')} simulated in {took_s:.0f} s, analysis included: "
        f"{made / took_s:.0f} runs/s"
    )
    click.echo(f"{path}")
    if bare := missing("matplotlib"):
        click.echo(f"no figures: {bare}", err=True)
        return
    from optcp.plots.sensitivity import draw

    for file in draw(found, path.parent, path.stem):
        click.echo(f"{file}")


def _say_missing(missing: Sequence[str], asked: int, size: str) -> None:
    """Say what ``--check`` cannot compare; comparing nothing at all is not a check."""
    if len(missing) == asked:
        raise InputError(f"--check: the baseline holds none of these exhibits at size {size}")
    for name in missing:
        click.echo(f"--check: the baseline holds nothing of {name} at size {size}; it is not compared", err=True)


def _remark(text: str) -> None:
    click.echo(text, err=True)


VERBS = (reproduce, sensitivity)
