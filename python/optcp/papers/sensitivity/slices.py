"""Slices of a response: its mean over all other parameters, by part of the range of one parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.sensitivity.space import Space
    from optcp.stats import Interval


def slices(
    space: Space,
    settings: Sequence[Mapping[str, Value]],
    uniform: NDArray[np.int64],
    values: NDArray[np.float64],
) -> dict[str, list[tuple[str, Interval | None]]]:
    """Mean response with its 95 % interval over settings, for each parameter and part of its range.

    Parameters
    ----------
    uniform
        Indices of a uniform sample of settings.
    values
        Response at each setting, shape (settings,).
    """
    result = {}
    for dimension in space:
        place = np.array([dimension.range.part(settings[one][dimension.name]) for one in uniform])
        parts: list[tuple[str, Interval | None]] = []
        for index, name in enumerate(dimension.range.parts()):
            here = values[uniform[place == index]]
            parts.append((name, stats.mean(here) if here.size else None))
        result[dimension.name] = parts
    return result
