"""Every test in this process runs on the double of the compiled simulator; tests/python/e2e uses the real one."""

import fake_core

fake_core.install()

import io  # noqa: E402 - the double must be in place first

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402
from rich.console import Console  # noqa: E402

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
