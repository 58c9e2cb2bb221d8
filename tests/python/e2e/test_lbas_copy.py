"""Extensions of the LBAS paper with the compiled simulator: properties that hold for any TCP."""

import json

import pytest


def reproduced(command, tmp_path, exhibit):
    command("reproduce", exhibit, "--quick", "--out", "out")
    return json.loads((tmp_path / "out" / f"{exhibit}.json").read_text())["rows"]


def values(rows, metric, *keys):
    return {tuple(row["key"].get(key) for key in keys): row["measured"] for row in rows if row["metric"] == metric}


def test_modes_are_equal_with_one_lightpath(command, tmp_path):
    rows = reproduced(command, tmp_path, "lbas/buffer")
    gains = values(rows, "utilisation_points", "bundling_degree", "buffer_products")
    assert [gain for (degree, _), gain in gains.items() if degree == 1] == [0, 0]
    # By the paper's first claim, and by any queueing model, two lightpaths with a shared queue carry more.
    assert all(gain > 0 for (degree, _), gain in gains.items() if degree == 2)
    used = values(rows, "utilisation_pct", "anycast", "bundling_degree", "buffer_products")
    for mode in ("yes", "no"):
        assert 0 < used[mode, 2, 0.03] < used[mode, 2, 0.1] <= 100


def test_delays_are_at_least_propagation(command, tmp_path):
    """Half a round trip is 40 to 60 ms, mean 50: a datagram needs one, a SYN exchange with a segment three."""
    rows = reproduced(command, tmp_path, "lbas/mix")
    for mode in ("yes", "no"):
        assert values(rows, "udp_delay_ms", "anycast")[mode,] == pytest.approx(51, abs=2)
        assert values(rows, "completion_p50_ms", "anycast")[mode,] > 3 * 50
        assert 0 < values(rows, "udp_loss_pct", "anycast")[mode,] < 1


def test_both_modes_have_the_same_short_flows(command, tmp_path):
    reproduced(command, tmp_path, "lbas/mix")
    cells = json.loads((tmp_path / "out" / "lbas/mix.json").read_text())["provenance"]["cells"]
    one, other = ({name: value for name, value in cell.items() if name != "scenario_sha256"} for cell in cells)
    assert {name for name in one if one[name] != other[name]} == {"parameters.selection"}


def test_trends_are_those_of_the_same_runs(command, tmp_path):
    """One pair of combinations in a quick run: the trend equals the difference in `lbas/today`."""
    today = values(reproduced(command, tmp_path, "lbas/today"), "utilisation_points", "profile")
    rows = reproduced(command, tmp_path, "lbas/trends")
    trends = values(rows, "utilisation_points", "network", "profile", "trend")
    for (sender,), gain in today.items():
        assert trends["smaller copy", sender, "anycast switching"] == gain
