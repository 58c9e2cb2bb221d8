"""Main and total effects of parameters on responses, with intervals.

# Models
A response's variance over the space is split into what each parameter explains. The main effect of a parameter is the
share that it explains by itself; the total effect is the share that is left when all others are known, so it holds all
that it does together with others. A parameter whose total effect is zero may be fixed without any consequence.

# Source
First-order indices by Saltelli et al. 2010 (table 2 b), total by Jansen 1999 (table 2 f there), as ``scipy.stats``
computes them. Intervals: percentile bootstrap over the N base samples (G. E. B. Archer et al., J. Stat. Comput. Simul.
58 (1997) 99-120), with expanded percentiles (:func:`optcp.stats.resampling.percentile`).

# Parameters
Number and seed of the resamples.

# Limits
Effects are of the mean over the seeds that were run: what other seeds would change is not in the intervals. With fewer
than :data:`FEWEST` samples there are no effects. The total effects of Ishigami's function are then wrong by up to 0.4,
and their intervals cover 85 % (N = 16), from there on 92 % or more: ``docs/details/statistics.md``. An estimate or an
end of an interval that lies below 0 or above 1 by chance is set to 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import sobol_indices

from optcp.stats import Interval
from optcp.stats.resampling import BOOTSTRAP_RESAMPLES, BOOTSTRAP_SEED, percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


FEWEST = 32
"""Samples that effects need."""
UNKNOWN = Interval(np.nan, -np.inf, np.inf, 0)


@dataclass(frozen=True)
class Effects:
    """What parameters do to responses, as shares of the variance; first axis: responses, second: parameters.

    Attributes
    ----------
    main, total
        Estimates, shape (s, k).
    main_samples, total_samples
        The same of each bootstrap resample, shape (resamples, s, k).
    samples
        N of the design.
    """

    main: NDArray[np.float64]
    total: NDArray[np.float64]
    main_samples: NDArray[np.float64]
    total_samples: NDArray[np.float64]
    samples: int

    def interval(self, response: int, parameter: int) -> tuple[Interval, Interval]:
        """Main and total effect of one parameter on one response."""
        return self.over([response], parameter)

    def over(self, responses: Sequence[int], parameter: int) -> tuple[Interval, Interval]:
        """Main and total effect of one parameter, averaged over responses, each of which counts the same.

        With fewer than :data:`FEWEST` samples the effects are undefined.
        """
        if self.samples < FEWEST:
            return UNKNOWN, UNKNOWN
        chosen = list(responses)
        main, total = (
            percentile(
                draws[:, chosen, parameter].mean(axis=1),
                float(np.clip(estimate[chosen, parameter].mean(), 0, 1)),
                self.samples,
            ).within(0, 1)
            for draws, estimate in ((self.main_samples, self.main), (self.total_samples, self.total))
        )
        return main, total


def effects(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    ab: NDArray[np.float64],
    resamples: int = BOOTSTRAP_RESAMPLES,
    seed: int = BOOTSTRAP_SEED,
) -> Effects:
    """Compute the effects from the responses at the points of a design.

    Parameters
    ----------
    a, b
        Responses at A and B, shape (s, N); N is a power of two.
    ab
        Responses at AB, shape (k, s, N). All are finite.
    """
    samples = a.shape[1]
    main, total = _indices(a, b, ab)
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(samples, size=samples) for _ in range(resamples)]
    again = [_indices(a[:, one], b[:, one], ab[..., one]) for one in drawn]
    return Effects(main, total, np.array([one for one, _ in again]), np.array([one for _, one in again]), samples)


def _indices(
    a: NDArray[np.float64], b: NDArray[np.float64], ab: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found = sobol_indices(func={"f_A": a, "f_B": b, "f_AB": ab}, n=a.shape[1])
    shape = (a.shape[0], ab.shape[0])  # scipy drops axes of length one
    return found.first_order.reshape(shape), found.total_order.reshape(shape)
