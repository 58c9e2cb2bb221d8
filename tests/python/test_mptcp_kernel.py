"""Multipath TCP of Linux in recorded set-ups: the recordings, and the table of docs/details/mptcp.md."""

from pathlib import Path

import pytest

import kernel_runs
import mptcp_runs
from optcp_papers.evidence import mptcp

PAGE = Path(__file__).parents[2] / "docs" / "details" / "mptcp.md"
CASES = [(name, control) for name in mptcp.worlds() for control in mptcp.CONTROLS]
FAILED = [case for case in CASES if mptcp.worlds()[case[0]].outage]
SHORT = [case for case in CASES if mptcp.worlds()[case[0]].size <= 1_000_000]
LONG = [case for case in CASES if case not in FAILED + SHORT]
WITHIN = 0.05
"""Maximum deviation of a completion time from the kernel's range."""


def test_every_set_up_is_recorded_over_links_in_time():
    runs = mptcp.recorded()["runs"]
    assert list(runs) == list(mptcp.worlds())
    for name, control in CASES:
        done = runs[name][control]
        assert len(done) >= mptcp_runs.REPETITIONS
        for run in done:
            mean_us, latest_us = run["late_us"]
            assert mean_us <= 1e6 * kernel_runs.LATE_S
            assert latest_us <= 1e6 * kernel_runs.LATEST_S
            assert run["payload"] == mptcp.MSS_BYTES


@pytest.mark.parametrize(("name", "control"), LONG)
def test_completion_without_outage_is_in_the_kernels_range(name, control):
    kernel = [did.completion_s for did in mptcp.recorded_runs(name, control)]
    for did in mptcp.simulations(name, control):
        assert min(kernel) * (1 - WITHIN) <= did.completion_s <= max(kernel) * (1 + WITHIN)


@pytest.mark.parametrize(("name", "control"), FAILED)
def test_reinjection_at_the_first_rto_is_at_least_as_fast_as_the_kernels(name, control):
    kernel = mptcp.recorded_runs(name, control)
    for did in mptcp.simulations(name, control):
        assert did.completion_s <= max(run.completion_s for run in kernel)
        assert did.after_mb >= min(run.after_mb for run in kernel)


@pytest.mark.parametrize(("name", "control"), SHORT)
def test_short_transfers_use_both_links_more_and_complete_earlier(name, control):
    kernel = mptcp.recorded_runs(name, control)
    for did in mptcp.simulations(name, control):
        assert did.completion_s <= max(run.completion_s for run in kernel)
        assert did.share_pct < min(run.share_pct for run in kernel)


def test_page_has_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split("<!-- kernel: begin -->\n")[1].split("<!-- kernel: end -->")[0] == mptcp.table()
