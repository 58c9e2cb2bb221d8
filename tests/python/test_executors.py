"""Studies on executors: files equal those of threads; transfer of data, and early ends."""

import multiprocessing
import shutil
import signal
import sys
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from joblib.externals.loky import get_reusable_executor

import optcp
from conftest import WORLD, Silent, files_of_study
from optcp import _core
from optcp.errors import InputError, Interrupted, RunFailed
from optcp.papers import kept
from optcp.study import remote, runner
from optcp.study.pool import Job

SEEDS = 100
NET = 'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 length 100 ] ]'
FROM_FILES = """stop = "500 ms"
[topology]
file = "net.gml"
group = "city"
rate = "10 Mbps"
queue = "10 packets"
[[flows]]
group = "g"
pairs = { among = "city", count = 3, matrix = "pairs.csv" }
path = "shortest"
tcp = "rfc"
start = "file(starts.txt, ms)"
"""


def study(seeds=SEEDS, **options):
    world = optcp.Scenario.parse(WORLD)
    return optcp.Study(world, {"parameters.delay": ["5 ms", "10 ms", "20 ms"]}, seeds=seeds, digest=True, **options)


@pytest.fixture(scope="module")
def in_threads(tmp_path_factory):
    out = tmp_path_factory.mktemp("threads")
    study().run(out, jobs=2, progress=Silent())
    return files_of_study(out)


def spawned(workers=2):
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize(
    "executor", [ThreadPoolExecutor, spawned, get_reusable_executor], ids=["threads", "processes", "joblib"]
)
def test_executor_and_threads_write_equal_files(executor, in_threads, tmp_path, silent):
    with executor(2) as workers:
        done = study().run(tmp_path, executor=workers, progress=silent)
    assert files_of_study(tmp_path) == in_threads
    assert silent.started == [(3 * SEEDS, 0)]
    assert sum(silent.advanced) == 3 * SEEDS
    assert done.seeds == tuple(range(1, SEEDS + 1))


def test_only_missing_runs_are_sent(in_threads, tmp_path, silent):
    study(40).run(tmp_path, jobs=1, progress=silent)
    with ThreadPoolExecutor(2) as workers:
        study().run(tmp_path, executor=workers, progress=silent)
    assert silent.started[1:] == [(3 * SEEDS, 120)]
    assert sum(silent.advanced) == 3 * SEEDS


def test_files_that_a_scenario_names_travel_with_it(tmp_path, silent):
    place = tmp_path / "here"
    place.mkdir()
    for name, text in (
        ("world.toml", FROM_FILES),
        ("net.gml", NET),
        ("pairs.csv", "from,to,weight\r\na,b,1\r\n"),
        ("starts.txt", "1\n20\n300\n"),
    ):
        (place / name).write_text(text)
    asked = optcp.Study(place / "world.toml", {"topology.queue": ["5 packets", "10 packets"]}, seeds=2)
    scenario = asked.grid.branches[1].scenario
    world = remote.World.of(scenario)
    assert [name for name, _ in world.files] == ["starts.txt", "net.gml", "pairs.csv"]
    with spawned(1) as workers:
        done = asked.run(tmp_path / "out", executor=workers, progress=silent)
    assert done.digests("metrics_sha256") == asked.run(tmp_path / "local", jobs=1, progress=silent).digests(
        "metrics_sha256"
    )
    shutil.rmtree(place)
    assert world.scenario().sha256 == scenario.sha256
    with pytest.raises(ValueError, match=r"cannot read `pairs.csv`: No such file"):
        remote.World(world.text, world.files[:2], world.sha256).scenario()
    with pytest.raises(RunFailed, match="a different network of this name"):
        remote.World(world.text, world.files, "of another world").scenario()


def test_workers_of_another_version_are_refused(tmp_path, silent, monkeypatch):
    theirs = _core.version()
    monkeypatch.setattr(remote._core, "version", lambda: "0.0.9")
    with spawned(1) as workers, pytest.raises(InputError) as refused:
        study(2).run(tmp_path, executor=workers, progress=silent)
    expected = f"a worker has optcp {theirs}, this is optcp 0.0.9; install the same version on all workers"
    assert str(refused.value) == expected


