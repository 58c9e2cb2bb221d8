import io
import time

import numpy as np
import pytest
from rich.console import Console

import fake_core
from optcp.errors import Interrupted, RunFailed
from optcp.study import Store, Grid, Study, execute
from optcp.study.progress import Bar, Lines, for_console
from optcp.study.store import write_runs

WORLD = """
title = "a world"
[parameters]
backbone = "10 Mbps"
switch_delay = "50 ms"
"""


@pytest.fixture
def scenario(tmp_path):
    def write(extra=""):
        path = tmp_path / "world.toml"
        path.write_text(extra + WORLD)
        return path

    return write


def grid(path, **options):
    return Grid.grid(path, (), [("parameters.switch_delay", ["0 ms", "50 ms", "100 ms"])], **options)


def digests(done):
    return [[run.metrics_sha256 for run in runs] for _, runs in done]


def test_a_grid_is_every_combination_the_last_axis_fastest(scenario):
    study = Grid.grid(
        scenario(),
        [("parameters.backbone", "2 Mbps")],
        [("parameters.switch_delay", ["1", "2"]), ("title", ["a", "b"])],
    )
    keys = [tuple(branch.key.values()) for branch in study.branches]
    assert keys == [("1", "a"), ("1", "b"), ("2", "a"), ("2", "b")]
    assert study.branches[0].scenario.summary()["parameters"]["backbone"] == "2 Mbps"


def test_the_hash_covers_worlds_flags_and_the_extension(scenario, monkeypatch):
    path = scenario()
    base = grid(path).hash
    assert grid(path).hash == base
    assert grid(path, digest=True).hash != base
    assert grid(path, fork=False).hash != base
    assert Grid.grid(path, (), [("parameters.switch_delay", ["0 ms", "50 ms"])]).hash != base
    monkeypatch.setattr("optcp.study.grid.extension_sha256", lambda: "another build")
    assert grid(path).hash != base


def test_only_missing_seeds_run(scenario, tmp_path, silent, calls):
    study, store = grid(scenario()), Store(tmp_path / "runs")
    execute([Study(study, (1, 2, 3))], store, 2, silent)
    assert sorted(calls) == [(1, 3), (2, 3), (3, 3)]
    calls.clear()
    execute([Study(study, (2, 3, 4))], store, 2, silent)
    assert calls == [(4, 3)]
    assert silent.started == [(9, 0), (9, 6)]
    assert silent.advanced == [3, 3, 3, 3]
    assert silent.stopped == 2


def test_a_shared_study_runs_once_and_is_reduced_once(scenario, tmp_path, silent, calls):
    path = scenario()
    tasks = [Study(grid(path), (1, 2)), Study(grid(path), (1, 2)), Study(grid(path), (1, 2, 3))]
    first, second, longer = execute(tasks, Store(tmp_path / "runs"), 2, silent)
    assert len(calls) == 3
    assert first is second
    assert longer is not first
    reductions = []

    def reduce(done):
        reductions.append(done)
        return len(reductions)

    assert first.once(reduce) == second.once(reduce) == 1
    assert longer.once(reduce) == 2


def test_results_do_not_depend_on_jobs(scenario, tmp_path, silent):
    study = grid(scenario(), digest=True)
    one = execute([Study(study, tuple(range(1, 9)))], Store(tmp_path / "one"), 1, silent)[0]
    four = execute([Study(study, tuple(range(1, 9)))], Store(tmp_path / "four"), 4, silent)[0]
    assert digests(one) == digests(four)
    assert [seed for seed, _ in four] == list(range(1, 9))


