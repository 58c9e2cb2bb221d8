"""Inelastic traffic over a bundle: closed forms, and targets met on curves made by hand."""

import math

import numpy as np
import pytest

from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp_papers.lbas import inelastic, waiting


def cosmetatos(servers, load):
    """Return the mean wait of M/D/k by G. P. Cosmetatos, "Some approximate equilibrium results", 1975."""
    offered = servers * load
    terms = [offered**number / math.factorial(number) for number in range(servers)]
    last = offered**servers / math.factorial(servers) / (1 - load)
    erlang_wait = last / (sum(terms) + last) / (servers * (1 - load))
    more = (1 - load) * (servers - 1) * (math.sqrt(4 + 5 * servers) - 2) / (16 * load * servers)
    return erlang_wait / 2 * (1 + more)


@pytest.mark.parametrize(("servers", "load"), [(1, 0.7), (2, 0.7), (4, 0.8), (10, 0.9)])
def test_closed_forms_are_near_a_published_approximation(servers, load):
    assert waiting.mdk(servers, load) == pytest.approx(cosmetatos(servers, load), rel=0.01)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9, 0.95])
def test_one_lightpath_is_the_pollaczek_khinchine_formula(load):
    assert waiting.mdk(1, load) == pytest.approx(waiting.md1(load), rel=1e-6)


def test_lightpaths_are_counted_from_where_the_target_holds_for_good():
    numbers = (9, 10, 12, 20)
    assert inelastic.fewest(numbers, np.array([5, 0.9, 1.1, 0.2]), 1.0) == 20
    assert inelastic.fewest(numbers, np.array([0.5, 0.4, 0.3, 0.2]), 1.0) == 9
    assert math.isnan(inelastic.fewest(numbers, np.array([9, 8, 7, 6]), 1.0))


def test_load_is_interpolated_in_the_logarithm_of_the_wait():
    loads = (50, 70, 90)
    # From 0.1 to 10 the wait grows by two decades over 20 %; 1 is half way.
    assert inelastic.largest(loads, np.array([0.01, 0.1, 10]), 1.0) == pytest.approx(80)
    assert inelastic.largest(loads, np.array([0.01, 0.1, 0.2]), 1.0) == 90
    assert math.isnan(inelastic.largest(loads, np.array([2, 3, 4]), 1.0))


def gains(best):
    """Return gains that are largest with H = 0.9 at 1 packet time, with eight seeds around ``best``."""
    values = np.zeros((8, 3, 4))
    values[:, 2, 1] = best + np.linspace(-1, 1, 8)
    targets = Axis("target_packets", ("0.25", "1", "10", "100"))
    return Cells(values, (Axis("traffic", tuple(inelastic.TRAFFIC)), targets), tuple(range(8)))


@pytest.mark.parametrize(("best", "expected"), [(65, True), (40, False)])
def test_largest_gain_is_compared_with_the_published_one(best, expected):
    (part,) = inelastic.largest_gain("fewer", gains(best), 65)
    assert part.holds is expected
    assert part.text.startswith("fewer (H = 0.9, 1 packet times)")


def test_seeds_without_a_value_leave_a_target_out():
    values = gains(65)
    values.values[0, 2, 1] = np.nan
    values.values[:, 1, 2] = 30
    (part,) = inelastic.largest_gain("fewer", values, 65)
    assert part.text.startswith("fewer (H = 0.7, 10 packet times)")