def test_a_worker_without_optcp_is_refused():
    ended = Future()
    ended.set_exception(ModuleNotFoundError("No module named 'optcp'", name="optcp"))
    with pytest.raises(InputError, match=r"No module named 'optcp'.*must be installed on all workers"):
        remote._answers(ended, "a scenario, seed 1")


def test_a_failed_run_says_which_and_keeps_the_others(tmp_path, silent, comes_apart):
    comes_apart(2)
    failure = pytest.raises(RunFailed, match=r"^a scenario, seed 2: the world came apart$")
    with ThreadPoolExecutor(1) as workers, failure:
        study(3).run(tmp_path, executor=workers, progress=silent)
    assert len(list((tmp_path / "parts").glob("*.json"))) >= 1
    assert silent.stopped == 1


def test_broken_pool_ends_with_message_and_study_can_continue(in_threads, tmp_path, silent, monkeypatch):
    with spawned() as workers:

        def kill(_):
            for process in list(workers._processes.values()):
                process.kill()

        monkeypatch.setattr(silent, "advance", kill)
        with pytest.raises(RunFailed, match=r"^a scenario, seed.*terminated abruptly"):
            study().run(tmp_path, executor=workers, progress=silent)
    with spawned() as workers:
        study().run(tmp_path, executor=workers, progress=Silent())
    assert files_of_study(tmp_path) == in_threads


def test_ctrl_c_keeps_returned_runs(in_threads, tmp_path, silent, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(silent, "advance", interrupt)
    with ThreadPoolExecutor(2) as workers:
        with pytest.raises(Interrupted) as stopped:
            study().run(tmp_path, executor=workers, progress=silent)
        assert 3 <= stopped.value.kept < stopped.value.total == 3 * SEEDS
        after = Silent()
        study().run(tmp_path, executor=workers, progress=after)
    assert after.started == [(3 * SEEDS, stopped.value.kept)]
    assert files_of_study(tmp_path) == in_threads


@pytest.mark.usefixtures("sigint_is_not_ignored")
def test_ctrl_c_inside_a_finalizer_interrupts_without_a_traceback(tmp_path, silent, monkeypatch):
    """Python prints and drops an exception in a finalizer, so the handler must not raise there."""
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: dropped.append(told.exc_type))

    class Last:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    pressed = []

    def advance(runs):
        silent.runs = getattr(silent, "runs", 0) + runs
        if not pressed:
            pressed.append(True)
            Last()

    monkeypatch.setattr(silent, "advance", advance)
    with ThreadPoolExecutor(1) as workers, pytest.raises(Interrupted):
        study().run(tmp_path, executor=workers, progress=silent)
    assert dropped == []
    assert 0 < silent.runs < 3 * SEEDS
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_pool_that_is_shut_down_is_a_message(tmp_path, silent):
    workers = ThreadPoolExecutor(1)
    workers.shutdown()
    with pytest.raises(RunFailed, match="seed 1: cannot schedule new futures after shutdown"):
        study(2).run(tmp_path, executor=workers, progress=silent)


def test_jobs_and_an_executor_do_not_go_together(tmp_path):
    with ThreadPoolExecutor(1) as workers, pytest.raises(InputError, match="not both"):
        study(2).run(tmp_path, executor=workers, jobs=2)


# Tasks


class AtOnce:
    """Executor that runs tasks immediately and counts them."""

    def __init__(self):
        self.tasks = 0

    def submit(self, function, *arguments):
        self.tasks += 1
        ended = Future()
        ended.set_result(function(*arguments))
        return ended


def tasks(out, monkeypatch, **limits):
    # One block per seed, however long the runs are.
    monkeypatch.setattr(runner, "HOPS_A_BLOCK", 1)
    for name, value in limits.items():
        monkeypatch.setattr(remote, name, value)
    workers = AtOnce()
    study().run(out, executor=workers, progress=Silent())
    return workers.tasks


def test_task_has_jobs_for_some_seconds(tmp_path, monkeypatch):
    # 16 probes, sent before any has returned, and the rest: 84 blocks of some ms.
    assert tasks(tmp_path / "long", monkeypatch) <= 18
    assert tasks(tmp_path / "short", monkeypatch, LEAST_S=0.0, TASK_S=0.0) == SEEDS


