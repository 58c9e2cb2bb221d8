import doctest
import math
import re

import numpy as np
import pytest

from optcp.data import compare as module
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.compare import compare
from optcp.errors import InputError

DRUG = Axis("drug", ("laevo", "dextro"))
# Student's two drugs and ten patients (Biometrika 6, 1908): mean difference 1.58, t = 4.0621, p = 0.00283. Nine of ten
# differences are above zero and one is zero: the sign-flip test has p = 2 / 2^9.
LAEVO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
DEXTRO = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SLEEP = Cells(np.transpose([LAEVO, DEXTRO]), (DRUG,), tuple(range(10)), unit="h")


@pytest.mark.parametrize("runs", [1, 3])
def test_censored_means_have_bounds_and_no_difference(runs):
    values, bounds = ([[2.0, ends]] * runs for ends in (math.inf, 1.5))
    cells = Cells(values, (DRUG,), tuple(range(runs)), at_least=np.array(bounds))
    (row,) = compare({"time": cells}, at={"drug": "laevo"}).rows
    assert (row.value, row.value_at_least, row.reference, row.n) == (math.inf, 1.5, 2, runs)
    assert all(math.isnan(item) for item in (row.difference, row.low, row.high, row.p, row.relative_pct))


def test_a_row_is_students_paired_test():
    (row,) = compare({"sleep": SLEEP}, at={"drug": "dextro"}).rows
    assert (row.metric, row.unit, row.cell, row.n) == ("sleep", "h", {"drug": "laevo"}, 10)
    assert (row.value, row.reference) == (pytest.approx(2.33), pytest.approx(0.75))
    assert row.difference == pytest.approx(1.58)
    assert (row.low, row.high) == (pytest.approx(0.70, abs=5e-3), pytest.approx(2.46, abs=5e-3))
    assert row.p == pytest.approx(2 / 2**9)
    assert row.relative_pct == pytest.approx(100 * 1.58 / 0.75)


@pytest.mark.parametrize(("both", "n"), [([True, True], 1), ([True, False], 3), ([False, False], 3)])
def test_deterministic_combinations_have_one_observation(both, n):
    cells = Cells([[1.0, 4.0], [1.0, 5.0], [1.0, 6.0]], (DRUG,), (1, 2, 3), repeated=np.array([both]))
    (row,) = compare({"metric": cells}, at={"drug": "laevo"}).rows
    assert (row.n, math.isnan(row.p), math.isinf(row.low)) == (n, n == 1, n == 1)


@pytest.mark.parametrize(
    ("name", "unit", "values", "expected"),
    [
        ("completion_p95_s", "s", [[0.4, 1.1, 0.02]], (1.0, "s")),
        ("completion_p95_s", "s", [[0.4e-3, 0.1e-3, 0.2e-3]], (1.0, "s")),
        ("goodput_bps", "bit/s", [[2e9, 3e5, 2e6]], (1e9, "Gbit/s")),
    ],
)
def test_all_rows_of_a_metric_have_one_unit(name, unit, values, expected):
    axis = Axis("load", ("0.1", "0.2", "0.3"))
    found = compare({name: Cells(values, (axis,), (1,), name, unit)}, at={"load": "0.1"})
    assert found.units() == {name: expected}


def test_the_relative_difference_has_the_differences_sign():
    (row,) = compare({"loss": -SLEEP}, at={"drug": "dextro"}).rows
    assert row.relative_pct == pytest.approx(-100 * 1.58 / 0.75)


def test_seeds_undefined_on_either_side_are_left_out():
    cells = Cells([[1, 2], [np.nan, 9], [3, np.nan], [2, 5]], (DRUG,), (1, 2, 3, 4))
    (row,) = compare({"metric": cells}, at={"drug": "laevo"}).rows
    assert (row.value, row.reference, row.difference, row.n) == (3.5, 1.5, 2, 2)
    (row,) = compare({"metric": Cells([[1, np.nan]], (DRUG,), (1,))}, at={"drug": "laevo"}).rows
    assert row.n == 0
    assert math.isnan(row.p)


def test_each_combination_has_reference_with_equal_other_axes():
    load = Axis("load", ("0.1", "0.2", "0.3"))
    cells = Cells([[[1, 2, 3], [10, 30, 50]]], (DRUG, load), (1,))
    table = compare({"both": cells, "one": Cells([[0, 4]], (DRUG,), (1,))}, at={"drug": "laevo"})
    assert [(row.cell, row.difference) for row in table.rows] == [
        ({"drug": "dextro", "load": "0.1"}, 9),
        ({"drug": "dextro", "load": "0.2"}, 28),
        ({"drug": "dextro", "load": "0.3"}, 47),
        ({"drug": "dextro"}, 4),
    ]
    assert math.isnan(table.rows[3].relative_pct)
    assert table.columns()["load"] == ["0.1", "0.2", "0.3", None]


def test_the_table_names_reference_and_units():
    lines = repr(compare({"sleep": SLEEP}, at={"drug": "dextro"})).split("\n")
    assert lines[0] == "differences from drug = dextro, paired by seed, 95 % intervals"
    assert lines[2].split() == [
        "sleep",
        "[h]",
        "laevo",
        "2.33",
        "0.75",
        "1.58",
        "0.7001",
        "2.46",
        "0.003906",
        "210.7",
        "10",
    ]
    assert "<td>sleep [h]</td><td>laevo</td>" in compare({"sleep": SLEEP}, at={"drug": "dextro"})._repr_html_()


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({}, "needs reference values"),
        ({"drag": "laevo"}, "no axis 'drag'; did you mean 'drug'?"),
        ({"drug": "leavo"}, "'drug' has no value 'leavo'; did you mean 'laevo'?"),
    ],
)
def test_an_unknown_reference_is_answered_with_the_nearest(at, message):
    with pytest.raises(InputError, match=re.escape(message)):
        compare({"sleep": SLEEP}, at=at)


def test_the_examples_of_the_docstrings_hold():
    assert doctest.testmod(module).failed == 0
