import doctest
import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from optcp import stats
from optcp.data import cells
from optcp.data.axes import Axis
from optcp.data.cells import Cells, stack
from optcp.errors import InputError
from optcp.papers.curves import coarser
from optcp.stats import quantiles

DELAY = Axis("delay", ("0 ms", "50 ms"))
TCP = Axis("tcp", ("rfc", "linux-6", "cubic"))
SEEDS = (3, 1, 7, 9)
GRIDS = arrays(np.float64, (4, 2, 3), elements=st.floats(-1e6, 1e6) | st.just(np.nan))
STATISTICS = {
    "mean": stats.mean,
    "median": lambda column: quantiles.quantile(column, 0.5),
    "share": lambda column: stats.share(float(column.sum()), column.size),
}


def grid(values, axes=(DELAY, TCP), unit="B"):
    return Cells(values, axes, SEEDS, "bytes", unit)


def column(values):
    return Cells(np.array(values), (), tuple(range(len(values))))


def only(estimates):
    ((key, interval),) = estimates
    assert key == {}
    return interval


def test_the_mean_of_three_seeds_has_students_interval():
    # Mean 2, s = 1, t(2, 0.975) = 4.3027 (any table): 2 -+ 4.3027 / sqrt(3).
    interval = only(column([1, 2, 3]).mean())
    assert interval.estimate == 2
    assert interval.low == pytest.approx(2 - 4.3027 / math.sqrt(3), abs=1e-4)
    assert interval.high == pytest.approx(2 + 4.3027 / math.sqrt(3), abs=1e-4)
    assert interval.n == 3


def test_share_has_an_exact_interval():
    # Newcombe, Statist. Med. 17 (1998) 857-872, table I: 15 of 148, method 5 gives 0.0578 to 0.1617.
    interval = only((column([-1] * 15 + [1] * 133) < 0).share())
    assert (interval.estimate, interval.n) == (15 / 148, 148)
    assert interval.low == pytest.approx(0.0578, abs=5e-5)
    assert interval.high == pytest.approx(0.1617, abs=5e-5)


def test_undefined_seed_is_omitted_and_reported():
    values = column([1, 2, np.nan, 3])
    assert only(values.mean()) == stats.mean([1, 2, 3])
    assert "n is less where some were undefined" in repr(values.mean())
    assert repr(values) == "cells: 4 seeds, 1 of 4 values undefined"
    assert math.isnan(only(column([np.nan]).mean()).estimate)
    assert "-" in repr(column([np.nan]).mean()).split()


@pytest.mark.parametrize("statistic", STATISTICS)
@given(values=GRIDS)
def test_statistics_match_seeds_of_each_combination_exactly(statistic, values):
    if statistic == "share":
        values = np.where(np.isnan(values), np.nan, values > 0)
    estimates = getattr(grid(values), statistic)()
    for at in np.ndindex(2, 3):
        defined = [value for value in values[:, at[0], at[1]] if not math.isnan(value)]
        found = [estimates.estimate[at], estimates.low[at], estimates.high[at]]
        if defined:
            interval = STATISTICS[statistic](np.array(defined))
            assert found == [interval.estimate, interval.low, interval.high]
        else:
            assert np.isnan(found).all()
        assert estimates.n[at] == len(defined)


@given(values=GRIDS, others=GRIDS)
def test_axes_align_by_name_in_any_order(values, others):
    turned = Cells(others.transpose(0, 2, 1), (TCP, DELAY), SEEDS)
    np.testing.assert_array_equal((grid(values) + turned).values, values + others)
    row = Cells(others[:, 0, :], (TCP,), SEEDS)
    np.testing.assert_array_equal((grid(values) - row).values, values - others[:, :1, :])
    apart = Cells(values[:, :, 0], (DELAY,), SEEDS) * row
    assert [axis.name for axis in apart.axes] == ["delay", "tcp"]
    np.testing.assert_array_equal(apart.values, values[:, :, :1] * others[:, :1, :])


def test_arithmetic_with_numbers_from_both_sides():
    values = Cells([[1.0, 4.0]], (DELAY,), (1,), unit="B")
    for found, expected, unit in [
        (2 + values, [3, 6], "B"),
        (10 - values, [9, 6], "B"),
        (np.float64(2) * values, [2, 8], "B"),
        (8 / values, [8, 2], "1/B"),
        (values / 2, [0.5, 2], "B"),
        (values / values, [1, 1], ""),
        (values**2, [1, 16], "(B)^2"),
        (abs(-values), [1, 4], "B"),
        (values >= 4, [0, 1], ""),
        (values != 4, [1, 0], ""),
        (values == 4, [0, 1], ""),
    ]:
        assert (found.values.tolist(), found.unit) == ([expected], unit)