def test_small_studies_share_tasks(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "PROBES", 4)
    workers = AtOnce()
    studies = [optcp.Study(optcp.Scenario.parse(WORLD).set("stop", f"{n} ms"), seeds=3) for n in range(300, 330)]
    done = runner.execute(studies, tmp_path, workers, Silent())
    assert [item.seeds for item in done] == [(1, 2, 3)] * 30
    assert workers.tasks <= 6


def test_task_respects_byte_limit(tmp_path, monkeypatch):
    assert tasks(tmp_path, monkeypatch, TASK_BYTES=1) == SEEDS


class Never:
    """Executor whose workers have not started."""

    def __init__(self):
        self.futures = []

    def submit(self, *_):
        self.futures.append(Future())
        if len(self.futures) == 1000:
            raise RuntimeError("enough")
        return self.futures[-1]


class Sent:
    kind = ("study", "cell")

    def task(self):
        return int


def sent(monkeypatch, **limits):
    for name, value in limits.items():
        monkeypatch.setattr(remote, name, value)
    workers = Never()
    jobs = deque(Job(str(n), 1, None, None, Sent()) for n in range(50))
    here = remote.Remote(workers)

    class OneLook:
        put = None

        def get(self, timeout):
            raise KeyboardInterrupt

    monkeypatch.setattr(remote.queue, "SimpleQueue", OneLook)
    with pytest.raises(KeyboardInterrupt):
        list(here.do(jobs, Silent()))
    here.stop()
    assert all(future.cancelled() for future in workers.futures)
    return len(workers.futures)


def test_first_remote_jobs_are_probes(monkeypatch):
    assert sent(monkeypatch, PROBES=3) == 3
    assert sent(monkeypatch, PROBES=3, TASK_S=0.0) == 50
    assert sent(monkeypatch, PROBES=3, TASK_S=0.0, MOST_TASKS=7) == 7


def test_cost_estimate_uses_most_similar_jobs():
    def job(runs, *kind):
        away = Sent()
        away.kind = kind
        return Job("", runs, None, None, away)

    costs = remote.Costs()
    assert costs.of(job(1, "a", "x")) is None
    costs.learn(job(2, "a", "x"), 4.0, 100)
    costs.learn(job(2, "a", "y"), 8.0, 300)
    assert costs.of(job(3, "a", "x")) == (6.0, 150)
    assert costs.of(job(1, "a", "z")) == (3.0, 100)
    assert costs.of(job(1, "b", "x")) == (3.0, 100)
    costs.learn(job(1, "b", "y"), 1.0, 400)
    assert costs.of(job(2, "c", "x")) == (6.0, 800)
    assert costs.seconds_a_run == 13 / 5


def test_a_plan_has_no_more_tasks_than_blocks():
    assert remote.tasks_of(10, 100.0, 1e6) == 10
    assert remote.tasks_of(10**6, 40_000.0, 1e6) == 10_000
    assert remote.tasks_of(10**6, 40_000.0, 1e12) == 31_250
    assert remote.tasks_of(10**6, 100.0, 1e6) == 100


# Long runs


def seed_of(run):
    return {"seed": run.seed}


def test_long_runs_are_made_on_an_executor_too(tmp_path, silent):
    (tmp_path / "world.toml").write_text(WORLD)
    found = []
    with ThreadPoolExecutor(2) as workers:
        for where in (1, workers):
            file = tmp_path / type(where).__name__ / "one-seed-3.json"
            run = kept.LongRun(file, tmp_path / "world.toml", (("stop", "2 s"),), 3, seed_of)
            assert kept.make_missing([run], where, silent) == []
            found.append({name: value for name, value in run.read().items() if name not in ("cpu_seconds", "sha256")})
    assert found[0] == found[1]
    assert found[0]["set"] == ["stop=2 s"]


# The command


def test_dask_that_is_not_installed_is_named(optcp, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, _, err = optcp("run", "single-failure", "--dask", "tcp://127.0.0.1:1")
    assert (status, err) == (2, "Error: --dask needs Dask's distributed scheduler: install optcp[dask]\n")
