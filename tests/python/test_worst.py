"""Worst time of a failure: costs of single runs with that failure, reasons, and messages."""

import pytest

import optcp
from optcp.errors import InputError
from optcp.study.worst import Cut, reason, search, times

S = 10**12
WORLD = """
stop = "6 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [
  { group = "long", path = ["A", "B", "C"], per_source = 2, tcp = "rfc", start = "uniform(0 s, 0.2 s)" },
  { group = "other", path = ["B", "A"], tcp = "rfc" },
]
failures = [{ link = ["A", "B"], at = "1 s" }]
"""


def delivered(scenario, seed, until):
    run = scenario.start(seed)
    run.advance(until)
    return run.flows


@pytest.mark.parametrize(("group", "flows"), [("long", [0, 1]), (None, [0, 1, 2])])
def test_cost_equals_difference_of_runs_with_and_without_the_failure(group, flows):
    scenario = optcp.Scenario.parse(WORLD)
    cuts = search(scenario, "B-C", group, 3, range(2 * S, 3 * S + 1, S // 2), 2 * S)
    assert [cut.at_s for cut in cuts] == [2, 2.5, 3]
    for cut in cuts:
        calm = scenario.set("failures", [])
        failing = scenario.set("failures", [{"link": ["B", "C"], "at": f"{cut.at_s} s"}])
        without, ended = (delivered(one, 3, cut.at_s + 2) for one in (calm, failing))
        before = delivered(calm, 3, cut.at_s)
        lost = sum(int(without["delivered_bytes"][flow]) - int(ended["delivered_bytes"][flow]) for flow in flows)
        assert cut.lost_mb == pytest.approx(lost / 1e6)
        assert cut.rtos == sum(int(ended["rtos"][flow] - before["rtos"][flow]) for flow in flows)
        assert (cut.stalled, cut.backed_off) == (2, 2), "only the long flows cross the link, and have no other path"
        assert cut.dropped > 0


def test_reason_is_the_quantity_with_most_deviations_above_its_mean():
    cuts = [Cut(float(at), 1.0, 0, at % 2, 2, 40 + at) for at in range(9)] + [Cut(9.0, 3.0, 2, 1, 2, 45)]
    assert reason(cuts, cuts[-1]) == "2 stalled flows (mean 0.2)"
    assert reason(cuts, cuts[0]) == "no counted quantity far above its mean"


def test_windows_end_with_the_run_at_the_latest():
    assert list(times(10 * S, S, None, 3 * S, 2 * S)) == [S, 4 * S, 7 * S]
    assert list(times(10 * S, 8 * S, 8 * S, S, 2 * S)) == [8 * S]
    for start, end in ((9 * S, None), (S, 9 * S), (3 * S, 2 * S)):
        with pytest.raises(InputError, match="expected --from <= --to <= 8 s"):
            times(10 * S, start, end, S, 2 * S)
    with pytest.raises(InputError, match="--every: expected at most 100000 times"):
        times(10 * S, S, None, 0, 2 * S)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["world.toml", "A-C"], "there is no link 'A-C'; did you mean"),
        (["world.toml", "A-B", "--group", "log"], "there is no group 'log' of TCP flows; did you mean 'long'?"),
        (["world.toml", "A-B", "--window", "6 s"], "expected --from <= --to <= 0 s"),
        (["world.toml", "A-B", "--every", "often"], "'often' is not a time"),
        (["udp.toml", "A-B"], "the scenario has no TCP flow"),
    ],
)
def test_wrong_arguments_are_answered_with_a_message(optcp, tmp_path, arguments, message):
    (tmp_path / "world.toml").write_text(WORLD)
    traffic = 'traffic = [{ group = "u", path = ["A", "B"], process = "poisson", rate = "1 Mbps", size = "500 B" }]'
    (tmp_path / "udp.toml").write_text(f"{WORLD.split('flows', maxsplit=1)[0]}{traffic}")
    status, out, err = optcp("worst", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_command_prints_the_worst_times_first(optcp, tmp_path):
    (tmp_path / "world.toml").write_text(WORLD)
    status, out, _ = optcp("worst", "world.toml", "B-C", "--every", "0.5 s", "--window", "2 s", "--top", "3")
    assert status == 0
    head, *rows, mean, correlation, worst = out.splitlines()
    assert head.split("  ")[0].strip() == "time (s)"
    costs = [float(row.split()[1]) for row in rows]
    assert costs == sorted(costs, reverse=True)
    assert len(costs) == 3
    assert mean.startswith("mean of 7 times: ")
    assert correlation.startswith("correlation of successive times: ")
    assert worst.startswith(f"worst time: {rows[0].split()[0]} s, with ")
