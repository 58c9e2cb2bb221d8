"""Command ``worst``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optcp.cli.options import COUNT, SCENARIO, SET, Whole, console, pairs

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("scenario", type=SCENARIO)
@click.argument("link")
@SET
@click.option("--group", help="Group of the flows whose data is counted. [default: all TCP flows]")
@click.option("--seed", type=Whole(min=0), default=1, show_default=True, help="Seed of the run.")
@click.option("--from", "start", metavar="TIME", default="1 s", show_default=True, help="First time of the failure.")
@click.option("--to", "end", metavar="TIME", help="Last time of the failure. [default: stop of the run - window]")
@click.option("--every", metavar="TIME", default="50 ms", show_default=True, help="Step between two times.")
@click.option(
    "--window",
    metavar="TIME",
    default="3 s",
    show_default=True,
    help="Counted time after the failure.",
)
@click.option("--top", type=COUNT, default=5, show_default=True, help="Show the N worst times.")
def worst(
    scenario: Path,
    link: str,
    settings: tuple[str, ...],
    group: str | None,
    seed: int,
    start: str,
    end: str | None,
    every: str,
    window: str,
    top: int,
) -> None:
    """Find the worst time for a failure of a link, from forks of one run.

    SCENARIO is a file or the name of a shipped scenario, LINK the name of a link such as A-B. The run is forked at
    each time, and the link fails in the fork until the end of the window. The cost is the in-order data that the run
    without failure delivers in addition. The [[failures]] of the scenario are removed.
    """
    from optcp import _core
    from optcp.data.times import picoseconds
    from optcp.scenarios.scenario import Scenario
    from optcp.study.worst import search, show, times

    world = Scenario(_core.Scenario.load(str(scenario), list(pairs(settings).items())))
    window_ps = picoseconds(window)
    last_ps = None if end is None else picoseconds(end)
    at_ps = times(picoseconds(world.stop_s), picoseconds(start), last_ps, picoseconds(every), window_ps)
    show(console(), search(world, link, group, seed, at_ps, window_ps), top)


COMMANDS = (worst,)
