"""The verb that runs a scenario."""

from __future__ import annotations

from pathlib import Path

import click

from optcp.cli import completion
from optcp.cli.options import (
    COUNT,
    DASK,
    DIGEST,
    DIRECTORY,
    FORK,
    JOBS,
    POSITIVE,
    SCENARIO,
    SET,
    Alias,
    Whole,
    console,
    pairs,
    workers,
)
from optcp.errors import InputError, nearest


def _engine(context: click.Context, _: click.Parameter, value: str) -> str:
    if context.resilient_parsing:
        return value
    from optcp.scenarios.scenario import ENGINES

    if value not in ENGINES:
        raise InputError(f"--engine {value}: there is no such engine; {nearest(value, ENGINES)}")
    return value


@click.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--seed", type=Whole(min=0), default=1, show_default=True, help="Seed of the first run.")
@click.option(
    "--runs",
    cls=Alias,
    also="--seeds",
    type=COUNT,
    default=1,
    show_default=True,
    help="Runs of each cell: seeds seed, seed+1, ...",
)
@click.option("--out", type=DIRECTORY, help="Where results go. [default: results/<name of the scenario file>]")
@JOBS
@DASK
@click.option(
    "--threads",
    type=POSITIVE,
    default=1,
    metavar="N",
    help="Have each run on N threads, one run after the other: for a large world. [default: 1]",
)
@click.option("--engine", default="fast", show_default=True, callback=_engine, help="fast, or reference to check it.")
@DIGEST
@FORK
@click.option("--force", is_flag=True, help="Remove another study that is in the directory.")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be run and written.")
@click.option(
    "--by",
    metavar="METRIC",
    shell_complete=completion.among(completion.metrics),
    help="Sort the cells by it, the worst first. [default: mean completion time, or goodput]",
)
@click.option("--top", type=COUNT, metavar="N", help="Show the N worst cells. [default: 10 where there are many]")
@click.option("--quiet", is_flag=True, help="Print where the results are, and nothing of what they say.")
def run(
    scenario: Path,
    settings: tuple[str, ...],
    seed: int,
    runs: int,
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    threads: int,
    engine: str,
    digest: bool,
    fork: bool,
    force: bool,
    dry_run: bool,
    by: str | None,
    top: int | None,
    quiet: bool,
) -> None:
    """Run a scenario; one with a [sweep] runs its whole grid.

    SCENARIO is a file, or the name of one that comes with optcp (`optcp list scenarios`). The directory is that of one
    study: scalars and each observation as tables of all runs (Parquet). Stored runs are used again.
    """
    from optcp.common.files import check_directory
    from optcp.common.processors import check_threads
    from optcp.constellation import beside
    from optcp.scenarios import warned
    from optcp.scenarios.topologies import record_files
    from optcp.study import single
    from optcp.study.asked import check_observed
    from optcp.study.done import StudyResult
    from optcp.study.progress import for_console
    from optcp.study.ranked import WORST, show_ranked
    from optcp.study.runner import run_missing
    from optcp.study.show import MOST, show_done, show_plan, show_where
    from optcp.study.store import Store

    target = out or Path("results") / scenario.stem
    check_directory(target)
    check_threads(threads, engine)
    if threads > 1 and (dask is not None or (jobs or 1) > 1):
        raise click.UsageError("--threads N has one run after the other: it does not go with --jobs or --dask")
    named: dict[str, bytes] = {}
    changed = list(pairs(settings).items())
    with record_files(named):
        study = single.study(scenario, changed, seed, runs, digest=digest, fork=fork, engine=engine)
    if by is not None:
        check_observed(study.grid, by, "--by")
    store = Store(target)
    copied = beside.copies(scenario.parent, named, store.names(study.grid))
    where = workers(1 if threads > 1 else jobs, dask)
    if dry_run:
        store.look(study.grid, force=force)
        warned.show(study.warnings)
        show_plan(console(), study, store, single.probe(study, store, threads), where)
        return
    store.open(study.grid, force=force, beside=copied)
    warned.show(study.warnings)
    run_missing([(study, store)], where, for_console(console(stderr=True)), threads=threads)
    done = StudyResult(study.grid, study.seeds, store)
    if quiet:
        show_where(console(), done)
    elif by is not None or top is not None or len(done.grid.branches) > MOST:
        show_ranked(console(), done, by, top or WORST)
        show_where(console(), done)
    else:
        show_done(console(), done)
    warned.show(warned.of_done(done), whole=True)


VERBS = (run,)