def test_a_quotient_by_zero_and_a_comparison_with_nothing_are_undefined():
    quotient = Cells([[1.0, 0.0, 6.0]], (TCP,), (1,)) / Cells([[0.0, 0.0, 3.0]], (TCP,), (1,))
    np.testing.assert_array_equal(quotient.values, [[np.nan, np.nan, 2]])
    np.testing.assert_array_equal((quotient < 5).values, [[np.nan, np.nan, 1]])
    assert only((quotient.at(tcp="cubic") < 5).share()).n == 1


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Cells(np.ones((3, 2)), (DELAY,), (3, 1, 7)), "got 4 and 3, and seed 9 is not in both"),
        (Cells(np.ones((4, 2)), (DELAY,), (1, 3, 7, 9)), "the same seeds in the same order"),
        (Cells(np.ones((4, 2)), (Axis("delay", ("0 ms", "1 s")),), SEEDS), "'delay' differs: 0 ms, 50 ms against 0 ms"),
        (Cells(np.ones(4), (), SEEDS, unit="s"), "units differ: B and s"),
    ],
)
def test_differences_are_reported(other, message):
    with pytest.raises(InputError, match=re.escape(message)):
        grid(np.ones((4, 2, 3))) + other


def test_axis_in_other_units_is_equal():
    other = Cells(np.ones((4, 2)), (Axis("delay", ("0 s", "0.05 s")),), SEEDS)
    assert (grid(np.ones((4, 2, 3))) + other).values.tolist() == np.full((4, 2, 3), 2.0).tolist()


def test_at_drops_axes():
    values = np.arange(24.0).reshape(4, 2, 3)
    assert grid(values).at(delay="0.05 s", tcp="linux-6").values.tolist() == values[:, 1, 1].tolist()
    assert [axis.name for axis in grid(values).at(delay=0).axes] == ["tcp"]
    with pytest.raises(InputError, match="no axis 'tpc'; did you mean 'tcp'"):
        grid(values).at(tpc="rfc")


def test_only_some_values_of_axes_stay():
    values = np.arange(24.0).reshape(4, 2, 3)
    found = grid(values).part(tcp=["linux-6", "rfc"], delay=["0.05 s"])
    assert found.values.tolist() == values[:, 1:, [1, 0]].tolist()
    assert [axis.values for axis in found.axes] == [("50 ms",), ("linux-6", "rfc")]
    assert found.axes[0].numbers == (0.05,)
    shown = Axis("tcp", ("a", "b", "c"), labels=("A", "B", "C")).part([2, 0])
    assert (shown.values, shown.labels) == (("c", "a"), ("C", "A"))
    with pytest.raises(InputError, match="no value 'cubik'"):
        grid(values).part(tcp=["rfc", "cubik"])


def test_the_spread_over_seeds():
    assert Cells([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], (DELAY,), (1, 2, 3)).deviation().estimate.tolist() == [1, 0]


def test_sums_and_means_over_axes():
    values = Cells([[[1, 2, 3], [4, 5, 9]]], (DELAY, TCP), (1,))
    assert values.total("tcp").values.tolist() == [[6, 18]]
    assert values.mean_over("delay").values.tolist() == [[2.5, 3.5, 6]]
    assert values.total("delay", "tcp").values.tolist() == [24]


def test_ties_share_a_win():
    values = Cells([[1, 5, 2], [4, 4, 1], [2, 2, 2], [1, np.nan, 2]], (TCP,), SEEDS)
    won = values.wins("tcp")
    np.testing.assert_array_equal(won.values[:3], [[0, 1, 0], [0.5, 0.5, 0], [1 / 3] * 3])
    assert np.isnan(won.values[3]).all()
    assert won.share().n.tolist() == [3, 3, 3]


def test_each_value_minus_the_next():
    steps = Cells([[1.0, 5.0, 2.0]], (TCP,), (1,)).minus_next("tcp")
    assert steps.values.tolist() == [[-4, 3]]
    assert steps.axes[0].values == ("rfc", "linux-6")


def test_a_function_of_each_value():
    assert Cells([[1.0, 100.0]], (DELAY,), (1,)).each(np.log10).values.tolist() == [[0, 2]]


