"""Unfinished flows at the end of a run, in every command that prints completion times."""

import csv
import io

import pytest

INCAST = """
stop = "60 ms"
parameters = { tcp = "dctcp" }
tcp.dctcp = { profile = "linux-6", congestion = "dctcp", ecn = "rfc3168", expiry = "exact" }
tcp.cubic = { profile = "linux-6", expiry = "exact" }
nodes = [{ group = "H", count = 32 }, { names = ["sw", "R"] }]
flows = [{ group = "f", path = ["H", "sw", "R"], tcp = "$tcp", size = "1 MB", start = "1 ms" }]
observe = [{ name = "ends", kind = "completions" }]
[[links]]
chains = [["H", "sw"], ["sw", "R"]]
rate = "10 Gbps"
delay = "2 us"
queue = { kind = "step", limit = "300 kB" }
[sweep]
parameters.tcp = ["dctcp", "cubic"]
"""
"""Scenario in which 32 MB take 26 ms; with CUBIC some flows wait 200 ms for their RTO."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "incast.toml").write_text(INCAST)
    return tmp_path


def row(text, *heads):
    (line,) = [line for line in text.splitlines() if all(head in line.split() for head in heads)]
    return line.split()


@pytest.mark.usefixtures("folder")
def test_run_prints_bounds_and_warns(command):
    done = command("run", "incast.toml", "--runs", 2, "--out", "short")
    # 59 ms from the start of the flows to the end of the run.
    assert row(done.stdout, "cubic", "completion_p99_s")[5:7] == [">", "0.059"]
    assert ">" in row(done.stdout, "cubic", "completion_mean_s")
    assert ">" not in done.stdout.split("cubic")[0]
    (warning,) = [line for line in done.stderr.splitlines() if "[unfinished]" in line]
    assert "of the flows of group f had not ended at 0.06 s (parameters.tcp = cubic)" in warning
    assert 'a later `stop`, for example "0.6 s"' in warning


@pytest.mark.usefixtures("folder")
def test_comparison_has_no_difference_of_means(command):
    command("run", "incast.toml", "--runs", 2, "--out", "short")
    shown = command("compare", "short", "--at", "tcp=dctcp", "--metric", "completion_mean_s").stdout
    # Nothing is random: both seeds are one observation.
    assert row(shown, "cubic", "f")[-5:] == ["-", "-", "-", "-", "1"]
    assert "so only lower bounds are known" in shown
    text = command("compare", "short", "--at", "tcp=dctcp", "--format", "csv").stdout
    rows = {item["metric"]: item for item in csv.DictReader(io.StringIO(text))}
    mean = rows["completion_mean_s"]
    assert (mean["value"], mean["difference"], mean["p"]) == ("inf", "", "")
    assert float(mean["value_at_least"]) < float(mean["reference"])
    # Half of the flows end in both.
    assert float(rows["completion_p50_s"]["difference"]) < 0


@pytest.mark.usefixtures("folder")
def test_a_later_stop_tells_the_difference(command):
    longer = ("--set", "stop=2 s", "--set", "end_with_flows=true")
    done = command("run", "incast.toml", *longer, "--runs", 2, "--out", "long")
    assert "[unfinished]" not in done.stderr
    text = command("compare", "long", "--at", "tcp=dctcp", "--metric", "completion_mean_s", "--format", "csv").stdout
    (mean,) = csv.DictReader(io.StringIO(text))
    assert float(mean["relative_pct"]) == pytest.approx(47.3, abs=0.1)


def test_figures_and_reports_show_the_bound(command, folder):
    command("run", "incast.toml", "--runs", 2, "--out", "short")
    done = command("plot", "short", "--y", "completion_mean_s", "--x", "group", "--by", "tcp", "--out", "mean.svg")
    assert "[unfinished]" in done.stderr
    command("report", "short")
    page = (folder / "short" / "report" / "index.html").read_text()
    assert "&gt; 24.5" in page
    assert "lower bound" in page
