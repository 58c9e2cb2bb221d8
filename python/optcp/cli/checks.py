"""Commands ``conformance``, ``packetdrill`` and ``bench``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp.cli.options import FILE, POSITIVE, Whole, console
from optcp.errors import RunFailed

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("cases", type=FILE, metavar="FILE.json")
@click.option("--out", type=FILE, required=True, help="JSON file of the results.")
def conformance(cases: Path, out: Path) -> None:
    """Run single-flow test cases from a JSON file, for comparison with another TCP stack.

    Cases that need unsupported features are listed and omitted from the results; the exit status is then 1.
    """
    from optcp.checks.conformance import conform
    from optcp.checks.show import show_outcomes

    outcomes, refused = conform(cases, out)
    show_outcomes(console(), outcomes)
    click.echo(f"results: {out}")
    if refused:
        raise RunFailed("\n".join(["unsupported cases:", *refused]))


@click.command()
@click.argument("scripts", type=FILE, nargs=-1, required=True, metavar="FILE.pkt...")
@click.option("--tolerance", type=Whole(0, 1_000_000), metavar="MS", help="Tolerance of times, in ms. [default: 4]")
@click.option("--json", "out", type=FILE, help="Also write the outcomes to this JSON file.")
def packetdrill(scripts: tuple[Path, ...], tolerance: int | None, out: Path | None) -> None:
    """Run packetdrill scripts against the simulated TCP.

    For a failed script, the line, the expectation and the result are printed; the exit status is 1. A script that needs
    an unsupported feature is refused with the reason; the exit status is 2.
    """
    from optcp.checks.packetdrill import run as run_script
    from optcp.checks.packetdrill import write
    from optcp.checks.show import show_scripts
    from optcp.common.terminal import counts

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


@click.command()
@click.option(
    "--repeat", type=POSITIVE, default=3, show_default=True, help="Number of runs per size; medians are printed."
)
def bench(repeat: int) -> None:
    """Measure the simulation speed: dumbbells of 10 to 1000 flows, a mesh, a fat-tree and others."""
    from optcp.checks.bench import ROWS, SIZES, WAYS, measure, measure_core, measure_in_one_run, measure_worlds
    from optcp.checks.bench_worlds import IN_ONE_RUN, WORLDS
    from optcp.checks.show import show_bench

    tables, notes = console(), console(stderr=True)
    rows = []
    for flows, seconds in SIZES:
        notes.print(f"{flows} flows, {seconds} s, {repeat} times per row: {'; '.join(ROWS)} ...")
        rows += measure(ROWS, flows, seconds, repeat)
    notes.print(f"{'; '.join(WORLDS)}, {repeat} times ...")
    worlds = measure_worlds(repeat)
    notes.print(f"{'; '.join(IN_ONE_RUN)}, {repeat} times per column: {'; '.join(WAYS)} ...")
    in_one_run = measure_in_one_run(repeat)
    notes.print(f"a core of burst switches (scenario burst-core), {repeat} times ...")
    show_bench(tables, rows, worlds, in_one_run, measure_core(repeat))


COMMANDS = (conformance, packetdrill, bench)
