"""Datagrams, and flows that come and go, with the compiled simulator."""

import numpy as np
import pyarrow.parquet
import pytest

from optcp import StudyResult


def test_self_similar_background_is_reported_with_its_hurst_parameter(command, tmp_path):
    command("run", "self-similar", "--set", "stop=60 s", "--out", "out")
    done = StudyResult.open(tmp_path / "out")
    estimate, error = (done.metrics[name].at(group="background").values for name in ("hurst", "hurst_error"))
    assert abs(estimate - 0.7) < 4 * error
    # P. M. Robinson 1995: of m frequencies 1 / (2 sqrt(m)); here of 512^0.65, the power of two below 600 intervals.
    assert error == pytest.approx(0.5 / np.sqrt(57))
    # 20 MB take more than a minute beside it.
    flows = [done.metrics[f"{what}_flows"].at(group="file").values for what in ("completed", "unfinished")]
    assert flows == [[0], [1]]
    # It starts at 5 s and lasts longer than the run.
    mean = done.metrics["completion_mean_s"].at(group="file")
    assert mean.values == [np.inf]
    assert mean.at_least == [55]
    ((_, (run,)),) = done
    assert sum(run.counts[name] for name in ("delivered", "dropped", "in_flight")) == run.counts["sent"]


def test_completion_times_are_shown_and_stored(command, tmp_path):
    short = ("--set", "stop=12 s", "--set", "flows.1.until=10 s", "--set", "parameters.largest=1 MB")
    done = command("run", "web-and-elephant", *short, "--runs", 2, "--out", "out")
    shown = done.stdout.split("completion times, from")[1].split("\n")
    heads = ["group", "completed_flows", "unfinished_flows", "time", "95", "%", "interval", "n"]
    assert shown[1].split() == heads
    group, flows, unfinished, what = shown[2].split()[:4]
    table = pyarrow.parquet.read_table(tmp_path / "out" / "completions")
    seed, start, end = (table.column(name).to_numpy() for name in ("seed", "start_ps", "time_ps"))
    assert (group, float(flows), float(unfinished), what) == ("web", table.num_rows / 2, 0, "completion_mean_s")
    took = (end - start) / 1e12
    mean = np.mean([took[seed == item].mean() for item in (1, 2)])
    assert float(shown[2].split()[4]) == pytest.approx(mean, rel=1e-3)
    # Mean over runs of the smallest value that 95 % do not exceed.
    assert shown[4].split()[3] == "completion_p95_s"
    p95 = np.mean([np.quantile(took[seed == item], 0.95, method="inverted_cdf") for item in (1, 2)])
    assert float(shown[4].split()[4]) == pytest.approx(p95, rel=1e-3)
    # 80 a second for 5 s.
    assert all(abs(count - 400) < 4 * 20 for count in np.bincount(seed)[1:])
    assert "goodput during the active time of a group" in done.stdout


def test_too_few_intervals_give_no_estimate(command, tmp_path):
    command("run", "self-similar", "--set", "stop=20 s", "--out", "out")
    assert "hurst" not in StudyResult.open(tmp_path / "out").metrics
