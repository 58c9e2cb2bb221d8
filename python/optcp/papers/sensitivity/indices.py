"""Main and total effects (Sobol indices) of parameters on responses, with intervals.

# Models
The variance of a response over the space is decomposed. The main effect of a parameter is the share of the variance
that it explains alone. The total effect is the share that remains when all other parameters are known, and includes
interactions. A parameter with a total effect of zero can be fixed without changing the response.

# Source
First-order indices by Saltelli et al. 2010 (table 2 b), total by Jansen 1999 (table 2 f there), as ``scipy.stats``
computes them. Intervals: percentile bootstrap over the N base samples (G. E. B. Archer et al., J. Stat. Comput. Simul.
58 (1997) 99-120), with expanded percentiles (:func:`optcp.stats.resampling.percentile`).

# Parameters
Number and seed of the resamples.

# Limits
Effects apply to the mean over the seeds that were run; intervals do not include the variation between seeds. With fewer
than :data:`FEWEST` samples, no effects are computed. With N = 16, total effects of the Ishigami function are off by up
to 0.4. Their intervals cover only 85 %, compared to 92 % or more for larger N (``docs/details/statistics.md``).
Estimates and bounds of intervals are clipped to 0 to 1.
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
"""Minimum number of samples for effects."""
UNKNOWN = Interval(np.nan, -np.inf, np.inf, 0)


@dataclass(frozen=True)
class Effects:
    """Effects of parameters on responses, as shares of the variance; axes: responses, parameters.

    Attributes
    ----------
    main, total
        Estimates, shape (s, k).
    main_samples, total_samples
        The same for each bootstrap resample, shape (resamples, s, k).
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
        """Main and total effect of one parameter, averaged over responses with equal weights.

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
        Responses at AB, shape (k, s, N). All responses are finite.
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
