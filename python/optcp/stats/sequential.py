"""Significance levels of interim looks, for seeds that are added in stages.

A test at 5 % after every stage, with a stop at the first rejection, has a type I error above 5 % [1]_. Group-sequential
designs [2]_ [3]_ fix the number of interim looks in advance and divide the error among them.

Here each of K looks uses the level 5 % / K. By Bonferroni's inequality, the total type I error is at most 5 % for any
dependence between looks. Pocock's level (1.82 % instead of 1.25 % for four looks) needs fewer seeds, but assumes normal
means at equal steps. Bonferroni needs only p-values, so it suits every test of :mod:`optcp.papers.judge` and Holm's
correction within a look.

References
----------
.. [1] P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Stat. Soc. A 132 (1969) 235-244.
.. [2] S. J. Pocock, Biometrika 64 (1977) 191-199.
.. [3] K. K. G. Lan, D. L. DeMets, Biometrika 70 (1983) 659-663.
"""

from __future__ import annotations

LEVEL = 0.05
"""Type I error of one verdict over all looks."""


def looks(most: int) -> tuple[int, ...]:
    """Return the times of looks as multiples of the first number of seeds: powers of two, and ``most`` at the end.

    Raises
    ------
    ValueError
        If ``most`` is below 2.
    """
    if most < 2:
        raise ValueError(f"most: expected 2 or more, got {most}")
    doubled = [2**power for power in range(most.bit_length()) if 2**power < most]
    return (*doubled, most)


def level(number: int) -> float:
    """Return the level of each look, for this number of looks."""
    return LEVEL / number
