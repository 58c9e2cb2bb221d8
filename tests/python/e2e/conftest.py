"""The command as a user has it: in a process of its own, with the compiled simulator."""

import os
import subprocess
import sys

import pytest


def call(directory, *arguments, status=0):
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
    return lambda *arguments, status=0: call(tmp_path, *arguments, status=status)


@pytest.fixture(scope="session")
def a_run(tmp_path_factory):
    """The directory of one run of the scenario single-failure."""
    place = tmp_path_factory.mktemp("run")
    call(place, "run", "single-failure", "--digest")
    return place / "results" / "single-failure" / "seed-1"
