"""The sampling design: two independent samples of the space and, for each parameter, one that exchanges it.

# Models
Saltelli's radial design. A and B have N points each and are the two halves of a scrambled Sobol sequence of twice the
dimension. AB of a parameter is A with that parameter taken from B. N (k + 2) points suffice for the main and total
effects of k parameters.

# Source
A. Saltelli et al., Comput. Phys. Commun. 181 (2010) 259-270, section 5; sequence and scrambling: ``scipy.stats.qmc``.

# Parameters
N, a power of two as the balance of the sequence requires; the seed of the scrambling.

# Limits
Parameters are independent. Points may coincide if parameters are discrete; coinciding points are run once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import qmc

from optcp.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.sensitivity.space import Space

SEED = 1967
"""Seed of the scrambling; it is fixed, so that a study can be continued and repeated."""


@dataclass(frozen=True)
class Design:
    """Settings, and the points of the sample that use them.

    Attributes
    ----------
    settings
        Distinct settings, in order of first occurrence.
    a, b
        Index into ``settings`` for each point of the two samples, shape (N,).
    ab
        The same for the samples with one parameter exchanged, shape (k, N).
    idle
        Parameters whose exchange changes no point, which can happen in a small sample; their estimated effects are
        zero.
    """

    settings: list[dict[str, Value]]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    ab: NDArray[np.int64]
    idle: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        """Number of points per sample (N)."""
        return int(self.a.size)


def places(dimensions: int, samples: int, seed: int = SEED) -> NDArray[np.float64]:
    """The sample in the unit cube: A, B, and AB of each parameter; shape (dimensions + 2, samples, dimensions).

    Raises
    ------
    InputError
        If ``samples`` is not a power of two above one.
    """
    if samples < 2 or samples & (samples - 1):
        raise InputError(f"--samples {samples}: expected a power of two: 2, 4, 8, 16, 32, 64, ...")
    sequence = qmc.Sobol(2 * dimensions, rng=np.random.default_rng(seed)).random(samples)
    result = np.empty((dimensions + 2, samples, dimensions))
    result[0], result[1] = sequence[:, :dimensions], sequence[:, dimensions:]
    for index in range(dimensions):
        result[index + 2] = result[0]
        result[index + 2, :, index] = result[1, :, index]
    return result


def design(space: Space, samples: int) -> Design:
    """Map the sample to a space."""
    known: dict[tuple[Any, ...], int] = {}
    settings: list[dict[str, Value]] = []
    index = np.empty((len(space) + 2, samples), dtype=np.int64)
    for row, points in enumerate(places(len(space), samples)):
        for column, place in enumerate(points):
            setting = space.at(place)
            key = tuple(setting.values())
            if key not in known:
                known[key] = len(settings)
                settings.append(setting)
            index[row, column] = known[key]
    same = (exchanged == index[0] for exchanged in index[2:])
    idle = tuple(name for name, alike in zip(space.names, same, strict=True) if alike.all())
    return Design(settings, index[0], index[1], index[2:], idle)
