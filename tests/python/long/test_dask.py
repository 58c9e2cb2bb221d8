"""Studies on a Dask cluster: a real scheduler and real workers on this machine, one of which is killed."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from distributed import Client, LocalCluster

import optcp
from conftest import WORLD, Silent, command_in, files_of_study
from optcp.study import remote
from optcp.study.cluster import connected, workers

DOCS = Path(__file__).parents[3] / "docs" / "howto"
SEEDS = 400
HERE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
TIMEOUT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
"""Time for which the data of a killed worker are requested before they are recomputed; 30 s by default."""


def study(seeds=SEEDS):
    world = optcp.Scenario.parse(WORLD)
    return optcp.Study(world, {"parameters.delay": ["5 ms", "10 ms", "20 ms"]}, seeds=seeds, digest=True)


def dask(place, *words):
    with (place / f"{words[0]}.log").open("ab") as log:
        command = [sys.executable, "-m", "dask", *words, *HERE]
        return subprocess.Popen(command, cwd=place, stdout=log, stderr=log, env={**os.environ, **TIMEOUT})


def worker(place, address):
    return dask(place, "worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", str(place))


@contextlib.contextmanager
def scheduler(place):
    """Yield the address of a scheduler, and its process; its workers end with it."""
    processes = [dask(place, "scheduler", "--port", "0", "--scheduler-file", "scheduler.json")]
    written = place / "scheduler.json"
    try:
        deadline = time.monotonic() + 30
        # The file exists before its text, which ends with a brace.
        while not (written.is_file() and written.read_text().rstrip().endswith("}")) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield json.loads(written.read_text())["address"], processes
    finally:
        for process in processes:
            # A worker that stops together with its scheduler may wait for it.
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return the address of a scheduler with two workers, and their directories."""
    place = tmp_path_factory.mktemp("cluster")
    with scheduler(place) as (address, processes):
        processes += [worker(place, address) for _ in range(2)]
        with connected(address) as client:
            client.wait_for_workers(2, timeout=30)
            assert workers(client) == (2, 2)
        yield address, place


@pytest.fixture(scope="module")
def in_threads(tmp_path_factory):
    out = tmp_path_factory.mktemp("threads")
    study().run(out, jobs=2, progress=Silent())
    return files_of_study(out)


def test_tasks_of_killed_worker_are_repeated(cluster, in_threads, tmp_path, monkeypatch):
    address, place = cluster
    monkeypatch.setattr(remote, "LEAST_S", 0.1)
    third = worker(place, address)
    tasks = []
    with connected(address) as client:
        client.wait_for_workers(3, timeout=30)
        (mine,) = (name for name, pid in client.run(os.getpid).items() if pid == third.pid)
        # The stopped worker accepts tasks and finishes none, so it has some whenever it is killed.
        third.send_signal(signal.SIGSTOP)

        class Killing(Silent):
            def advance(self, runs):
                if third.poll() is None and (at_work := client.processing([mine])[mine]):
                    tasks.extend(at_work)
                    third.kill()
                    third.wait()
                super().advance(runs)

        progress = Killing()
        study().run(tmp_path, executor=client, progress=progress)
        assert workers(client) == (2, 2)
    assert third.returncode == -signal.SIGKILL
    assert tasks
    assert sum(progress.advanced) == 3 * SEEDS
    assert files_of_study(tmp_path) == in_threads


def test_workers_that_come_late_and_go_make_the_same_files(in_threads, tmp_path):
    """A cluster grows with the number of waiting tasks, from zero workers."""
    with LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0", local_directory=str(tmp_path / "scratch")
    ) as grown:
        grown.adapt(minimum=0, maximum=2, interval="100 ms", target_duration="500 ms")
        with Client(grown) as client:
            assert workers(client) == (0, 0)
            study().run(tmp_path / "out", executor=client.get_executor(), progress=Silent())
    assert files_of_study(tmp_path / "out") == in_threads


@pytest.mark.parametrize(
    ("result", "arguments"),
    [
        ("gmpls/table3.json", ["reproduce", "gmpls/table3", "--set", "flows=10+10", "--seeds", "4"]),
        (
            "sensitivity/gmpls/table3.json",
            [
                "sensitivity",
                "gmpls/table3",
                "--set",
                "flows=10+10",
                "--over",
                "queue_packets",
                "--samples",
                "2",
                "--seeds",
                "2",
            ],
        ),
    ],
    ids=["reproduce", "sensitivity"],
)
def test_papers_give_equal_results(cluster, tmp_path, result, arguments):
    found = []
    for where in (["--jobs", "2"], ["--dask", cluster[0]]):
        out = tmp_path / where[0]
        command_in(tmp_path, *arguments, *where, "--out", out)
        found.append((out / result).read_text())
    assert found[0] == found[1]


