"""Scenario file of a grid: its first parameter combination, and the others as ``[sweep]`` if possible."""

from __future__ import annotations

import itertools
import json
import math
import tomllib
from typing import TYPE_CHECKING

from optcp import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.study import Grid

MOST_CELLS = 40
"""Maximum number of combinations listed in comments if they do not form a full grid."""


def toml(grid: Grid, first: str) -> str:
    """Return a grid as one scenario file; ``first`` is the file of its first combination."""
    cells = [branch.key for branch in grid.branches]
    if len(cells) == 1:
        return first
    axes = {key: list(dict.fromkeys(cell.get(key, "") for cell in cells)) for key in grid.keys}
    # The product of keys that change together can be too large for memory.
    whole = math.prod(map(len, axes.values())) == len(cells)
    if whole and cells == [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]:
        lines = [f"{json.dumps(key)} = [{', '.join(map(_literal, values))}]" for key, values in axes.items()]
        for text in (first, "\n".join([first, "[sweep]", *lines, ""])):
            if _axes(text) == list(axes.items()):
                return text
    shown = [", ".join(f"{key} = {value}" for key, value in cell.items()) for cell in cells[:MOST_CELLS]]
    more = [f"and {len(cells) - MOST_CELLS} more"] if len(cells) > MOST_CELLS else []
    return "\n".join(
        [
            f"# The first of {len(cells)} parameter combinations:",
            *(f"#   {line}" for line in [*shown, *more]),
            "",
            first,
        ]
    )


def _literal(text: str) -> str:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    return text if isinstance(value, int | float | list | dict) else json.dumps(text, ensure_ascii=False)


def _axes(text: str) -> Sequence[tuple[str, list[str]]]:
    try:
        return _core.Scenario.parse(text, "scenario.toml").axes
    except _core.ScenarioError:
        return []
