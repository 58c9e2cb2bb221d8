"""Warnings: what is possible and hardly meant, of one world and of the cells of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp import _core

FEW_SEEDS = 5
"""With fewer the t quantile that makes an interval is above 2.8."""

LONGEST = 200
"""Letters of a message that a run shows."""


class Warned(NamedTuple):
    """Something that is possible and hardly meant.

    Attributes
    ----------
    name
        What it is about, as ``silence`` of a scenario names it.
    message
        What was found.
    place
        Where: "ring.toml:12", or what was set; empty where it is of no line.
    """

    name: str
    message: str
    place: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.name}]" if self.place else f"{self.message} [{self.name}]"


def of_world(core: _core.Scenario) -> tuple[Warned, ...]:
    """The warnings of a world, but for those that it silences."""
    return tuple(Warned(*one) for one in core.warnings)


def of_cells(cells: Sequence[_core.Scenario], seeds: int) -> tuple[Warned, ...]:
    """Those of all cells of a study, each place once, and what the number of seeds says."""
    found: dict[tuple[str, str], list[Warned]] = {}
    for cell in cells:
        for one in of_world(cell):
            found.setdefault((one.name, one.place), []).append(one)
    summed = []
    for same in found.values():
        first = same[0]
        others = f" (and {len(same) - 1} more of {len(cells)} cells)" if len(same) > 1 else ""
        summed.append(first._replace(message=first.message + others))
    if 1 < seeds < FEW_SEEDS and not any(cell.silences("few-seeds") for cell in cells):
        summed.append(Warned("few-seeds", f"{seeds} seeds make wide intervals: 10 and more are common", ""))
    return tuple(summed)


def show(warnings: Iterable[Warned], *, whole: bool = False) -> None:
    """Print them to standard error, a line each; long messages are cut, but for `whole`."""
    import click

    for one in warnings:
        if not whole and len(one.message) > LONGEST:
            one = one._replace(message=one.message[:LONGEST] + "... (`optcp validate` says it all)")  # noqa: PLW2901
        click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {one}", err=True)
