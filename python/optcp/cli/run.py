"""Command ``run``."""

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
        raise InputError(f"--engine {value}: unknown engine; {nearest(value, ENGINES)}")
    return value


@click.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--seed", type=Whole(min=0), default=1, show_default=True, help="First seed.")
@click.option(
    "--runs",
    cls=Alias,
    also="--seeds",
    type=COUNT,
    default=1,
    show_default=True,
    help="Number of seeds per parameter combination, counted up from --seed.",
)
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Directory of the results. [default: results/SCENARIO]")
@JOBS
@DASK
@click.option(
    "--threads",
    type=POSITIVE,
    default=1,
    show_default=True,
    help="Simulate one run at a time on N threads, for large networks; results are equal.",
)
@click.option(
    "--engine",
    default="fast",
    show_default=True,
    callback=_engine,
    metavar="fast|reference",
    help="Simulation engine. The reference engine is slower and serves as a check; results are equal.",
)
@DIGEST
@FORK
@click.option("--force", is_flag=True, help="Replace another study in the directory.")
@click.option("--dry-run", is_flag=True, help="Check everything, estimate time and disk space, and exit.")
@click.option(
    "--by",
    metavar="METRIC",
    shell_complete=completion.among(completion.metrics),
    help="Sort parameter combinations by METRIC, worst first. [default: mean completion time, else goodput]",
)
@click.option("--top", type=COUNT, help="Show only the N worst combinations. [default: 10 if there are many]")
@click.option("--quiet", is_flag=True, help="Print only where the results are stored.")
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
    """Run a scenario, with all value combinations of its [sweep] and all seeds.

    SCENARIO is a file or the name of a shipped scenario; `optcp list scenarios` prints the names. The results of all
    runs form a study: one directory of Parquet tables. Finished runs are reused: the same command with a larger --runs
    simulates only the missing seeds.
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
        raise click.UsageError("--threads N simulates one run at a time: it cannot be combined with --jobs or --dask")
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
        warned.show([*study.warnings, *warned.few(study.grid, runs)])
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


COMMANDS = (run,)
