"""Variants of section 5.2: grids, evaluation, and judgements."""

from types import SimpleNamespace

import numpy as np
import pytest

from handmade import HandMade, cells
from optcp.papers import judge
from optcp.papers.options import Options
from optcp.plots import figures
from optcp_papers.gmpls import section5_2
from optcp_papers.gmpls.section5 import CLASSES
from optcp_papers.gmpls.section5_2 import (
    COMPARED,
    DELTA_MS,
    FLOWS,
    SCALES,
    SECTION5_2,
    SETTLING,
    Delays,
    Measured,
    World,
)

N = 30
NOISE = np.random.default_rng(8).normal(0, 1, (N, len(DELTA_MS)))
INTERVALS = [f"{(i + 1) / 20} s" for i in range(200)]


def delays(gain_pct, offered_pct=180.0):
    """Return a variant with these gains by delay, and this offered load."""
    good = 1e6 * (1 + np.array(gain_pct) / 100 + 0.001 * NOISE)
    good[:, 0] = 1e6
    return Delays(cells(good, delta_ms=DELTA_MS), cells(offered_pct * (1 + 0.001 * NOISE[:, 0])))


def settling(seconds):
    """Return two classes below their level for a time after the switchover at 5.05 s."""
    goodput = np.full((N, 2, 200), 50.0) + 0.05 * np.random.default_rng(9).normal(0, 1, (N, 2, 200))
    goodput[..., 101 : 101 + 2 * round(10 * seconds)] *= 0.5
    return cells(goodput, group=CLASSES, time=INTERVALS)


def measured(by_world=None, settles=None):
    result = {world: delays([0] * 9) for world in COMPARED} | (by_world or {})
    times = {world: settling(1.0) for world in SETTLING} | (settles or {})
    return Measured(result, times)


def answer(function, *arguments):
    return judge.combine(function(*arguments))[0]


def test_grids_have_all_scenarios():
    assert World(0.9, 5).settings == {
        "parameters.access_share": 0.9,
        "parameters.sources": 5,
        "parameters.flows_per_source": 1,
        "parameters.access_delay": "uniform(10 ms, 100 ms)",
    }
    assert World(0.6, 50, 0.5).settings == {
        "parameters.access_share": 0.6,
        "parameters.sources": 10,
        "parameters.flows_per_source": 5,
        "parameters.access_delay": "uniform(5 ms, 50 ms)",
    }
    chosen = {parameter.name: parameter.default for parameter in SECTION5_2.assumed}
    grids = SECTION5_2.studies(chosen, Options())
    assert len(grids) == len(COMPARED) + len(SETTLING) == 7 + 9
    assert len({grid.hash for grid in grids.values()}) == len(grids)
    assert [len(grid.branches) for grid in grids.values()] == [9] * 7 + [1] * 9


def test_delays_are_evaluated():
    def run(value):
        goodput = np.zeros((2, 13), dtype="u8")
        goodput[0, 9], goodput[0, 10], goodput[1, 12] = 10**6, value, 1  # (4.5 s, 5 s] is before, (6 s, 6.5 s] is in
        load = np.zeros((4, 130), dtype="u8")
        load[0, 100], load[2, 100], load[1, 100], load[0, 99], load[2, 101] = 30, 12, 500, 500, 500
        return {
            "goodput": {"interval_s": 0.5, "groups": ["switched", "fixed"], "bytes": goodput},
            "offered": {"interval_s": 0.05, "ports": ["L1->L5", "L5->L1", "L4->L5", "L5->L4"], "bytes": load},
        }

    done = HandMade({"delta_ms": DELTA_MS}, [[run(100 * (index + 1)) for index in range(9)]])
    found = Delays.of(done, 10e6)
    assert found.good.values.tolist() == [[100 * (index + 1) + 1 for index in range(9)]]
    # 50 ms at 10 Mb/s are 62 500 bytes.
    assert found.offered_pct.values == pytest.approx([100 * 42 / 62_500])


