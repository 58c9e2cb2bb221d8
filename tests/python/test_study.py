"""Studies: made, stored and shared runs; early ends; progress output."""

import io
import queue
import time

import numpy as np
import pytest
from rich.console import Console

from conftest import WORLD
from optcp import Scenario, _core
from optcp.errors import InputError, Interrupted, RunFailed
from optcp.scenarios.run import FreshRun
from optcp.study import Grid, Store, Study, execute
from optcp.study.progress import Bar, Lines, for_console
from optcp.study.runner import directory, run_missing

DELAYS = ["5 ms", "10 ms", "20 ms"]


@pytest.fixture
def scenario(tmp_path):
    def write(stop="1 s"):
        path = tmp_path / "world.toml"
        path.write_text(WORLD.replace('"1 s"', f'"{stop}"'))
        return path

    return write


def grid(path, delays=DELAYS, **options):
    return Grid.grid(path, {}, {"parameters.delay": delays}, **options)


def opened(study, root, **options):
    store = Store(root)
    store.open(study, **options)
    return store


def digests(done):
    return [[run.metrics_sha256 for run in runs] for _, runs in done]


def test_a_grid_is_every_combination_the_last_axis_fastest(scenario):
    study = Grid.grid(
        scenario(), {"stop": "2 s"}, {"parameters.delay": ["1 ms", "2 ms"], "parameters.backbone": ["3 Mbps"]}
    )
    keys = [tuple(branch.key.values()) for branch in study.branches]
    assert keys == [("1 ms", "3 Mbps"), ("2 ms", "3 Mbps")]
    assert study.branches[0].scenario.summary()["stop_s"] == 2


def test_the_hash_covers_worlds_flags_and_the_extension(scenario, monkeypatch):
    path = scenario()
    base = grid(path).hash
    assert grid(path).hash == base
    assert grid(path, digest=True).hash != base
    assert grid(path, fork=False).hash != base
    assert grid(path, DELAYS[:2]).hash != base
    monkeypatch.setattr("optcp.study.grid.extension_sha256", lambda: "another build")
    assert grid(path).hash != base


def test_only_missing_seeds_run(scenario, tmp_path, silent, calls):
    study = grid(scenario())
    execute([Study(study, seeds=(1, 2, 3))], tmp_path / "runs", 2, silent)
    assert sorted(calls) == [(1, 3), (2, 3), (3, 3)]
    calls.clear()
    execute([Study(study, seeds=(2, 3, 4))], tmp_path / "runs", 2, silent)
    assert calls == [(4, 3)]
    assert silent.started == [(9, 0), (9, 6)]
    assert sum(silent.advanced) == 12
    assert silent.stopped == 2


def test_a_shared_study_runs_once_and_is_reduced_once(scenario, tmp_path, silent, calls):
    path = scenario()
    studies = [Study(grid(path), seeds=seeds) for seeds in (2, 2, 3)]
    first, second, longer = execute(studies, tmp_path / "runs", 2, silent)
    assert len(calls) == 3
    assert first is second
    assert longer is not first
    reductions = []

    def reduce(done):
        reductions.append(done)
        return len(reductions)

    assert first.once(reduce) == second.once(reduce) == 1
    assert longer.once(reduce) == 2


def test_equal_scenarios_under_other_names_each_find_their_runs(scenario, tmp_path, silent):
    """The sum of 5 and 5 ms is another text for 10 ms: other names of cells, the same scenarios."""
    path = scenario()
    studies = [Study(grid(path, delays), seeds=seeds) for delays, seeds in ((["10 ms"], 2), (["2 * 5 ms"], 3))]
    first, second = execute(studies, tmp_path / "runs", 2, silent)
    assert digests(first) == [row[:1] for row in digests(second)][:2]


def test_results_do_not_depend_on_jobs_or_on_sharing_warm_ups(scenario, tmp_path, silent):
    found = []
    for name, jobs, fork in (("one", 1, True), ("four", 4, True), ("apart", 2, False)):
        study = grid(scenario(), digest=True, fork=fork)
        (done,) = execute([Study(study, seeds=8)], tmp_path / name, jobs, silent)
        found.append(digests(done))
        assert [seed for seed, _ in done] == list(range(1, 9))
    assert found[0] == found[1] == found[2]
    assert len({digest for row in found[0] for digest in row}) == 24


