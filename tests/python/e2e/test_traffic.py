"""Datagrams, and flows that come and go, with the compiled simulator."""

import json

import numpy as np
import pyarrow.parquet
import pytest

TIMES = ("time_ps", "start_ps")


def test_self_similar_background_is_reported_with_its_hurst_parameter(command, tmp_path):
    command("run", "self-similar", "--set", "stop=60 s", "--out", "out")
    meta = json.loads((tmp_path / "out" / "seed-1" / "meta.json").read_text(encoding="utf-8"))
    found = meta["hurst"]["background"]
    assert found["local_whittle"] == pytest.approx(0.7, abs=4 * found["standard_error"])
    # 20 MB take more than a minute beside it.
    assert meta["completions"]["file"] == {
        "ended": 0,
        "unfinished": 1,
        "mean_s": None,
        "p50_s": None,
        "p95_s": None,
        "p99_s": None,
    }
    assert sum(meta["counts"][name] for name in ("delivered", "dropped", "in_flight")) == meta["counts"]["sent"]


def test_completion_times_are_shown_and_stored(command, tmp_path):
    short = ("--set", "stop=12 s", "--set", "flows.1.until=10 s", "--set", "parameters.largest=1 MB")
    done = command("run", "web-and-elephant", *short, "--runs", 2, "--out", "out")
    shown = done.stdout.split("completion times of flows, mean and percentiles")[1].split("\n")
    assert shown[1].split() == ["group", "flows", "unfinished", "mean", "50", "%", "95", "%", "99", "%"]
    runs = [tmp_path / "out" / f"seed-{seed}" for seed in (1, 2)]
    tables = [pyarrow.parquet.read_table(run / "completions.parquet") for run in runs]
    group, flows, unfinished = shown[2].split()[:3]
    assert (group, int(flows), int(unfinished)) == ("web", sum(table.num_rows for table in tables), 0)
    # 80 a second for 5 s.
    assert all(abs(table.num_rows - 400) < 4 * 20 for table in tables)
    took = [(end - start) / 1e12 for end, start in zip(*(tables[0][name].to_pylist() for name in TIMES), strict=True)]
    meta = json.loads((runs[0] / "meta.json").read_text(encoding="utf-8"))
    assert meta["completions"]["web"]["p95_s"] == pytest.approx(np.percentile(took, 95))


def test_too_few_intervals_give_no_estimate(command, tmp_path):
    command("run", "self-similar", "--set", "stop=20 s", "--out", "out")
    assert json.loads((tmp_path / "out" / "seed-1" / "meta.json").read_text(encoding="utf-8"))["hurst"] == {}
