"""The command line: one verb a function, no logic.

Everything heavy is imported inside the verbs: ``--help``, ``--version`` and ``validate`` answer at once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp import cli_checks, cli_constellation, cli_outage, cli_picture, cli_start, cli_study, completion
from optcp.errors import InputError, nearest
from optcp.exits import status_of
from optcp.options import (
    COUNT,
    DASK,
    DIRECTORY,
    JOBS,
    PAPERS,
    PLAIN_WIDTH,
    POSITIVE,
    SCENARIO,
    SET,
    Alias,
    Whole,
    pairs,
    workers,
)
from optcp.options import console as _console
from optcp.plurals import many

if TYPE_CHECKING:
    from collections.abc import Sequence


DIGEST = click.option("--digest", is_flag=True, help="Compute records_sha256, the digest of all records, too.")
FORK = click.option("--fork/--no-fork", default=True, help="Share warm-ups between branches; results are equal.")


def _print_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from optcp import _core

        click.echo(f"optcp {_core.version()}")
        context.exit()


SECTIONS = {
    "Your scenarios": ("new", "constellation", "validate", "map", "routing", "run", "animate", "playground"),
    "Studies": ("outage", "trace", "compare", "plot", "report", "export"),
    "The papers": ("reproduce", "sensitivity"),
    "Checks": ("evidence", "conformance", "packetdrill", "bench"),
    "About optcp": ("list", "schema", "completion"),
}
"""The verbs as `optcp --help` lists them."""


class Verbs(click.Group):
    """A group that lists its verbs by what they are for, and knows the nearest one."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's own
        """Write a section for each purpose, all with one column of names, and the first sentences whole."""
        wide = max(map(len, self.commands))
        for section, verbs in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(
                    [(f"{verb:<{wide}}", self.commands[verb].get_short_help_str(limit=1000)) for verb in verbs]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which there are."""
        unknown = args and not args[0].startswith("-") and args[0] not in self.commands
        if unknown and not ctx.resilient_parsing:  # a shell that completes has no use for a message
            raise InputError(f"there is no command {args[0]!r}; {nearest(args[0], self.commands)}")
        return super().resolve_command(ctx, args)


EPILOG = """\b
A first run and its pictures, and a scenario of your own:
  optcp run single-failure
  optcp trace results/single-failure
  optcp new world.toml
"""


def _kernel(context: click.Context, _: click.Parameter, value: str) -> str:
    if context.resilient_parsing:
        return value
    from optcp.scenario import KERNELS

    if value not in KERNELS:
        raise InputError(f"--kernel {value}: there is no such kernel; {nearest(value, KERNELS)}")
    return value


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": PLAIN_WIDTH}


@click.group(cls=Verbs, epilog=EPILOG, context_settings=CONTEXT)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)
def cli() -> None:
    """Simulate TCP over failing optical networks, packet by packet, the same way every time."""


@cli.command()
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
    from optcp import labelled
    from optcp.files import check_directory
    from optcp.papers import baseline, until
    from optcp.papers.assume import named
    from optcp.papers.options import Options, Size
    from optcp.papers.registry import select
    from optcp.papers.reproduce import Request, check_settings, make_long_runs
    from optcp.papers.reproduce import reproduce as run_exhibits
    from optcp.playground import simulator
    from optcp.report import build
    from optcp.scenario import check_seed
    from optcp.study.progress import for_console
    from optcp.tables import show_result

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
    console, messages = _console(), _console(stderr=True)
    where = workers(jobs, dask)
    known = baseline.read(baseline.path())
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
        show_result(console, result)
    if write_baseline:
        baseline.renew(baseline.path(), results)
    changed = [line for result in results for line in baseline.changes(known, result)] if check else []
    for line in changed:
        click.echo(line, err=True)
    # The report is of everything in the directory, of which something older may be damaged: it comes last.
    page = build.write_report(out, simulator())
    console.print(f"\nreport: {page}", highlight=False, soft_wrap=True)
    if bare := labelled.missing("matplotlib"):
        click.echo(f"the report has no figures: {bare}", err=True)
    if changed:
        raise click.exceptions.Exit(3)


@cli.command()
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

    from optcp.files import check_directory, write_text
    from optcp.labelled import missing
    from optcp.papers.registry import select
    from optcp.sensitivity import confirm as again
    from optcp.sensitivity import study
    from optcp.sensitivity.result import result as analyse
    from optcp.sensitivity.show import show
    from optcp.sensitivity.space import space
    from optcp.stored import sealed
    from optcp.study.progress import Counted, for_console

    check_directory(out)
    chosen = select([exhibit])
    if len(chosen) != 1:
        raise InputError(f"{exhibit} is a paper; name one of its exhibits: {', '.join(one.id for one in chosen)}")
    ranges = {key.strip(): text.strip() for key, _, text in (one.partition("=") for one in over)}
    fixed = pairs(settings)
    request = study.Request(chosen[0], space(chosen[0], ranges, fixed), samples, seeds, fixed)
    messages = _console(stderr=True)
    began = time.monotonic()
    progress = Counted(for_console(messages))
    todo = (out, workers(jobs, dask), progress, messages.print)
    finished = study.run(request, *todo)
    found = analyse(finished, again.confirm(finished, *todo) if confirm else None)
    took_s = time.monotonic() - began
    path = out / "sensitivity" / f"{chosen[0].id}.json"
    write_text(path, sealed(found.to_json()))
    show(_console(), found)
    made, runs = progress.runs, found.design["runs"]
    click.echo(
        f"\n{made} of {many(runs, 'run')} made now, with the analysis in {took_s:.0f} s: {made / took_s:.0f} runs/s"
    )
    click.echo(f"{path}")
    if bare := missing("matplotlib"):
        click.echo(f"no figures: {bare}", err=True)
        return
    from optcp.plots.sensitivity import draw

    for file in draw(found, path.parent, path.stem):
        click.echo(f"{file}")


@cli.command()
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
@click.option("--kernel", default="fast", show_default=True, callback=_kernel, help="fast, or reference to check it.")
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
    kernel: str,
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
    from optcp import warned
    from optcp.constellation import beside
    from optcp.files import check_directory
    from optcp.processors import check_threads
    from optcp.study import single
    from optcp.study.asked import check_observed
    from optcp.study.done import Done
    from optcp.study.progress import for_console
    from optcp.study.ranked import WORST, show_ranked
    from optcp.study.runner import run_missing
    from optcp.study.show import MOST, show_done, show_plan, show_where
    from optcp.study.store import Store
    from optcp.topologies import noted

    target = out or Path("results") / scenario.stem
    check_directory(target)
    check_threads(threads, kernel)
    if threads > 1 and (dask is not None or (jobs or 1) > 1):
        raise click.UsageError("--threads N has one run after the other: it does not go with --jobs or --dask")
    named: dict[str, bytes] = {}
    changed = list(pairs(settings).items())
    with noted(named):
        study = single.study(scenario, changed, seed, runs, digest=digest, fork=fork, kernel=kernel)
    if by is not None:
        check_observed(study.grid, by, "--by")
    store = Store(target)
    copied = beside.copies(scenario.parent, named, store.names(study.grid))
    where = workers(1 if threads > 1 else jobs, dask)
    if dry_run:
        store.look(study.grid, force=force)
        warned.show(study.warnings)
        show_plan(_console(), study, store, single.probe(study, store, threads), where)
        return
    store.open(study.grid, force=force, beside=copied)
    warned.show(study.warnings)
    run_missing([(study, store)], where, for_console(_console(stderr=True)), threads=threads)
    done = Done(study.grid, study.seeds, store)
    if quiet:
        show_where(_console(), done)
    elif by is not None or top is not None or len(done.grid.branches) > MOST:
        show_ranked(_console(), done, by, top or WORST)
        show_where(_console(), done)
    else:
        show_done(_console(), done)
    warned.show(warned.of_done(done), whole=True)


@cli.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--paths", is_flag=True, help="Print the path of every flow, the backups, and how routers spread flows.")
@click.option("--seed", type=Whole(), default=1, metavar="N", help="With --paths: the run whose hashes are shown; 1.")
def validate(scenario: Path, settings: tuple[str, ...], *, paths: bool, seed: int) -> None:
    """Check a scenario file and list likely mistakes."""
    from optcp import _core, schedules, warned

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    summary = world.summary()
    click.echo(f"{scenario}: valid")
    for name, value in summary.items():
        click.echo(f"  {name}: {_plain(value)}")
    for axis, values in world.axes:
        click.echo(f"  sweep {axis.removeprefix('sweep.')}: {', '.join(values)}")
    for line in schedules.lines(json.loads(world.resolved())):
        click.echo(f"  {line}")
    if paths:
        from optcp.paths import show_paths, show_routes
        from optcp.scenario import check_seed

        check_seed(seed)
        show_paths(_console(), json.loads(world.resolved()), world.hashed(seed), seed)
        show_routes(_console(), world.written_routes())
    warned.show(warned.of_world(world), whole=True)


@cli.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--router", metavar="NAME", help="Only this router.")
def routing(scenario: Path, settings: tuple[str, ...], router: str | None) -> None:
    """Print the next hop and the backup of every router for every destination, and how much is protected."""
    from optcp import _core
    from optcp.tables import show_backups, show_coverage

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    backups, coverage = world.backups(), world.coverage()
    if coverage is None:
        raise InputError(f"{scenario}: there is no table [routing]")
    routers = dict.fromkeys(one["router"] for one in backups)
    if router is not None and router not in routers:
        raise InputError(f"--router {router}: there is no such router; {nearest(router, routers)}")
    show_backups(_console(), [one for one in backups if router in (None, one["router"])])
    show_coverage(_console(), [coverage])


@cli.command(name="list")
@PAPERS
@click.argument("family", required=False, shell_complete=completion.among(completion.families))
def list_names(family: str | None) -> None:
    """List what scenario files and commands can name: exhibits, profiles, policies, units, ...

    `optcp list profiles` prints what each TCP profile chooses, and why: all of rfc, and what differs from it.
    `optcp list topologies` prints the collections of networks; `optcp list sndlib` what is in one. `optcp list
    constellations` prints the shells of satellites; `optcp list cities` the ground stations.
    """
    from optcp.listing import collections, families, profile_lines

    lists = collections()
    if family in lists:
        click.echo("\n".join(lists[family]))
        return
    known = families()
    if family is not None and family not in known:
        raise InputError(f"there is no family {family!r}; {nearest(family, [*known, *lists])}")
    if family == "profiles":
        click.echo("\n".join(profile_lines()))
        return
    for name in [family] if family else known:
        click.echo(f"{name}:")
        width = max((len(entry) for entry, _ in known[name]), default=0)
        for entry, summary in known[name]:
            click.echo(f"  {entry:<{width}}  {summary}".rstrip())


def _say_missing(missing: Sequence[str], asked: int, size: str) -> None:
    """Say what ``--check`` cannot compare; comparing nothing at all is not a check."""
    if len(missing) == asked:
        raise InputError(f"--check: the baseline holds none of these exhibits at size {size}")
    for name in missing:
        click.echo(f"--check: the baseline holds nothing of {name} at size {size}; it is not compared", err=True)


def _remark(text: str) -> None:
    click.echo(text, err=True)


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {text}" for name, text in value.items())
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


for verb in (
    *cli_start.VERBS,
    *cli_picture.VERBS,
    *cli_constellation.VERBS,
    *cli_outage.VERBS,
    *cli_study.VERBS,
    *cli_checks.VERBS,
):
    cli.add_command(verb)


def main() -> None:
    """Run the command line."""
    sys.exit(status_of(cli))
