import doctest
import re

import pytest

from optcp.data import axes
from optcp.data.axes import Axis
from optcp.errors import InputError

DELAY = Axis("switch_delay", ("0 ms", "50 ms", "1 s"))


@pytest.mark.parametrize("value", ["50 ms", "0.05 s", "50000us", 0.05])
def test_value_is_found_in_any_notation(value):
    assert DELAY.index(value) == 1


def test_computed_number_matches_axis_value():
    assert Axis("load", ("0.1", "0.3")).index(0.1 + 0.2) == 1


def test_axis_has_numbers_only_if_all_values_share_a_unit():
    assert (DELAY.numbers, DELAY.unit) == ((0.0, 0.05, 1.0), "s")
    assert Axis("stack", ("rfc", "linux-6")).numbers is None
    assert Axis("mixed", ("1 s", "1 B")).numbers is None
    assert Axis("buffer", ("10", "none")).numbers is None


@pytest.mark.parametrize(
    ("axis", "value", "message"),
    [
        (DELAY, "60 ms", "no value '60 ms'; did you mean '50 ms'?"),
        (DELAY, 0.9, "did you mean '1 s'?"),
        (DELAY, "50 B", "no value '50 B'; did you mean '50 ms'?"),
        (Axis("stack", ("rfc", "linux-6")), "linux", "did you mean 'linux-6'?"),
    ],
)
def test_unknown_value_suggests_nearest_value(axis, value, message):
    with pytest.raises(InputError, match=re.escape(message)):
        axis.index(value)


def test_repeated_values_and_missing_labels_are_refused():
    with pytest.raises(InputError, match="duplicate value '1 s'"):
        Axis("delay", ("1 s", "1 s"))
    with pytest.raises(InputError, match="expected 2 labels, got 1"):
        Axis("delay", ("1 s", "2 s"), labels=("one",))


def test_the_examples_of_the_docstrings_hold():
    assert doctest.testmod(axes).failed == 0
