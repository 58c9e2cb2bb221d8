"""Observations of a study as labelled cells, on runs made by hand and on real ones."""

import numpy as np
import pytest

import optcp
from handmade import HandMade
from optcp.common import stored
from optcp.errors import InputError
from optcp.study.done import StudyResult
from optcp.study.grid import Grid, short_names
from optcp.study.store import Store

DELAYS = {"delta_ms": (0, 50)}


def run(first, second, drops=()):
    """Return goodput of groups a and b in four intervals of 0.5 s; drops are (time in s, port, ACK)."""
    times, ports, acks = zip(*drops, strict=True) if drops else ((), (), ())
    return {
        "goodput": {"interval_s": 0.5, "groups": ["a", "b"], "bytes": np.array([first, second], dtype="u8")},
        "drops": {
            "ports": ["x->y", "y->x"],
            "time_ps": np.array([round(1e12 * time) for time in times], dtype="u8"),
            "port": np.array([["x->y", "y->x"].index(port) for port in ports], dtype="u4"),
            "ack": np.array(acks, dtype=bool),
        },
    }


@pytest.fixture
def done():
    early = [(0.5, "x->y", False), (1.0, "x->y", True), (1.5, "y->x", False)]
    return HandMade(
        DELAYS,
        [
            [run([1, 2, 4, 8], [10, 20, 40, 80], early), run([0, 0, 0, 0], [1, 1, 1, 1])],
            [run([5, 5, 5, 5], [0, 0, 0, 7], [(1.2, "y->x", True)]), run([3, 0, 3, 0], [0, 3, 0, 3], early[:1])],
        ],
    )


def test_window_has_intervals_after_start_up_to_end(done):
    found = done["goodput"].between("0.5 s", "1.5 s")
    assert [axis.name for axis in found.axes] == ["delta_ms", "group"]
    assert found.values.tolist() == [[[6, 60], [0, 2]], [[10, 0], [3, 3]]]
    assert found.at(delta_ms=50, group="b").values.tolist() == [2, 3]
    assert found.total("group").values.tolist() == [[66, 2], [10, 6]]
    assert done["goodput"].between(0, 2).total("group").values.tolist() == [[165, 4], [27, 12]]


@pytest.mark.parametrize(("start", "end", "message"), [("0.7 s", "1 s", "no value"), ("1 s", "0.5 s", "is empty")])
def test_a_window_inside_an_interval_is_refused(done, start, end, message):
    with pytest.raises(InputError, match=message):
        done["goodput"].between(start, end)


def test_events_are_counted_by_time_and_column(done):
    drops = done["drops"]
    assert drops.count().values.tolist() == [[3, 0], [1, 1]]
    assert drops.count(after=0.5, until="1.5 s").values.tolist() == [[2, 0], [1, 0]]
    assert drops.count(before=1.5, port="x->y").values.tolist() == [[2, 0], [0, 1]]
    assert drops.count(ack=True, port=("x->y", "y->x")).values.tolist() == [[1, 0], [1, 0]]
    assert drops.count(port=lambda name: name.startswith("y")).values.tolist() == [[1, 0], [1, 0]]


def test_times_can_differ_by_combination(done):
    assert done["drops"].count(after=[1.0, 0.0]).values.tolist() == [[1, 0], [1, 1]]


def test_first_event_is_undefined_without_events(done):
    first = done["drops"].first(after="0.5 s").values
    assert first[:, 0].tolist() == [1.0, 1.2]
    assert np.isnan(first[:, 1]).all()


def test_missing_observation_is_named(done):
    with pytest.raises(InputError, match=r"no observation 'godput'; did you mean 'goodput'"):
        done["godput"]
    with pytest.raises(InputError, match=r"no column 'prt'; did you mean 'port'"):
        done["drops"].count(prt="x")
    with pytest.raises(InputError, match="has events, not intervals"):
        done["drops"].cells()
    with pytest.raises(InputError, match="is not a time"):
        done["drops"].count(after="5 Mbps")


def test_digests_are_those_of_the_runs_cell_by_cell(tmp_path):
    delays = {name: {"parameters.switch_delay": delay} for name, delay in (("a", "0 ms"), ("b", "1 s"), ("c", "0 s"))}
    done = optcp.Study("single-failure", {"delay": delays}, seeds=2).run(tmp_path / "a")
    single = [done.run(branch, seed).metrics_sha256 for branch in done.grid.branches for seed in done.seeds]
    assert done.digests("metrics_sha256") == single
    assert single[:2] == single[4:] != single[2:4]
    assert done.digests("records_sha256") == [""] * 6
    assert StudyResult(done.grid, (), done.store).digests("metrics_sha256") == []


