"""Shared fixtures: a small scenario, the command in this process and in its own, and counted runs."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys

import pytest
from hypothesis import settings
from rich.console import Console

from optcp import _core
from optcp.cli import main as cli
from optcp.papers.options import Size
from optcp.papers.registry import select
from optcp.papers.reproduce import Request, reproduce

WORLD = """title = "a scenario"
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "$backbone", delay = "$delay", queue = "5 packets" }]
flows = [{ group = "fixed", per_source = 2, path = ["A", "B"], tcp = "rfc", start = "uniform(0 s, 0.2 s)" }]
observe = [
  { name = "goodput", kind = "goodput", interval = "100 ms" },
  { name = "load", kind = "load", interval = "100 ms" },
  { name = "drops", kind = "drops" },
]

[parameters]
backbone = "10 Mbps"
delay = "5 ms"
"""
"""Scenario with some thousands of packets and some drops."""
MADE = ("gmpls/fig7", "gmpls/fig8", "gmpls/table3")
"""Experiments for tests of the result form."""

# Use the same examples every time, without a time limit: a busy machine must not fail a test.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


class Silent:
    """Progress that only counts."""

    def __init__(self):
        self.started, self.advanced, self.stopped = [], [], 0

    def start(self, total, kept):
        self.started.append((total, kept))

    def advance(self, runs):
        self.advanced.append(runs)

    def simulated(self, share):
        assert 0 <= share <= 1

    def stop(self):
        self.stopped += 1


@pytest.fixture
def silent():
    return Silent()


def files_of_study(root):
    """Return the content of all files of a study by path; manifests without the CPU time."""
    result = {}
    for path in sorted(root.rglob("*.*")):
        if path.is_file() and path.suffix in (".json", ".parquet"):
            content = path.read_bytes()
            if path.parent.name == "parts":
                about = json.loads(content)
                content = json.dumps([about["packet_hops"], about["runs"], about["files"]]).encode()
            result[str(path.relative_to(root))] = hashlib.sha256(content).hexdigest()
    return result


@pytest.fixture
def calls(monkeypatch):
    """Return the (seed, combinations) of each call of run_block in this test."""
    found, run_block = [], _core.run_block

    def counted(axes, cells, todo, root, **options):
        found.extend((seed, len(places)) for seed, places in todo if root is not None)
        return run_block(axes, cells, todo, root, **options)

    monkeypatch.setattr(_core, "run_block", counted)
    return found


@pytest.fixture
def comes_apart(monkeypatch):
    """Make the runs of a seed fail."""
    run_block = _core.run_block

    def fail_at(bad):
        def failing(axes, cells, todo, root, **options):
            if any(seed == bad for seed, _ in todo):
                raise RuntimeError("the world came apart")
            return run_block(axes, cells, todo, root, **options)

        monkeypatch.setattr(_core, "run_block", failing)

    return fail_at


@pytest.fixture
def text_console():
    return Console(file=io.StringIO(), width=100, color_system=None)


@pytest.fixture(scope="session")
def results_directory(tmp_path_factory):
    """Return a directory with the experiments of section 5 for four seeds."""
    out = tmp_path_factory.mktemp("results")
    reproduce(Request(select(MADE), Size("seeds=4", 4)), out, 2, Silent())
    return out


@pytest.fixture
def sigint_is_not_ignored():
    """Restore SIGINT, which shells ignore in background jobs and their children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def optcp(monkeypatch, capsys, tmp_path):
    """Return the command in this process, in an empty folder: exit status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["optcp", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return exit_.value.code, out, err

    return call


def command_in(directory, *arguments, status=0):
    """Run the command in a process of its own, with the compiled simulator."""
    done = subprocess.run(
        [sys.executable, "-m", "optcp", *map(str, arguments)],
        cwd=directory,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def command(tmp_path):
    return lambda *arguments, status=0: command_in(tmp_path, *arguments, status=status)


@pytest.fixture(scope="session")
def a_run(tmp_path_factory):
    """Return the directory of a study with one run of the scenario single-failure."""
    place = tmp_path_factory.mktemp("run")
    command_in(place, "run", "single-failure", "--digest")
    return place / "results" / "single-failure"
