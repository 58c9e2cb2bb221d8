"""Seeds added in stages: how often one may look at the tests meanwhile, and at which level.

Who tests at 5 % after each stage, and stops once a test rejects, is wrong in more than 5 % of cases where there is
nothing to find: the error of a test grows with each look (P. Armitage, C. K. McPherson, B. C. Rowe, J. R. Stat. Soc. A
132 (1969) 235-244). A group-sequential design (S. J. Pocock, Biometrika 64 (1977) 191-199; K. K. G. Lan, D. L. DeMets,
Biometrika 70 (1983) 659-663) fixes the looks before the first run and shares the 5 % among them.

Here each of K looks has 5 % / K. That is Bonferroni's inequality: the chance that any look errs is at most the sum of
their chances, whatever joins them. Pocock's level, 1.82 % for four looks in place of 1.25 %, is of normal means at
equal steps; this one needs a p-value at each look and nothing else, so it is right for every test of
:mod:`optcp.papers.judge` and for Holm's correction in a look, at the price of some more seeds.
"""

from __future__ import annotations

LEVEL = 0.05
"""The error of one judgement, whatever the number of looks."""


def looks(most: int) -> tuple[int, ...]:
    """When to look, in multiples of the first number of seeds: it doubles, and the last look is at ``most``.

    Raises
    ------
    ValueError
        If there would be no second look.
    """
    if most < 2:
        raise ValueError(f"seeds are added up to 2 times their first number or more, got {most}")
    doubled = [2**power for power in range(most.bit_length()) if 2**power < most]
    return (*doubled, most)


def level(number: int) -> float:
    """The level of each of this many looks."""
    return LEVEL / number
