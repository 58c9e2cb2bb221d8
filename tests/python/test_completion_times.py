"""Completion times of flows that come and go."""

import numpy as np
import pytest

from optcp import Study, load

WEB = {"stop": "12 s", "flows.1.until": "10 s", "parameters.largest": "1 MB"}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return Study(load("web-and-elephant").set(WEB), seeds=2).run(tmp_path_factory.mktemp("web"))


def test_only_flows_that_ended_have_a_time(done):
    table = done.table("completions")
    ended = table.where(group="web")["finished"].astype(bool)
    times = done.completions["web"]
    assert times.count().values.sum() == ended.sum() > 0
    assert (times.count().values == done.metrics["completed_flows"].at(group="web").values).all()


def test_a_runs_quantiles_are_those_of_numpy(done):
    for name, q in (("p50", 50), ("p95", 95), ("p99", 99)):
        own = done.completions["web"].per_seed(lambda times, q=q: np.percentile(times, q))
        assert done.metrics[f"completion_{name}_s"].at(group="web").values == pytest.approx(own.values)
