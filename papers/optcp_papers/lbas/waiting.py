"""Mean waiting time of Poisson arrivals of equal packets at one or several lightpaths, in packet times.

# Model

M/D/1 for one lightpath: load / (2 (1 - load)). M/D/k for a bundle: anycast switching starts packets in the order of
their arrival, as one queue before k servers does. Let N(t) be the number of packets, and D the packet time. N(t + D) is
the excess of N(t) over k, plus the arrivals within D. Iteration finds the stationary distribution of this chain, and
Little's law the mean wait.

# References

C. D. Crommelin, "Delay probability formulae when the holding times are constant", P.O. Elect. Eng. J. 25, 1932;
H. C. Tijms, "A First Course in Stochastic Models", 2003, section 9.6.2.

# Limitations

The iteration is cut at a number of packets that a load below 0.99 practically never reaches.
"""

import numpy as np
from numpy.typing import NDArray

CONVERGED, MOST_STEPS = 1e-13, 100_000


def md1(load: float) -> float:
    """Return the mean wait at one lightpath of this load."""
    return load / (2 * (1 - load))


def mdk(lightpaths: int, load: float) -> float:
    """Return the mean wait at a bundle whose lightpaths have this load each."""
    size = lightpaths + int(40 / (1 - load))
    arrivals = _poisson(lightpaths * load, size)
    number = np.zeros(size)
    number[0] = 1.0
    for _ in range(MOST_STEPS):
        left = np.zeros(size)
        left[0] = number[: lightpaths + 1].sum()
        left[1 : size - lightpaths] = number[lightpaths + 1 :]
        after = np.convolve(left, arrivals)[:size]
        after /= after.sum()
        done = np.abs(after - number).sum() < CONVERGED
        number = after
        if done:
            break
    waiting = np.maximum(np.arange(size) - lightpaths, 0)
    return float(waiting @ number) / (lightpaths * load)


def _poisson(mean: float, size: int) -> NDArray[np.float64]:
    """Return the probabilities of 0 to ``size`` - 1 arrivals."""
    logs: NDArray[np.float64] = (
        np.arange(size) * np.log(mean) - mean - np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size)))])
    )
    chances: NDArray[np.float64] = np.exp(logs)
    return chances
