"""Linux's TCP behind a policer: the recordings, the table of docs/details/token-buckets.md, and BBR's detection."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import kernel_runs
import policer_runs
from optcp_papers.evidence import policed

PAGE = Path(__file__).parents[2] / "docs" / "details" / "token-buckets.md"
WITHIN = 0.01
"""Maximum deviation of BBR's goodput from the kernel's range."""


def test_every_set_up_is_recorded_over_a_link_in_time():
    assert (policed.recorded()["after_s"], policed.recorded()["end_s"]) == (policed.AFTER_S, policed.END_S)
    for control, burst_kb in itertools.product(policed.CONTROLS, policed.BURSTS_KB):
        done = policed.recorded()["runs"][control][str(burst_kb)]
        assert len(done) >= policer_runs.REPETITIONS
        for run in done:
            mean_us, latest_us = run["late_us"]
            assert mean_us <= 1e6 * kernel_runs.LATE_S
            assert latest_us <= 1e6 * kernel_runs.LATEST_S


@pytest.mark.parametrize("burst_kb", policed.BURSTS_KB)
def test_goodput_of_bbr_is_in_the_kernels_range(burst_kb):
    kernel = [did.goodput_mbps for did in policed.recorded_runs("bbr", burst_kb)]
    for did in policed.simulations("bbr", burst_kb):
        assert min(kernel) * (1 - WITHIN) <= did.goodput_mbps <= max(kernel) * (1 + WITHIN)


def test_bbr_loses_nothing_while_it_uses_the_policers_rate():
    """Linux uses the rate for 48 RTTs of at least 40 ms. Without it, a probe follows every eight phases of an RTT."""
    run = policed.scenario("bbr", 50).run(seed=1)
    packets = run["packets"]
    lost_s = packets["time_ps"][packets["event"] == "dropped"] / 1e12
    gaps = np.diff(lost_s)
    assert (gaps >= 48 * 0.04).sum() >= 2


def test_page_has_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split("<!-- kernel: begin -->\n")[1].split("<!-- kernel: end -->")[0] == policed.table()