def test_stored_runs_read_back_as_they_were(scenario, tmp_path, silent):
    study = grid(scenario(), digest=True)
    (done,) = execute([Study(study, seeds=(5,))], tmp_path / "runs", 1, silent)
    ((seed, runs),) = done
    cores = _core.run_branches([branch.scenario for branch in study.branches], 5, digest=True)
    assert seed == 5
    for branch, stored, made in zip(study.branches, runs, cores, strict=True):
        for name in ("seed", "scenario_sha256", "records_sha256", "metrics_sha256", "counts"):
            assert getattr(stored, name) == getattr(made, name)
        fresh = FreshRun(Scenario(branch.scenario), made)
        for name in ("drops", "switches", "cuts", "arrived", "routing", "names"):
            assert getattr(stored, name) == getattr(fresh, name)
        for name in stored:
            np.testing.assert_equal(stored[name].to_numpy(), fresh[name].to_numpy())


@pytest.mark.parametrize("force", [False, True])
def test_a_study_that_another_process_has_just_created_is_joined(scenario, tmp_path, silent, monkeypatch, force):
    study, root = grid(scenario()), tmp_path / "study"
    found = Store.refuse_old

    def meanwhile(self, instead):
        monkeypatch.setattr(Store, "refuse_old", found)
        run_missing([(Study(study, seeds=2), opened(study, root))], 1, silent)
        found(self, instead)

    monkeypatch.setattr(Store, "refuse_old", meanwhile)
    assert opened(study, root, force=force).has(study.branches[0], 2)


def test_folders_that_belong_to_no_study_are_refused(scenario, tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "mine.txt").touch()
    with pytest.raises(InputError, match="the folder cells does not belong to a study"):
        opened(grid(scenario()), tmp_path)


def test_a_failed_run_says_which_and_keeps_the_others(scenario, tmp_path, silent, comes_apart):
    study = grid(scenario())
    comes_apart(2)
    with pytest.raises(RunFailed, match="world, seed 2: the world came apart"):
        execute([Study(study, seeds=4)], tmp_path / "runs", 1, silent)
    store = opened(study, directory(tmp_path / "runs", study))
    assert store.has(study.branches[0], 1)
    assert not store.has(study.branches[0], 2)
    assert silent.stopped == 1


def test_an_interrupt_stops_running_seeds_and_keeps_finished_ones(scenario, tmp_path, silent, monkeypatch):
    study = grid(scenario())
    execute([Study(study, seeds=2)], tmp_path / "runs", 1, silent)
    slow = grid(scenario("400 h"))

    class CtrlC(queue.SimpleQueue):
        def get(self, **_):
            raise KeyboardInterrupt

    # Another test covers the real signal in a process of its own; here it arrives while the pool waits.
    monkeypatch.setattr("optcp.study.pool.queue.SimpleQueue", CtrlC)
    began = time.monotonic()
    with pytest.raises(Interrupted, match="6 of 9 runs are finished and stored"):
        execute([Study(study, seeds=2), Study(slow, seeds=1)], tmp_path / "runs", 1, silent)
    assert time.monotonic() - began < 20


def test_progress_lines_state_remaining_time():
    said, now = [], [0.0]
    lines = Lines(said.append, lambda: now[0])
    lines.start(12, 2)
    for _ in range(5):
        now[0] += 2.0
        lines.advance(1)
    lines.advance(5)
    lines.stop()
    # 6 s for 3 runs leave 14 s for 7; the last line is printed immediately.
    assert said == ["12 runs, 2 finished before and reused", "3/10 runs, 14 s left", "10/10 runs, 0 s left"]


def test_progress_lines_state_long_runs():
    said, now = [], [0.0]
    lines = Lines(said.append, lambda: now[0])
    lines.start(2, 0)
    for at, share in ((2.0, 0.1), (6.0, 0.25), (7.0, 0.3), (12.0, 0.4)):
        now[0] = at
        lines.simulated(share)
    now[0] = 18.0
    lines.advance(1)
    now[0] = 24.0
    lines.simulated(0.5)
    # A quarter in 6 s leaves 18 s; 0.4 in 12 s as many. Progress equal to the finished runs is not printed.
    assert said == [
        "2 runs",
        "0/2 runs (25% of the simulated time), 18 s left",
        "0/2 runs (40% of the simulated time), 18 s left",
        "1/2 runs, 18 s left",
    ]


def test_long_run_reports_progress(scenario, tmp_path, silent):
    told = []

    def tell(share):
        told.append(share)
        if len(told) == 3:
            raise KeyboardInterrupt

    silent.simulated = tell
    with pytest.raises(Interrupted):
        execute([Study(grid(scenario("400 h")), seeds=1)], tmp_path / "runs", 1, silent)
    assert 0 < told[0] < told[1] < told[2] < 1


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
