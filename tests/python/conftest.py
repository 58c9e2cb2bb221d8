"""Every test in this process runs on the double of the compiled simulator; tests/python/e2e uses the real one."""

import fake_core

fake_core.install()

import io  # noqa: E402 - the double must be in place first
import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from rich.console import Console  # noqa: E402

from optcp import cli  # noqa: E402
from optcp.papers.base import Size, select  # noqa: E402
from optcp.papers.reproduce import Request, reproduce  # noqa: E402

# The same examples every time, and no limit on the time of one: a busy machine must not fail a test.
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

    def stop(self):
        self.stopped += 1


@pytest.fixture
def silent():
    return Silent()


@pytest.fixture
def calls():
    """The (seed, branches) of every run_branches call made in this test."""
    fake_core.calls.clear()
    return fake_core.calls


@pytest.fixture
def text_console():
    return Console(file=io.StringIO(), width=100, color_system=None)


@pytest.fixture(scope="session")
def results_directory(tmp_path_factory):
    """The exhibits of section 5 with four seeds, on the double."""
    out = tmp_path_factory.mktemp("results")
    reproduce(Request(select(fake_core.DOUBLED), Size("seeds=4", 4)), out, 2, Silent())
    return out


@pytest.fixture
def optcp(monkeypatch, capsys, tmp_path):
    """The command in this process, on the double, in an empty folder: its status, what it prints, its messages."""
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
    """The command as a user has it: in a process of its own, with the compiled simulator."""
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
    """The directory of one run of the scenario single-failure."""
    place = tmp_path_factory.mktemp("run")
    command_in(place, "run", "single-failure", "--digest")
    return place / "results" / "single-failure" / "seed-1"