def test_plan_describes_tasks_of_study(cluster, tmp_path):
    said = command_in(tmp_path, "run", "single-failure", "--runs", "100000", "--dry-run", "--dask", cluster[0])
    assert f"{cluster[0]}: 2 workers with 2 threads" in said.stderr
    assert "with 2 at a time" in said.stdout
    assert "blocks of runs in about" in said.stdout.splitlines()[-1]
    assert not (tmp_path / "results").exists()


def test_ctrl_c_keeps_returned_runs(cluster, tmp_path):
    (tmp_path / "world.toml").write_text(WORLD.replace('"1 s"', '"20 s"'))
    command = ["run", "world.toml", "--runs", "400", "--out", "out", "--dask", cluster[0]]
    running = subprocess.Popen(
        [sys.executable, "-m", "optcp", *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - one thread
    )
    deadline = time.monotonic() + 30
    while not list((tmp_path / "out").glob("parts/*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "runs are finished and stored; repeat the command to continue" in err
    kept = int(err.split("interrupted: ")[1].split()[0])
    assert 0 < kept < 400
    assert f"400 runs, {kept} finished before and reused" in command_in(tmp_path, *command, "--quiet").stderr


def test_lost_scheduler_ends_with_message(tmp_path):
    with scheduler(tmp_path) as (address, processes):
        said = command_in(tmp_path, "run", "single-failure", "--dry-run", "--dask", address).stderr
        assert f"{address}: no workers yet; runs start when workers connect\n" in said
        processes.append(worker(tmp_path, address))
        command = ["run", "gmpls-section5", "--runs", "5000", "--out", "out", "--dask", address]
        running = subprocess.Popen(
            [sys.executable, "-m", "optcp", *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 30
        while not list((tmp_path / "out").glob("parts/*.json")) and time.monotonic() < deadline:
            time.sleep(0.02)
        processes[0].kill()
        _, err = running.communicate(timeout=60)
    assert running.returncode == 1, err
    assert "Traceback" not in err
    # Dask's message depends on its current activity.
    assert re.search(r"^Error: Speed of protection switching .*, seed \d+: \S.*$", err, re.MULTILINE)


def test_missing_scheduler_is_named(optcp, monkeypatch):
    monkeypatch.setattr("optcp.study.cluster.CONNECT_S", 0.5)
    for address, said in (("tcp://127.0.0.1:1", "Timed out"), ("here", "missing port"), ("x://y:1", "unknown address")):
        status, _, err = optcp("run", "single-failure", "--dask", address)
        assert status == 2
        assert err.startswith(f"Error: --dask {address}: no scheduler answers there ({said}")
    status, _, err = optcp("run", "single-failure", "--dask", "tcp://127.0.0.1:1", "--jobs", "2")
    assert status == 2
    assert "--jobs cannot be combined with --dask" in err


# The pages


def blocks(page, language):
    result = re.findall(r"^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for of, block in result if of == language]


def test_commands_of_cluster_page_run(tmp_path):
    (script,) = blocks("clusters.md", "python")
    (tmp_path / "study.py").write_text(script)
    done = subprocess.run([sys.executable, "study.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 cells of switch_delay (0 ms, 50 ms), seeds 1 to 20" in done.stdout
    assert len(list(tmp_path.glob("out/cells/*.json"))) == 2


def test_functions_in_dask_pages_exist():
    pages = ("clusters.md", "slurm.md", "../details/kubernetes.md")
    manifests = list(yaml.safe_load_all(blocks("../details/kubernetes.md", "yaml")[0]))
    assert [manifest["kind"] for manifest in manifests] == ["Deployment", "Service", "Deployment"]
    commands = [
        manifest["spec"]["template"]["spec"]["containers"][0]["args"]
        for manifest in manifests
        if manifest["kind"] == "Deployment"
    ]
    commands += [line.split() for line in "".join(blocks("clusters.md", "")).splitlines() if line.startswith("dask ")]
    # Arguments that dask-jobqueue appends.
    commands += [["dask", "worker", "--lifetime", "--lifetime-stagger"]]
    assert [words[1] for words in commands] == ["scheduler", "worker", "scheduler", "worker", "worker"]
    for words in commands:
        shown = subprocess.run(
            [sys.executable, "-m", "dask", words[1], "--help"], capture_output=True, text=True, check=True
        )
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}\b", shown.stdout), option
    for script in (block for page in pages for block in blocks(page, "python")):
        compile(script, "page", "exec")
