"""Completion times without an observation, and the slowest flows of a run: times by hand."""

import pytest

from optcp import InputError, Scenario, Study
from optcp.study.asked import check_observed

FLOWS = 12
FAILED = 5
"""Flow whose link fails before it starts."""
OBSERVED = '[[observe]]\nname = "ends"\nkind = "completions"\n'
TRACED = '[[observe]]\nname = "windows"\nkind = "tcp"\n'


def text(more="", *, sized=True):
    """Twelve links of 10 Mb/s with delays of 1 to 12 ms, each with a flow of one segment of 1500 bytes."""
    lines = ['title = "one segment per link"', 'stop = "900 ms"', "[tcp.all]", 'mss = "1460 B"', 'header = "40 B"']
    for at in range(1, FLOWS + 1):
        lines += [
            "[[links]]",
            f'chain = ["A{at}", "B{at}"]',
            'rate = "10 Mbps"',
            f'delay = "{at} ms"',
            'queue = "10 packets"',
        ]
        size = 'size = "1 segments"' if sized else ""
        lines += ["[[flows]]", f'group = "f{at}"', f'path = ["A{at}", "B{at}"]', 'tcp = "all"', size]
    lines += ["[[failures]]", f'link = "A{FAILED}-B{FAILED}"', 'at = "0 s"']
    nodes = ", ".join(f'"{end}{at}"' for at in range(1, FLOWS + 1) for end in "AB")
    return "\n".join([*lines[:2], "[[nodes]]", f"names = [{nodes}]", *lines[2:], more]) + "\n"


@pytest.fixture
def run():
    return Scenario.parse(text()).run(seed=3)


def test_slowest_flows_are_unfinished_ones_then_the_longest(run):
    # The transmission takes 1500 * 8 / 10^7 s = 1.2 ms. The failed flow is never delivered.
    slowest = run.slowest
    assert slowest["flow"][0] == f"f{FAILED}/A{FAILED}/0"
    assert not slowest["finished"][0]
    assert not slowest["aborted"].any()
    assert slowest["time_ps"][0] == 9 * 10**11
    delays_ms = [at for at in range(FLOWS, 0, -1) if at != FAILED][:9]
    assert slowest["flow"].tolist()[1:] == [f"f{at}/A{at}/0" for at in delays_ms]
    assert (slowest["time_ps"] - slowest["start_ps"]).tolist()[1:] == [at * 10**9 + 12 * 10**8 for at in delays_ms]
    assert set(slowest["bytes"].tolist()) == {1460}
    assert slowest["from"].tolist()[1:] == [f"A{at}" for at in delays_ms]
    assert slowest["to"].tolist()[1:] == [f"B{at}" for at in delays_ms]


def test_rtos_of_a_failed_link_double(run):
    # RFC 6298: the first RTO is 1 s, after the end of the run.
    assert run.slowest["rtos"].tolist() == [0] * 10
    longer = Scenario.parse(text()).set("stop", "8 s").run(seed=3)
    # RTOs after 1, 3 and 7 s, each with a retransmission.
    assert longer.slowest["rtos"].tolist() == [3] + [0] * 9
    assert longer.slowest["retransmissions"].tolist() == [3] + [0] * 9


def test_metrics_are_those_of_the_observation_and_digests_do_not_change(tmp_path):
    bare, observed = (
        Study(Scenario.parse(text(more)), seeds=2).run(tmp_path / str(at)) for at, more in enumerate(["", OBSERVED])
    )
    for name in ("completion_mean_s", "completion_p99_s", "completed_flows", "unfinished_flows"):
        assert (bare.metrics[name].values == observed.metrics[name].values).all()
    assert bare.observations == ()
    world = Scenario.parse(text())
    assert world.resolved["observe"] == []
    check_observed(bare.grid, "completion_mean_s", "--by")


def test_command_prints_completion_times_and_the_slowest_flows(command, tmp_path):
    (tmp_path / "flows.toml").write_text(text(TRACED), encoding="utf-8")
    lines = command("run", "flows.toml").stdout.splitlines()
    assert "completion times, from the start to the last in-order byte" in lines
    at = lines.index("the 10 slowest flows of seed 1")
    first, second = (" ".join(line.split()) for line in lines[at + 2 : at + 4])
    assert first == "f5/A5/0 A5 B5 1.46 kB 0 s > 0.9 s 0 0 unfinished"
    assert second == "f12/A12/0 A12 B12 1.46 kB 0 s 0.0132 s 0 0 finished"
    assert len([line for line in lines if line.rstrip().endswith("finished")]) == 10
    named, slowest = (
        command("trace", "results/flows", "--flow", flow, "--out", f"{at}.svg").stdout
        for at, flow in enumerate(("f5/A5/0", "slowest"))
    )
    assert (named, slowest) == ("0.svg\n", "1.svg\n")
    assert (tmp_path / "0.svg").read_text() == (tmp_path / "1.svg").read_text()


def test_few_flows_have_no_table(command, tmp_path):
    (tmp_path / "flows.toml").write_text(text(), encoding="utf-8")
    listed = command("run", "flows.toml", "--set", "flows.0.size=greedy", "--set", "flows.1.size=greedy")
    assert "slowest flows" in listed.stdout
    fewer = [part for at in range(3) for part in ("--set", f"flows.{at}.size=greedy")]
    assert "slowest flows" not in command("run", "flows.toml", *fewer, "--out", "fewer").stdout


def test_slowest_needs_a_flow_of_finite_size():
    run = Scenario.parse(text(TRACED, sized=False)).run(seed=1)
    assert len(run.slowest) == 0
    with pytest.raises(InputError, match="--flow slowest: no flow of this run has a finite size"):
        run.plot("tcp", flow="slowest")
    with pytest.raises(InputError, match="did you mean 'slowest'"):
        run.plot("tcp", flow="slowst")


def test_group_called_slowest_is_a_group():
    world = Scenario.parse(text(TRACED).replace('"f3"', '"slowest"'))
    (panel,) = world.run(seed=1).plot("tcp", flow="slowest")
    assert panel.get_title("left") == "slowest/A3/0"
