"""Commands ``validate`` and ``routing``, which need no run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from optcp.cli.options import SCENARIO, SET, Whole, console, pairs
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--paths", is_flag=True, help="Also print the paths of flows, the backup paths and the ECMP choices.")
@click.option("--ports", is_flag=True, help="Also print rate, delay and queue limit of each port.")
@click.option("--seed", type=Whole(), default=1, show_default=True, help="With --paths: seed of the ECMP hashes.")
def validate(scenario: Path, settings: tuple[str, ...], *, paths: bool, ports: bool, seed: int) -> None:
    """Check a scenario file, summarise it and warn about likely mistakes.

    The parameter combinations of the sweep are checked, too.
    """
    from optcp import _core
    from optcp.scenarios import combinations, schedules, warned

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    checked, total = combinations.check(world)
    summary = world.summary()
    click.echo(f"{scenario}: valid")
    for name, value in summary.items():
        click.echo(f"  {name}: {_plain(value)}")
    for axis, values in world.axes:
        click.echo(f"  sweep {axis.removeprefix('sweep.')}: {', '.join(values)}")
    if checked < total:
        click.echo(f"  checked: the first {checked} of {total} parameter combinations")
    for line in schedules.lines(json.loads(world.resolved())):
        click.echo(f"  {line}")
    if paths:
        from optcp.cli.paths import show_paths, show_routes
        from optcp.scenarios.own_names import OwnNames
        from optcp.scenarios.scenario import check_seed

        check_seed(seed)
        own = OwnNames.of(dict(world.settings()), str(scenario))
        show_paths(console(), json.loads(world.resolved()), world.hashed(seed), seed, own)
        show_routes(console(), world.written_routes(), own)
    if ports:
        from optcp.cli.ports import show_ports

        show_ports(console(), json.loads(world.resolved()))
    warned.show(warned.of_world(world), whole=True)


@click.command()
@click.argument("scenario", type=SCENARIO)
@SET
@click.option("--router", metavar="NAME", help="Print only this router.")
def routing(scenario: Path, settings: tuple[str, ...], router: str | None) -> None:
    """Print the next hops and backup paths of all routers, and the coverage of fast reroute."""
    from optcp import _core
    from optcp.study.routing import show_backups, show_coverage

    world = _core.Scenario.load(str(scenario), list(pairs(settings).items()))
    backups, coverage = world.backups(), world.coverage()
    if coverage is None:
        raise InputError(f"{scenario}: the scenario has no table [routing]")
    routers = dict.fromkeys(one["router"] for one in backups)
    if router is not None and router not in routers:
        raise InputError(f"--router {router}: unknown router; {nearest(router, routers)}")
    show_backups(console(), [one for one in backups if router in (None, one["router"])])
    show_coverage(console(), [coverage])


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {text}" for name, text in value.items())
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


COMMANDS = (validate, routing)
