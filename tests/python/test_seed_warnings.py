"""Warnings about seeds after the runs: more seeds are advised only if they change something."""

from pathlib import Path

import pytest

LINK = """title = "One link"
stop = "2 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "g", path = ["A", "B"], tcp = "linux-6", start = "$start" }]
parameters = { start = "0 s" }
observe = [{ name = "goodput", kind = "goodput", interval = "100 ms" }]
"""
RANDOM = "uniform(0 s, 0.5 s)"


def names(text):
    return [name for name in ("few-seeds", "identical-runs") if f"[{name}]" in text]


@pytest.mark.parametrize(
    ("starts", "runs", "expected"),
    [
        (["0 s"], 3, ["identical-runs"]),
        ([RANDOM], 3, ["few-seeds"]),
        (["0 s", RANDOM], 3, ["few-seeds", "identical-runs"]),
        ([RANDOM], 6, []),
        (["0 s"], 1, []),
    ],
)
def test_more_seeds_are_advised_only_if_runs_vary(optcp, starts, runs, expected):
    sweep = ", ".join(f'"{one}"' for one in starts)
    Path("link.toml").write_text(LINK + f"sweep = {{ parameters.start = [{sweep}] }}\n")
    status, _, err = optcp("run", "link.toml", "--runs", str(runs), "--out", "out")
    assert status == 0
    assert names(err) == expected
    if len(starts) > 1:
        # The comparison has the same runs, and therefore the same advice.
        assert names(optcp("compare", "out", "--at", "start=0 s")[2]) == expected


def test_equal_runs_do_not_suggest_more_seeds(optcp):
    Path("link.toml").write_text(LINK)
    err = optcp("run", "link.toml", "--runs", "3", "--out", "out")[2]
    assert "more seeds change nothing; add a random quantity" in err
    assert "--runs" not in err


def test_number_of_seeds_is_judged_before_a_run_and_can_be_silenced(optcp):
    Path("link.toml").write_text(LINK.replace('"$start"', f'"{RANDOM}"'))
    assert names(optcp("run", "link.toml", "--runs", "3", "--dry-run")[2]) == ["few-seeds"]
    Path("quiet.toml").write_text('silence = ["few-seeds"]\n' + Path("link.toml").read_text())
    assert names(optcp("run", "quiet.toml", "--runs", "3", "--dry-run")[2]) == []
    assert names(optcp("run", "quiet.toml", "--runs", "3")[2]) == []
