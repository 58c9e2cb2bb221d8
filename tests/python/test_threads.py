"""One run on several threads: results do not depend on their number."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from optcp import Scenario, Study, StudyResult, Table
from optcp.common.processors import processors
from optcp.errors import InputError

#: Three routers in a row, milliseconds apart, with flows both ways, queues that overflow, and a failure.
WORLD = """
stop = "1500 ms"
[tcp.modern]
profile = "linux-6"
[[nodes]]
names = ["A", "B", "C"]
[[links]]
chains = [["A", "B"], ["B", "C"]]
rate = "1 Gbps"
delay = "5 ms"
queue = "60 packets"
[[traffic]]
group = "noise"
path = ["A", "B"]
process = "poisson"
rate = "100 Mbps"
size = "1000 B"
[[failures]]
link = ["B", "C"]
at = "1 s"
repair = "1100 ms"
[[observe]]
name = "goodput"
kind = "goodput"
interval = "100 ms"
[[observe]]
name = "drops"
kind = "drops"
links = [["A", "B"], ["B", "C"]]
""" + "".join(
    f"""
[[flows]]
group = "{group}{number}"
path = {path}
tcp = "modern"
start = "uniform(0 s, 100 ms)"
"""
    for group, path in [("there", '["A", "B", "C"]'), ("back", '["C", "B", "A"]')]
    for number in range(10)
)


def chain(routers: int) -> str:
    """Return routers in a row with packets over three of them in one direction: later routers have their turn later."""
    names = [f"R{router}" for router in range(routers)]
    traffic = "".join(
        f"""
[[traffic]]
group = "{names[first]}"
path = {json.dumps(names[first : first + 4])}
process = "poisson"
rate = "300 Mbps"
size = "1000 B"
"""
        for first in range(routers - 1)
    )
    return f"""
stop = "100 ms"
[[nodes]]
names = {json.dumps(names)}
[[links]]
chain = {json.dumps(names)}
rate = "1 Gbps"
delay = "10 us"
queue = "3 packets"
{traffic}"""


def star(hosts: int) -> str:
    """Return hosts milliseconds away from a router, to which two others send, with queues that overflow."""
    names = [f"H{host}" for host in range(hosts)]
    paths = [path for name in names for path in ([name, "R", "S"], ["T", "R", name])]
    flows = "".join(
        f'\n[[flows]]\ngroup = "all"\npath = {json.dumps(path)}\nstart = "uniform(0 s, 100 ms)"' for path in paths
    )
    return f"""
stop = "500 ms"
[[nodes]]
names = {json.dumps([*names, "R", "S", "T"])}
[[links]]
chains = {json.dumps([[name, "R"] for name in names])}
rate = "1 Gbps"
delay = "uniform(3 ms, 6 ms)"
queue = "1000 packets"
[[links]]
chain = ["S", "R", "T"]
rate = "4 Gbps"
delay = "5 ms"
queue = "100 packets"
{flows}"""


@pytest.mark.parametrize(
    ("text", "processes"),
    [pytest.param(WORLD, 2, id="row"), pytest.param(chain(90), 32, id="chain"), pytest.param(star(100), 32, id="star")],
)
def test_results_do_not_depend_on_threads(text: str, processes: int) -> None:
    world = Scenario.parse(text)
    reference = world.core.run(1, digest=True, engine="reference")
    assert reference.counts["dropped"] > 100
    # With more threads than processors runs are slow, but equal.
    for engine, threads in [("calendar", 1), ("fast", 1), ("windows", 1), ("fast", 2), ("fast", 3)]:
        run = world.core.run(1, digest=True, engine=engine, threads=threads)
        assert run.records_sha256 == reference.records_sha256, (engine, threads)
        assert run.metrics_sha256 == reference.metrics_sha256, (engine, threads)
        if threads > 1 or engine == "windows":
            assert processes <= int(run.waiting.partition(" logical processes")[0]) <= 63
        else:
            assert run.waiting.startswith("one event queue: ")
        for name in world.observe:
            found, expected = (Table.read(*item.table(name)).to_numpy() for item in (run, reference))
            np.testing.assert_equal(found, expected)


@pytest.fixture
def two_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)


@pytest.mark.usefixtures("two_processors")
def test_study_with_threads_equals_study_without(tmp_path, optcp):
    (tmp_path / "world.toml").write_text(WORLD)
    digests = {}
    for name, more in {"one": ["--jobs", "1"], "two": ["--threads", "2"]}.items():
        words = ["run", "world.toml", "--runs", "2", "--digest", "--out", name, *more]
        status, out, err = optcp(*words)
        assert status == 0, err
        done = StudyResult.open(name)
        digests[name] = [done.digests(which) for which in ("records_sha256", "metrics_sha256")]
    assert digests["one"] == digests["two"]
    # No run is missing, for any number of threads.
    status, out, _ = optcp(*words, "--dry-run")
    assert (status, "all runs are stored already" in out) == (0, True)


@pytest.mark.usefixtures("two_processors")
def test_estimate_with_threads_assumes_sequential_runs(tmp_path, optcp):
    (tmp_path / "world.toml").write_text(WORLD)
    status, out, _ = optcp("run", "world.toml", "--runs", "2", "--threads", "2", "--dry-run")
    assert (status, "with 1 at a time" in out) == (0, True)


@pytest.mark.usefixtures("two_processors")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads", "3"], "threads: expected 1 to 2 (number of processors), got 3"),
        (
            ["--threads", "2", "--jobs", "2"],
            "--threads N simulates one run at a time: it cannot be combined with --jobs",
        ),
        (["--threads", "2", "--dask", "tcp://127.0.0.1:1"], "it cannot be combined with --jobs or --dask"),
        (["--threads", "2", "--engine", "reference"], "threads: the reference engine supports 1 thread, got 2"),
        (["--threads", "0"], "expected a whole number of 1 or more, got '0'"),
    ],
)
def test_invalid_threads_are_refused(tmp_path, optcp, words, message):
    (tmp_path / "world.toml").write_text(WORLD)
    status, _, err = optcp("run", str(tmp_path / "world.toml"), "--out", str(tmp_path / "out"), *words)
    assert (status, message in err) == (2, True), err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("two_processors")
def test_threads_per_run_and_parallel_runs_are_exclusive(tmp_path):
    study = Study(Scenario.parse(WORLD))
    with pytest.raises(InputError, match="because runs are sequential"):
        study.run(tmp_path / "out", jobs=2, threads=2)
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="because runs are sequential"):
        study.run(tmp_path / "out", executor=pool, threads=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("threads", [0, -1, processors() + 1])
def test_there_are_no_more_threads_than_processors(threads: int) -> None:
    with pytest.raises(InputError, match=f"threads: expected 1 to {processors()}"):
        Scenario.parse(WORLD).run(1, threads=threads)