def test_cells_of_other_intervals_are_refused(tmp_path):
    world = optcp.load("single-failure")
    done = optcp.Study(world, {"observe.0.interval": ["100 ms", "200 ms"]}).run(tmp_path / "a")
    with pytest.raises(InputError, match="different numbers of intervals"):
        done["goodput"].cells()
    shorter = optcp.Study(world, {"w": {"a": {"stop": "10 s"}, "b": {"stop": "20 s", "observe.0.interval": "200 ms"}}})
    with pytest.raises(InputError, match="combinations have different intervals"):
        shorter.run(tmp_path / "b")["goodput"].cells()


def test_axes_may_have_names_and_values_of_their_own(tmp_path):
    speeds = {"slow": {"parameters.switch_delay": "1 s"}, "fast": {"parameters.switch_delay": "1 ms"}}
    study = optcp.Study("single-failure", {"speed": speeds, "stop": ["11 s", "12 s"]}, seeds=2)
    assert [axis.name for axis in study.grid.axes] == ["speed", "stop"]
    assert study.grid.branches[1].key == {"parameters.switch_delay": "1 s", "stop": "12 s"}
    done = study.run(tmp_path / "study")
    again = StudyResult.open(tmp_path / "study")
    assert again.axes == done.axes
    for row in (done, again):
        assert row.metric("sent").at(speed="fast", stop="12 s").values.tolist() == [
            sum(row.run(row.grid.branches[3], seed).counts[name] for name in ("sent",)) for seed in (1, 2)
        ]
    table = done.table("scalars")
    assert set(table.texts("speed")) == {"slow", "fast"}
    assert set(table.numbers("stop_s")) == {11.0, 12.0}


def test_whole_tables_and_single_runs_agree(tmp_path):
    done = optcp.Study("single-failure", {"parameters.switch_delay": ["0 ms", "1 s"]}, seeds=3).run(tmp_path / "out")
    whole = done["goodput"].cells()
    each = done.each(lambda run: run["goodput"]["bytes"].sum())
    assert (whole.total("group", "time") - each).values.any() == np.False_
    drops = done.each(lambda run: len(run["drops"]))
    assert (done["drops"].count() == drops).values.all()
    fresh = optcp.load("single-failure").set("parameters.switch_delay", "1 s").run(seed=2)
    assert whole.at(switch_delay="1 s").values[1].sum() == fresh["goodput"]["bytes"].sum()


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["parameters.rate"], ["rate"]),
        (["links.0.delay", "links.1.delay"], ["0_delay", "1_delay"]),
        (["tcp.all.seed"], ["all_seed"]),
        (["port"], ["axis_port"]),
    ],
)
def test_axes_are_named_by_shortest_unique_key_suffix(keys, names):
    assert list(short_names(keys).values()) == names


def test_a_grid_is_every_combination_the_last_axis_fastest():
    grid = Grid.grid(
        optcp.load("single-failure").core,
        {},
        {"stop": ["11 s", "12 s"], "parameters.switch_delay": ["1 ms", "2 ms"]},
    )
    assert [tuple(branch.key.values()) for branch in grid.branches] == [
        ("11 s", "1 ms"), ("11 s", "2 ms"), ("12 s", "1 ms"), ("12 s", "2 ms"),
    ]  # fmt: skip


def test_equal_combinations_are_all_read(tmp_path):
    """They are run and stored once, in a directory that is reused."""
    delays = {"a": "1 s", "b": "1 ms", "c": "1 s"}
    named = {name: {"parameters.switch_delay": delay} for name, delay in delays.items()}
    study = optcp.Study("single-failure", {"name": named}, seeds=2)
    assert len({branch.id for branch in study.grid.branches}) == 2
    for _ in range(2):
        done = study.run(tmp_path / "study")
        bytes_ = done["goodput"].cells()
        assert bytes_.at(name="a").values.tolist() == bytes_.at(name="c").values.tolist()
        dropped = done["drops"].count()
        assert (dropped.at(name="a") == dropped.at(name="c")).values.all()
        assert (dropped.at(name="a") > dropped.at(name="b")).values.any()
        assert (done.metric("sent") == done.each(lambda run: run.counts["sent"])).values.all()


def test_part_taken_by_two_threads_counts_once(tmp_path, monkeypatch):
    optcp.Study("single-failure", seeds=2).run(tmp_path / "study")
    store, load = Store(tmp_path / "study"), stored.load
    names = [path.name for path in (store.root / "parts").glob("*.json")]

    def after_another(path, parse):
        monkeypatch.setattr(stored, "load", load)
        store.take(names)
        return load(path, parse)

    monkeypatch.setattr(stored, "load", after_another)
    store.take(names)
    assert [store.holds(part, *run) for part in store.parts for run in part.places] == [True, True]