def test_settling_is_evaluated_from_switchover():
    bytes_ = np.zeros((2, 200))
    bytes_[1] = np.arange(200)  # interval i of 50 ms
    run = {"goodput": {"interval_s": 0.05, "groups": ["fixed", "switched"], "bytes": bytes_}}
    goodput = HandMade({"delta_ms": (50,)}, [[run]])["goodput"].cells().at(delta_ms=50)
    found = measured(settles={World(0.9, 10): goodput})
    switched, fixed = (found.settling(World(0.9, 10), name) for name in CLASSES)
    # The switchover is at 5.05 s, interval 101; 49 whole intervals of 100 ms remain; (9 s, 10 s] are 180 to 199.
    assert switched.shape == (1, 50)
    assert (switched[0, 0], switched[0, 48], switched[0, 49]) == (101 + 102, 197 + 198, 0.1 * sum(range(180, 200)))
    assert fixed.sum() == 0


def test_unsettled_curve_counts_to_end_of_run():
    assert section5_2.settled_s(np.array([[*[50.0] * 49, 100.0]])).tolist() == [4.9]
    curves = measured(settles={World(0.9, 10): settling(1.2)}).settling(World(0.9, 10), "switched")
    assert section5_2.settled_s(curves.mean(axis=0)[None]).tolist() == pytest.approx([1.2])


RISING = [0, 1, 1, 2, 3, 6, 9, 8, 6]
FALLING = [0, 2, 1, 0, -1, -5, -12, -15, -25]


@pytest.mark.parametrize(
    ("lower", "offered", "holds"),
    [
        (FALLING, 119, True),
        (RISING, 119, "undecided"),
        (FALLING, 130, False),
        ([2 * gain for gain in RISING], 119, False),
    ],
)
def test_lower_load_lower_delay(lower, offered, holds):
    worlds = {World(0.9, 10): delays(RISING, 178), World(0.6, 10): delays(lower, offered)}
    assert answer(section5_2.lower_load_lower_delay, measured(worlds), 10) is holds


def many_flows(best, scale, settles):
    """Return variants whose best delay, spread and settling time fall with the number of flows, or not."""
    worlds = {}
    for index, flows in enumerate(FLOWS):
        gain = [0.0] * 9
        gain[best[index]] = scale[index]
        worlds[World(0.9, flows)] = delays(gain)
    times = {World(0.9, flows): settling(seconds) for flows, seconds in zip(FLOWS, settles, strict=True)}
    times |= {World(0.9, 10, factor): settling(settles[1] + factor - 1) for factor in SCALES}
    return measured(worlds, times)


def test_more_flows_settle_faster():
    def holds(*described):
        return answer(section5_2.more_flows_settle_faster, many_flows(*described), 10)

    assert holds([7, 6, 5, 4, 3], [30, 20, 10, 5, 3], [3, 2.5, 2, 1.5, 1]) is True
    assert holds([7, 6, 5, 4, 3], [30, 20, 10, 5, 3], [1, 1.5, 2, 2.5, 3]) is False
    assert holds([3, 4, 5, 6, 7], [30, 20, 10, 5, 3], [3, 2.5, 2, 1.5, 1]) is False
    assert holds([7, 6, 5, 4, 3], [30, 20, 10, 9, 8], [3, 2.5, 2, 1.5, 1]) is False


def test_rows_and_figures():
    told = many_flows([7, 6, 5, 4, 3], [30, 20, 10, 5, 3], [3, 2.5, 2, 1.5, 1])
    rows, series = section5_2.compared(told), section5_2.gain_curves(told)
    assert len(rows) == 7 * (9 + 3) + 9 * 2
    assert len({row.name for row in rows}) == len(rows)
    by_name = {row.name: row.measured for row in rows}
    assert by_name["flows=20+20 access_pct=90 access_delay_scale=1 best_delay_ms"] == 50
    assert by_name["flows=20+20 access_pct=90 access_delay_scale=1 spread_to_250ms_pct"] == pytest.approx(10, abs=0.2)
    assert by_name["flows=10+10 access_pct=90 access_delay_scale=1 offered_load_pct"] == pytest.approx(180, abs=0.2)
    drawn = figures(SimpleNamespace(exhibit=SECTION5_2.id, rows=rows, series=series))
    assert [figure.svg[:4] for figure in drawn] == ["<svg"] * 2
