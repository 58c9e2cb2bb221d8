"""Parameter combinations of a scenario's own axes."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optcp import _core

MOST = 1000
"""Maximum number of combinations that are checked without a run."""


def check(world: _core.Scenario) -> tuple[int, int]:
    """Check the combinations of all values under ``[sweep]``, the first ``MOST`` of them.

    Returns
    -------
    tuple
        Number of checked combinations, and of all.

    Raises
    ------
    optcp._core.ScenarioError
        If a combination is invalid.
    """
    keys = [axis for axis, _ in world.axes]
    total = math.prod(len(values) for _, values in world.axes)
    for combination in itertools.islice(itertools.product(*(values for _, values in world.axes)), MOST):
        world.override(list(zip(keys, combination, strict=True)))
    return min(total, MOST), total
