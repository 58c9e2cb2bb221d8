"""Output of `optcp run` for a study of many combinations: quantiles over them, and the worst by name."""

import pytest

WORLD = """
title = "one flow over a link of many rates"
stop = "2 s"
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "10 Mbps"
delay = "1 ms"
queue = "20 packets"
[[flows]]
group = "web"
path = ["A", "B"]
size = "100 segments"
[[observe]]
name = "goodput"
kind = "goodput"
interval = "1 s"
[[observe]]
name = "ends"
kind = "completions"
[sweep]
"links.0.rate" = [RATES]
"""


@pytest.fixture
def world(tmp_path):
    """Return a sweep of 13 combinations, 1 to 13 Mb/s; the slower the link, the later the flow ends."""
    rates = ", ".join(f'"{rate} Mbps"' for rate in range(1, 14))
    (tmp_path / "world.toml").write_text(WORLD.replace("RATES", rates), encoding="utf-8")


def test_many_cells_are_shown_worst_first(command, world):
    lines = command("run", "world.toml").stdout.splitlines()
    assert lines[0] == "means over seeds, by quantile over 13 combinations"
    (of_completions,) = (line.split() for line in lines if line.startswith("completion_mean_s"))
    # The median of 1 to 13 Mb/s is 7, the worst 1, so its flow takes more than seven times as long.
    assert of_completions[-2:] == ["1", "Mbps"]
    median, worst = float(of_completions[2]), float(of_completions[6])
    assert worst > 5 * median
    at = lines.index("the 10 worst of 13 combinations by completion_mean_s")
    assert [line.split()[0] for line in lines[at + 2 : -1]] == [str(rate) for rate in range(1, 11)]
    assert lines[-1] == "13 runs stored in results/world"


def test_cells_whose_flows_do_not_end_are_the_worst(command, world):
    # 100 segments are 1.2 Mb: at 1 and 2 Mb/s they take longer than half a second.
    lines = command(
        "run", "world.toml", "--set", "stop=500 ms", "--set", "observe.0.interval=100 ms"
    ).stdout.splitlines()
    (of_completions,) = (line.split() for line in lines if line.startswith("completion_mean_s"))
    # The worst tenth starts with the twelfth of 13 combinations, one of these two.
    assert of_completions[4:] == [">", "0.5", "s", ">", "0.5", "s", "1", "Mbps"]
    at = lines.index("the 10 worst of 13 combinations by completion_mean_s")
    assert [line.split()[0] for line in lines[at + 2 : -1]] == [str(rate) for rate in range(1, 11)]
    assert [">" in line for line in lines[at + 2 : -1]] == [True] * 2 + [False] * 8


def test_cells_are_sorted_by_any_metric(command, world):
    lines = command("run", "world.toml", "--by", "goodput_bps", "--top", "2").stdout.splitlines()
    at = lines.index("the 2 worst of 13 combinations by goodput_bps")
    assert len(lines) == at + 5
    wrong = command("run", "world.toml", "--by", "goodput", status=2)
    assert "--by goodput: unknown metric; did you mean 'goodput_bps'?" in wrong.stderr


def test_quiet_says_where_the_results_are(command, world):
    assert command("run", "world.toml", "--quiet").stdout == "13 runs stored in results/world\n"
