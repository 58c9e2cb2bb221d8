"""Completion times and Hurst parameters of runs."""

import numpy as np
import pytest

from optcp.study import traffic
from optcp.table import Table

MS = 10**9


def completions(groups, start_ms, end_ms, finished):
    names = sorted(set(groups))
    return Table(
        {
            "time_ps": np.array(end_ms, dtype="u8") * MS,
            "start_ps": np.array(start_ms, dtype="u8") * MS,
            "group": (np.array([names.index(one) for one in groups], dtype="u4"), names),
            "finished": np.array(finished),
        }
    )


def test_only_flows_that_ended_have_a_time():
    table = completions(["web", "web", "file", "web"], [0, 100, 0, 300], [50, 250, 900, 900], [True, True, True, False])
    seconds, unfinished = traffic.completion_times(table, "web")
    assert seconds == pytest.approx([0.05, 0.15])
    assert unfinished == 1


def test_percentiles_are_those_of_the_sorted_times():
    # 0.1, 0.2, ..., 10.1 s: the k-th percentile lies on one of the 101 values.
    found = traffic.described(np.arange(1, 102) / 10, 7)
    assert found == pytest.approx(
        {"ended": 101, "unfinished": 7, "mean_s": 5.1, "p50_s": 5.1, "p95_s": 9.6, "p99_s": 10.0}
    )


def test_without_an_end_there_is_no_time():
    found = traffic.described(np.array([]), 3)
    assert found == {"ended": 0, "unfinished": 3, "mean_s": None, "p50_s": None, "p95_s": None, "p99_s": None}