def test_columns_are_tidy_and_in_si():
    columns = Cells([[1, 2], [3, 4]], (DELAY,), (5, 6), "goodput").columns()
    assert {name: column.tolist() for name, column in columns.items()} == {
        "seed": [5, 5, 6, 6],
        "delay_s": [0, 0.05, 0, 0.05],
        "goodput": [1, 2, 3, 4],
    }
    shares = (Cells([[1, 2], [1, 2]], (DELAY,), (5, 6)) > 1).share()
    assert {name: column.tolist() for name, column in shares.columns().items()} == {
        "delay_s": [0, 0.05], "estimate": [0, 1], "low": [0, pytest.approx(0.025**0.5)],
        "high": [pytest.approx(1 - 0.025**0.5), 1], "n": [2, 2],
    }  # fmt: skip
    assert shares.to_numpy()[0].tolist() == [0, 0, pytest.approx(1 - 0.025**0.5)]


@pytest.mark.parametrize(("method", "module"), [("to_pandas", "pandas"), ("to_xarray", "xarray")])
def test_a_library_that_is_missing_is_named_with_its_extra(method, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=re.escape(f"{module} is not installed: pip install 'optcp[frames]'")):
        getattr(column([1.0]), method)()


def test_misuse_is_answered_with_a_message():
    values = column([1.0, 2.0])
    with pytest.raises(InputError, match="share"):
        values.share()
    with pytest.raises(InputError, match="no single truth value"):
        bool(values < 1)
    with pytest.raises(InputError, match=re.escape("expected values of shape (2, 2) (seeds, delay), got (2, 3)")):
        Cells(np.ones((2, 3)), (DELAY,), (1, 2))
    with pytest.raises(InputError, match="between 0 and 1"):
        values.quantile(99)


def test_a_figure_shows_each_estimate_with_its_interval():
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    means = grid(np.arange(24.0).reshape(4, 2, 3)).mean()
    panel = means.plot(x="delay", by="tcp")
    assert [text.get_text() for text in panel.get_legend().get_texts()] == list(TCP.values)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("delay [ms]", "bytes [B]")
    assert panel.xaxis.get_major_formatter()(0.05) == "50"
    lines, _, (bars,) = panel.containers[1]
    assert lines.get_xydata().tolist() == [[0, means.estimate[0, 1]], [0.05, means.estimate[1, 1]]]
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([means.low[0, 1], means.high[0, 1]])
    assert panel.figure.get_figwidth() == 3.5
    plt.close(panel.figure)
    with pytest.raises(InputError, match=re.escape("axis 'tcp' has 3 values; select one with at(tcp=...)")):
        means.plot(x="delay")


def test_importing_cells_only_imports_numpy():
    heavy = ("scipy", "matplotlib", "pandas", "polars")
    code = f"import sys, optcp.data.cells; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_examples_of_the_docstrings_hold():
    assert doctest.testmod(cells).failed == 0
    assert doctest.testmod(quantiles).failed == 0


def test_the_total_is_a_further_value():
    cells = grid(np.arange(24).reshape(4, 2, 3)).with_total("delay")
    assert cells.axis("delay").values == ("0 ms", "50 ms", "total")
    assert cells.at(delay="total").values[0].tolist() == [3, 5, 7]
    assert cells.at(delay="50 ms").values[0].tolist() == [3, 4, 5]


def test_an_axis_takes_another_name():
    cells = grid(np.zeros((4, 2, 3))).renamed(tcp="sender")
    assert [axis.name for axis in cells.axes] == ["delay", "sender"]
    with pytest.raises(InputError, match="no axis 'tpc'"):
        grid(np.zeros((4, 2, 3))).renamed(tpc="sender")


def test_deviation_of_three_seeds_has_no_interval():
    assert only(column([1, 2, 3]).deviation()) == stats.Interval(1.0, 0.0, math.inf, 3)


def test_interval_of_a_mean_ends_at_the_bounds_of_the_quantity():
    shares = replace(column([0.0, 0.0, 0.3]), bounds=(0.0, 1.0))
    interval = only(shares.mean())
    assert (interval.low, interval.estimate) == (0.0, pytest.approx(0.1))
    # 0.1 + 4.3027 * 0.1732 / sqrt(3)
    assert interval.high == pytest.approx(0.5303, abs=1e-4)
    assert only((shares - 1).mean()).low == pytest.approx(-1.3303, abs=1e-4)
    two = Cells([[0.4, 0.9], [1.0, 1.0]], (DELAY,), (1, 2), bounds=(0.0, 1.0))
    assert only(two.total("delay").mean()).high == pytest.approx(1.65 + 12.706 * 0.35, rel=1e-4)
    assert only(two.mean_over("delay").mean()).high == 1