def test_stored_runs_read_back_as_they_were(scenario, tmp_path, silent):
    study = grid(scenario(), digest=True)
    (done,) = execute([Study(study, (5,))], Store(tmp_path / "runs"), 1, silent)
    ((seed, runs),) = done
    fresh = fake_core.run_branches([branch.scenario for branch in study.branches], 5, digest=True)
    assert seed == 5
    for stored, made in zip(runs, fresh, strict=True):
        for name in ("seed", "scenario_sha256", "records_sha256", "metrics_sha256", "counts", "drops", "switches"):
            assert getattr(stored, name) == getattr(made, name)
        assert stored.series.keys() == made.series.keys()
        for name, content in made.series.items():
            for part, value in content.items():
                assert np.array_equal(stored.series[name][part], value)
                if isinstance(value, np.ndarray):
                    assert stored.series[name][part].dtype == value.dtype


def test_a_damaged_file_is_named(scenario, tmp_path, silent):
    study, store = grid(scenario()), Store(tmp_path / "runs")
    (done,) = execute([Study(study, (1,))], store, 1, silent)
    store.path(study, 1).write_bytes(b"half a fi")
    with pytest.raises(RunFailed, match=r"seed-1\.npz: cannot be read"):
        list(done)


def test_runs_that_were_changed_or_swapped_are_named(scenario, tmp_path, silent):
    study, store = grid(scenario()), Store(tmp_path / "runs")
    (done,) = execute([Study(study, (1, 2))], store, 1, silent)
    (_, runs), *_ = done
    runs[0].series["goodput"]["bytes"][0, 0] += 1
    with store.path(study, 1).open("r+b") as file:
        written = file.read()
        file.seek(0)
        file.truncate()
        write_runs(file, runs)
    with pytest.raises(RunFailed, match=r"seed-1\.npz: cannot be read \(changed since it was written"):
        list(done)
    store.path(study, 1).write_bytes(written)
    assert len(list(done)) == 2
    store.path(study, 2).write_bytes(written)
    with pytest.raises(RunFailed, match=r"seed-2\.npz: cannot be read \(runs of another study or seed\)"):
        list(done)


def test_a_failed_run_says_which_and_keeps_the_others(scenario, tmp_path, silent):
    study, store = grid(scenario("fails_at_seed = 2\n")), Store(tmp_path / "runs")
    with pytest.raises(RunFailed, match="world, seed 2: the world came apart"):
        execute([Study(study, (1, 2, 3, 4))], store, 1, silent)
    assert store.has(study, 1)
    assert not store.has(study, 2)
    assert silent.stopped == 1


def test_an_interrupt_stops_running_seeds_and_keeps_finished_ones(scenario, tmp_path, silent, monkeypatch):
    study, store = grid(scenario()), Store(tmp_path / "runs")
    execute([Study(study, (1, 2))], store, 1, silent)
    slow = grid(scenario("test_sleep_s = 30\n"))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    # The signal itself is tested on a process of its own; here it comes while the pool waits.
    monkeypatch.setattr("optcp.study.pool.wait", interrupt)
    began = time.monotonic()
    with pytest.raises(Interrupted, match="6 of 9 runs are finished and kept"):
        execute([Study(study, (1, 2)), Study(slow, (1,))], store, 1, silent)
    assert time.monotonic() - began < 20
    assert not store.has(slow, 1)


def test_lines_tell_how_long_it_takes():
    said, now = [], [0.0]
    lines = Lines(said.append, lambda: now[0])
    lines.start(12, 2)
    for _ in range(5):
        now[0] += 2.0
        lines.advance(1)
    lines.advance(5)
    lines.stop()
    # 6 s for 3 runs leave 14 s for 7; the last line comes at once.
    assert said == ["12 runs, 2 finished before and reused", "3/10 runs, 14 s left", "10/10 runs, 0 s left"]


def test_a_terminal_gets_a_bar():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    bar = for_console(console)
    assert isinstance(bar, Bar)
    bar.start(4, 1)
    bar.advance(3)
    bar.stop()
    assert "1 of 4 runs were finished before" in console.file.getvalue()
    assert "3/3" in console.file.getvalue()
    assert isinstance(for_console(Console(file=io.StringIO())), Lines)
