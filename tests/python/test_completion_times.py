"""Completion times of flows that start and end during a run."""

import numpy as np
import pytest

from optcp import Study, load

WEB = {"stop": "9 s", "flows.1.until": "10 s", "parameters.largest": "1 MB"}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    return Study(load("web-and-elephant").set(WEB), seeds=2).run(tmp_path_factory.mktemp("web"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return Study(load("web-and-elephant").set(WEB | {"stop": "60 s"}), seeds=2).run(tmp_path_factory.mktemp("whole"))


def test_unfinished_flows_are_infinite(done):
    table = done.table("completions").where(group="web")
    ended = table["finished"].astype(bool)
    times = done.completions["web"]
    assert times.count().values.sum() == ended.size > ended.sum() > 0
    counts = times.per_seed(lambda item: np.isfinite(item).sum()).values
    assert (counts == done.metrics["completed_flows"].at(group="web").values).all()
    lasted = np.concatenate(times.at_least)
    assert sorted(lasted) == pytest.approx(sorted((table["time_ps"].astype(float) - table["start_ps"]) / 1e12))


def test_quantiles_without_unfinished_flows_match_numpy(whole):
    for name, q in (("p50", 50), ("p95", 95), ("p99", 99)):
        own = whole.completions["web"].per_seed(lambda times, q=q: np.percentile(times, q, method="inverted_cdf"))
        assert whole.metrics[f"completion_{name}_s"].at(group="web").values == pytest.approx(own.values)