REPEATED = Cells(
    [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]] * 4,
    (DELAY, TCP),
    SEEDS,
    repeated=np.array([[[True, True, False], [True, False, False]]]),
)


def test_cell_whose_seeds_are_one_run_has_one_observation():
    means = REPEATED.mean()
    assert means.n.tolist() == [[1, 1, 4], [1, 4, 4]]
    assert np.isinf(means.low).all()
    assert REPEATED.quantile(0.5).n.tolist() == [[1, 1, 4], [1, 4, 4]]
    assert (REPEATED < 3).share().n.tolist() == [[1, 1, 4], [1, 4, 4]]


@pytest.mark.parametrize(
    ("derived", "repeated"),
    [
        (lambda item: item * 2 + 1, [[True, True, False], [True, False, False]]),
        (lambda item: item - item.at(delay="0 ms"), [[True, True, False], [True, False, False]]),
        (lambda item: item - item.at(delay="50 ms"), [[True, False, False], [True, False, False]]),
        (lambda item: item - grid(np.ones((4, 2, 3))), [[False] * 3] * 2),
        (lambda item: item.part(tcp=["cubic", "rfc"]), [[False, True], [False, True]]),
        (lambda item: item.total("tcp"), [False, False]),
        (lambda item: item.part(tcp=["rfc", "linux-6"]).mean_over("tcp"), [True, False]),
        (lambda item: item.with_total("delay"), [[True, True, False], [True, False, False], [True, False, False]]),
        (lambda item: item.minus_next("tcp"), [[True, False], [False, False]]),
        (lambda item: item.at(tcp="rfc").wins("delay"), [True, True]),
        (lambda item: item.wins("tcp"), [[False] * 3] * 2),
        (
            lambda item: stack("of", {"a": item.at(tcp="rfc"), "b": item.at(tcp="linux-6")}),
            [[True, True], [True, False]],
        ),
    ],
)
def test_result_of_single_runs_counts_as_one_run(derived, repeated):
    many = np.where(repeated, 1, 4)
    assert derived(replace(REPEATED, unit="")).mean().n.tolist() == many.tolist()


def test_sums_over_longer_intervals():
    time = Axis("time", ("0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s"))
    cells = coarser(Cells([[1, 2, 3, 4, 5]], (time,), (1,)), 0.2)
    assert cells.axis("time").numbers == (0.2, 0.4)
    assert cells.values.tolist() == [[3, 7]]


def test_where_a_comparison_holds():
    cells = grid(np.arange(24).reshape(4, 2, 3))
    late = Cells([0, 1, 1, np.nan], (), SEEDS)
    kept = cells.where(late > 0)
    assert (kept.unit, kept.name) == ("B", "bytes")
    assert np.isnan(kept.values[[0, 3]]).all()
    assert kept.values[1:3].tolist() == cells.values[1:3].tolist()
    assert kept.mean().n.tolist() == [[2] * 3] * 2


def test_cells_are_stacked():
    one = Cells([[1, 2], [3, 4]], (DELAY,), (1, 2))
    stacked = stack("flows", {"1": one, "10": 10 * one})
    assert [axis.name for axis in stacked.axes] == ["flows", "delay"]
    assert stacked.axis("flows").numbers == (1, 10)
    assert stacked.at(flows=10).values.tolist() == [[10, 20], [30, 40]]
    with pytest.raises(InputError, match="the same axes"):
        stack("flows", {"1": one, "10": one.at(delay="50 ms")})
    with pytest.raises(InputError, match="same seeds"):
        stack("flows", {"1": one, "10": Cells([[1, 2]], (DELAY,), (1,))})


def test_difference_of_two_censored_values_is_unknown_and_counts():
    """Seeds by hand: infinite minus infinite is unknown, 5 - 2 = 3, infinite minus 1 is infinite."""
    gap = column([math.inf, 5.0, math.inf]) - column([math.inf, 2.0, 1.0])
    assert gap.values.tolist() == [math.inf, 3.0, math.inf]
    # The median of 3, unknown and unknown; of 3 and one unknown value it would be 3.
    assert (only(gap.median()).estimate, only(gap.median()).n) == (math.inf, 3)
