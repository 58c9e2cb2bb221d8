"""Command ``emulate``: real packets in the network of a scenario, in real time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optcp.cli.options import COUNT, DIRECTORY, SCENARIO, SET, Whole, console, pairs
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from optcp.emulate.study import Report


@click.command()
@click.argument("scenario", type=SCENARIO)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--node",
    "nodes",
    multiple=True,
    required=True,
    metavar="NAME[=NAMESPACE]",
    help="Node whose packets are real, and the network namespace to create for it. Repeatable: two or more.",
)
@click.option(
    "--also",
    multiple=True,
    metavar="NAMESPACE:COMMAND",
    help="Start this command of the shell in a namespace before COMMAND, and end it afterwards. Repeatable.",
)
@SET
@click.option("--seed", type=Whole(min=0), default=1, show_default=True, help="First seed.")
@click.option("--runs", type=COUNT, default=1, show_default=True, help="Number of runs, one per seed.")
@click.option("--congestion", metavar="NAME", help="Congestion control of Linux. [default: that of each flow]")
@click.option(
    "--kernel",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="User-mode kernel in which to run in simulated time.",
)
@click.option("--compare", is_flag=True, help="Simulate the same seeds too, and print the differences.")
@click.option("--out", type=DIRECTORY, metavar="DIR", help="Directory of the results. [default: results/SCENARIO-real]")
@click.option("--force", is_flag=True, help="Replace another study in the directory.")
def emulate(
    scenario: Path,
    command: tuple[str, ...],
    nodes: tuple[str, ...],
    also: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int,
    runs: int,
    congestion: str | None,
    kernel: Path | None,
    compare: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Send real packets through the network of a scenario, in real time.

    Each --node becomes a network namespace with an interface `optcp`: the first has the address 10.77.0.1, the second
    10.77.0.2. TCP flows of the scenario between these nodes carry the packets of real connections. COMMAND runs in the
    namespace of the first node, and the run ends with it. Without COMMAND, real TCP connections send the data of the
    flows.

    Linux only, as root or within `unshare --user --map-root-user --net --mount`.
    """
    from optcp.common.files import check_directory
    from optcp.data.labelled import MOST_ROWS
    from optcp.emulate import hosts
    from optcp.emulate.kernel import Kernel
    from optcp.emulate.one import Task, check_congestion, check_names
    from optcp.emulate.study import HOSTS, SIMULATED, emulate_missing, study
    from optcp.scenarios import warned
    from optcp.study.compared import show_comparison
    from optcp.study.done import StudyResult
    from optcp.study.progress import for_console
    from optcp.study.runner import run_missing
    from optcp.study.show import show_done
    from optcp.study.store import Store

    if compare and command:
        raise click.UsageError("--compare needs the flows of the scenario on both sides: leave COMMAND out")
    target = out or Path("results") / f"{scenario.stem}-real"
    check_directory(target)
    task = Task(dict(_named(nodes)), command, tuple(_services(also)), congestion)
    overrides = list(pairs(settings).items())
    within = None if kernel is None else Kernel(kernel, scenario, overrides, task, compare, target)
    if within is None:
        hosts.check()
        check_congestion(task)
    else:
        within.check()
    chosen = study(scenario, overrides, range(seed, seed + runs), task, compare=compare)
    check_names(json.loads(chosen.grid.branches[0].scenario.resolved()), task)
    store = Store(target)
    store.open(chosen.grid, force=force)
    warned.show(chosen.warnings)
    with hosts.terminable():
        made = emulate_missing(chosen, store, task, for_console(console(stderr=True)), within)
    show_lateness(console(), made)
    if compare:
        run_missing([(chosen, store)], 1, for_console(console(stderr=True)))
    done = StudyResult(chosen.grid, chosen.seeds, store)
    if compare:
        show_comparison(console(), done.compare(at={HOSTS: SIMULATED}), MOST_ROWS)
    else:
        show_done(console(), done)
    if failed := next((one.status for one in made if one.status), None):
        click.get_current_context().exit(failed)


def _named(nodes: Sequence[str]) -> Iterable[tuple[str, str]]:
    if len(nodes) < 2:
        raise click.UsageError("--node: two nodes or more are needed")
    for text in nodes:
        node, _, namespace = text.partition("=")
        yield node, namespace or node


def _services(also: Sequence[str]) -> Iterable[tuple[str, str]]:
    for text in also:
        namespace, colon, command = text.partition(":")
        if not colon or not command.strip():
            raise InputError(f"--also {text}: expected NAMESPACE:COMMAND")
        yield namespace, command.strip()


def show_lateness(console: Console, made: Sequence[Report]) -> None:
    """Print how late the packets of runs left the simulation."""
    for one in made:
        console.print(
            f"{one.packets:,} packets, late by {1e6 * one.median_s:.0f} us (median), {1e6 * one.p999_s:.0f} us "
            f"(99.9 %), {1e6 * one.max_s:.0f} us at most",
            highlight=False,
        )
        if one.status is not None:
            console.print(
                f"the command ended at {one.ended_s:.3f} s; means cover the time until `stop`", highlight=False
            )


COMMANDS = (emulate,)
