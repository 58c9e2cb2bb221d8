"""Commands ``reproduce`` and ``sensitivity``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp.cli import completion
from optcp.cli.options import (
    COUNT,
    DASK,
    DIGEST,
    FORK,
    JOBS,
    OUT,
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
    from pathlib import Path


@click.command()
@PAPERS
@click.argument("exhibits", nargs=-1, metavar="[EXPERIMENT]...", shell_complete=completion.among(completion.exhibits))
@click.option(
    "--seeds",
    cls=Alias,
    also="--runs",
    type=COUNT,
    help="Number of seeds per study. [default: as in the paper]",
)
@click.option("--quick", is_flag=True, help="Use fewer seeds (or --seeds) and shorter runs; the result states both.")
@click.option(
    "--paper-scale",
    is_flag=True,
    help="Use the number and length of the published runs, including runs of hours that are not shipped.",
)
@click.option(
    "--until-decided",
    is_flag=True,
    help="Add seeds in stages until all claims and values are decided, or until the limit of --most.",
)
@click.option(
    "--most",
    type=Whole(min=2, max=1000),
    help="With --until-decided: stop at N times the default number of seeds. [default: 8]",
)
@click.option("--first-seed", type=Whole(min=0), default=1, show_default=True, help="First seed.")
@SET
@OUT
@JOBS
@DASK
@DIGEST
@FORK
@click.option(
    "--check",
    is_flag=True,
    help="Compare verdicts and digests with the stored baseline; exit with status 3 if one differs.",
)
@click.option("--write-baseline", is_flag=True, help="Store these verdicts as the baseline.")
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
    """Re-run published experiments and compare with the published values.

    EXPERIMENT is a table or figure, such as gmpls/table3, or a paper, such as gmpls, for all of its experiments. The
    default is all experiments of `optcp list exhibits`.
    """
    from optcp.common.files import check_directory
    from optcp.data import labelled
    from optcp.papers import baseline, until
    from optcp.papers.assume import named
    from optcp.papers.options import Options, Size
    from optcp.papers.registry import select
    from optcp.papers.reproduce import Request, check_settings, make_long_runs
    from optcp.papers.reproduce import reproduce as run_exhibits
    from optcp.papers.show import show_results
    from optcp.report import build
    from optcp.scenarios.scenario import check_seed
    from optcp.study.progress import for_console
    from optcp.web.playground import simulator

    check_directory(out)
    if quick and paper_scale:
        raise click.UsageError("--quick cannot be combined with --paper-scale")
    if (check or write_baseline) and (settings or first_seed != 1):
        raise click.UsageError("the baseline holds default parameters and seeds: use neither --set nor --first-seed")
    if until_decided and (quick or paper_scale or seeds):
        raise click.UsageError(
            "--until-decided starts at the default size: it cannot be combined with --quick, --seeds or --paper-scale"
        )
    if most and not until_decided:
        raise click.UsageError("--most needs --until-decided")
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
                click.echo(f"{left.file.stem}: skipped; another process holds {left.lock}", err=True)
        todo = (out, where, for_console(messages))
        results = until.reproduce(request, most, *todo, _remark) if until_decided else run_exhibits(request, *todo)
    show_results(tables, results)
    if write_baseline:
        baseline.renew(results)
    changed = [line for result in results for line in baseline.changes(known, result)] if check else []
    for line in changed:
        click.echo(line, err=True)
    # The report comes last: it reads everything in the directory, and an older file may be damaged.
    page = build.write_report(out, simulator())
    tables.print(f"\nreport: {page}", highlight=False, soft_wrap=True)
    if bare := labelled.missing("matplotlib"):
        click.echo(f"the report has no figures: {bare}", err=True)
    if changed:
        raise click.exceptions.Exit(3)


@click.command()
@PAPERS
@click.argument("exhibit", metavar="EXPERIMENT", shell_complete=completion.among(completion.exhibits))
@click.option(
    "--over",
    multiple=True,
    metavar="KEY[=RANGE]",
    help="Vary only this parameter, over its own range or RANGE. Repeatable.",
)
@SET
@click.option("--samples", type=COUNT, default=32, show_default=True, help="Size N of the design, a power of two.")
@click.option(
    "--seeds",
    cls=Alias,
    also="--runs",
    type=COUNT,
    default=10,
    show_default=True,
    help="Number of seeds per setting.",
)
@click.option(
    "--confirm",
    is_flag=True,
    help="Re-run compatible settings on other seeds, up to the number of runs of the paper.",
)
@OUT
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
    """Rank the unstated parameters of an experiment by their effect on its result.

    Also finds the settings that match the published values. All k parameters with a plausible range are varied
    together, in N (k + 2) settings. RANGE is LOW..HIGH, 'LOW..HIGH log' or A|B|... . Finished runs are reused.
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
        raise InputError(f"{exhibit} is a paper; name one of its experiments: {', '.join(one.id for one in chosen)}")
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
    """Report experiments without a baseline; raise ``InputError`` if no experiment has one."""
    if len(missing) == asked:
        raise InputError(f"--check: the baseline has none of these experiments at size {size}")
    for name in missing:
        click.echo(f"--check: {name} is not compared: it is not in the baseline at size {size}", err=True)


def _remark(text: str) -> None:
    click.echo(text, err=True)


COMMANDS = (reproduce, sensitivity)
