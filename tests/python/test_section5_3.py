"""Section 5.3: grids, evaluation, and judgements."""

from types import SimpleNamespace

import numpy as np
import pytest

from handmade import HandMade, cells
from optcp.errors import RunFailed
from optcp.papers import judge
from optcp.papers.options import Options
from optcp.plots import figures
from optcp_papers.gmpls import section5_3
from optcp_papers.gmpls.section5_3 import BACKUPS, DELTA_MS, PAPER_RUNS, SECTION5_3, World

NOISE = np.random.default_rng(10).normal(0, 1, (PAPER_RUNS, len(DELTA_MS)))
FALLING = np.array([100, 98, 96, 94, 92, 90, 88, 60, 40, 10])


def world(level=FALLING, fixed=(100, 100, 100, 100), switched=(100, 40, 90, 80)):
    """Return goodput by delay; with fixed flows: no failure, electrical immediately, reserved at 0 and at 50 ms."""
    beside = np.stack([1000 * (np.array(of_class) + 0.01 * NOISE[:, :1]) for of_class in (switched, fixed)], axis=-1)
    return World(
        cells((1000 * (np.asarray(level) + 0.1 * NOISE)).round(), delta_ms=DELTA_MS),
        cells(beside.round(), backup=BACKUPS, group=("switched", "fixed")),
    )


def answer(function, *arguments):
    return judge.combine(function(*arguments))[0]


def test_grids_have_all_scenarios():
    chosen = {parameter.name: parameter.default for parameter in SECTION5_3.assumed}
    grids = list(SECTION5_3.studies(chosen, Options()).values())
    assert [len(grid.branches) for grid in grids] == [10, 4, 10, 4]
    repairs = [branch.key["parameters.repair"] for branch in grids[0].branches]
    assert (repairs[0], repairs[1], repairs[-1]) == ("5000 ms", "5005 ms", "6000 ms")
    assert [branch.key.get("protection.0.capacity") for branch in grids[3].branches] == [
        None,
        None,
        *["reserved"] * 2,
    ]
    assert len({grid.hash for grid in grids}) == 4


def test_the_window_is_counted_by_class():
    def run(groups, value):
        bytes_ = np.zeros((len(groups), 65), dtype="u8")
        bytes_[:, 49] = 10**6  # (4.9 s, 5 s]
        bytes_[0, 50], bytes_[-1, 64] = value, value + 1
        return {"goodput": {"interval_s": 0.1, "groups": groups, "bytes": bytes_}}

    both = HandMade({"backup": ("a", "b")}, [[run(["fixed", "switched"], 5), run(["fixed", "switched"], 7)]])
    found = section5_3.in_window(both)
    assert found.at(group="switched").values.tolist() == [[6, 8]]
    assert found.at(group="fixed").values.tolist() == [[5, 7]]
    down = HandMade({"delta_ms": (0,)}, [[run(["switched"], 5)]])
    assert section5_3.in_window(down).total("group").values.tolist() == [[11]]


def test_faster_is_better():
    assert answer(section5_3.faster_is_better, world()) is True
    assert answer(section5_3.faster_is_better, world(FALLING[::-1])) is False
    with pytest.raises(RunFailed, match="no meaning"):
        _ = World(cells(np.zeros((3, 10)), delta_ms=DELTA_MS), world().beside).gain_pct


def wins(*counts):
    """Return runs with this number of best results at each delay."""
    best = np.repeat(np.arange(len(counts)), counts)
    level = np.tile(FALLING - 20.0, (PAPER_RUNS, 1))
    level[np.arange(PAPER_RUNS), best] = 100
    return world(level)


@pytest.mark.parametrize(
    ("counts", "holds"), [((132, 8), True), ((130, 10), True), ((100, 40), False), ((131, 8, 1), False)]
)
def test_immediate_switchover_is_best(counts, holds):
    # 94 and 6 % of 140 are 131.6 and 8.4.
    assert answer(section5_3.at_once_is_best, wins(*counts)) is holds


def test_tie_with_longer_delay_counts_as_tie():
    level = np.tile(FALLING.astype(float), (PAPER_RUNS, 1))
    level[0, 2] = level[0, 0]
    parts = section5_3.at_once_is_best(World(cells(1000 * level, delta_ms=DELTA_MS), world().beside))
    assert parts[-1].text.endswith("1 of 140")


def test_fixed_flows_are_unaffected_by_reserved_backup():
    assert answer(section5_3.third_flows_left_alone, world()) is True
    assert answer(section5_3.third_flows_left_alone, world(fixed=(100, 50, 98, 100))) is False
    assert answer(section5_3.third_flows_left_alone, world(switched=(100, 95, 90, 80))) is False


def test_rows_and_figure():
    rows = section5_3.compared("100+100", world(), changed=False)
    assert len({row.name for row in rows}) == len(rows) == 2 * 10 + 2 + 1
    by_name = {row.name: row for row in rows}
    assert by_name["flows=100+100 delta_ms=0 best_pct"].paper == 94
    assert by_name["flows=100+100 delta_ms=5 best_pct"].paper == 6
    assert by_name["flows=100+100 delta_ms=1000 best_pct"].paper == 0
    assert by_name["flows=100+100 delta_ms=0 fixed_change_pct"].measured == 0
    # 190 against 140.
    assert by_name["flows=100+100 delta_ms=0 optical_vs_electrical_pct"].measured == pytest.approx(35.7, abs=0.1)
    (drawn,) = figures(SimpleNamespace(exhibit="gmpls/section5.3", rows=rows, series=[]))
    assert drawn.svg.startswith("<svg")
