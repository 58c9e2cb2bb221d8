"""run, trace and export with the compiled simulator, and files read by other tools."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import optcp
from optcp import StudyResult

COLUMNS = {
    "goodput": {"time_ps": pa.int64(), "group": pa.string(), "bytes": pa.int64()},
    "load": {"time_ps": pa.int64(), "port": pa.string(), "bytes": pa.int64()},
    "queue": {
        "time_ps": pa.int64(),
        "port": pa.string(),
        "mean_packets": pa.float64(),
        "max_packets": pa.int64(),
    },
    "drops": {
        "time_ps": pa.int64(),
        "port": pa.string(),
        "group": pa.string(),
        "ack": pa.bool_(),
        "reason": pa.string(),
    },
    "tcp": {
        "time_ps": pa.int64(),
        "flow": pa.string(),
        "cause": pa.string(),
        "cwnd_bytes": pa.float64(),
        "ssthresh_bytes": pa.float64(),
        "flight_segments": pa.int64(),
        "phase": pa.string(),
        "timeouts": pa.int64(),
        "ecn_reductions": pa.int64(),
    },
    "packets": {
        "time_ps": pa.int64(),
        "event": pa.string(),
        "flow": pa.string(),
        "ack": pa.bool_(),
        "seq": pa.int64(),
        "port": pa.string(),
        "bytes": pa.int64(),
        "reason": pa.string(),
        "sack": pa.string(),
        "marking": pa.string(),
        "colour": pa.int64(),
        "data_seq": pa.int64(),
    },
    "scalars": {
        "metric": pa.string(),
        "of": pa.string(),
        "unit": pa.string(),
        "value": pa.float64(),
        "at_least": pa.float64(),
    },
}


def read(run, name):
    (path,) = (run / name).iterdir()
    return pyarrow.parquet.read_table(path)


def the_run(directory):
    ((_, (run,)),) = StudyResult.open(directory)
    return run


def test_a_study_has_a_folder_a_table_and_nothing_else(a_run):
    names = sorted(path.name for path in a_run.iterdir() if path.name != "plots")
    assert names == sorted([*COLUMNS, "cells", "cuts", "parts", "runs", "study.json", "switches"])


def test_switches_and_cuts_are_stored_as_they_were(a_run):
    stored = the_run(a_run)
    made = optcp.load("single-failure").run(stored.seed)
    assert made.metrics_sha256 == stored.metrics_sha256
    for name in ("switches", "cuts"):
        assert getattr(made, name)
        assert getattr(stored, name) == getattr(made, name)


@pytest.mark.parametrize("name", COLUMNS)
def test_pyarrow_reads_names_and_types(a_run, name):
    table = read(a_run, name)
    which = {"cell": pa.string(), "seed": pa.uint64()}
    assert {field.name: field.type for field in table.schema} == which | COLUMNS[name]
    assert not any(field.nullable for field in table.schema)
    if name != "scalars":
        assert table.schema.metadata[b"optcp.kind"] == name.encode()
    assert table.num_rows > 0


def test_observations_agree_with_the_counts_and_with_each_other(a_run):
    run, tcp = the_run(a_run), read(a_run, "tcp")
    packets = Counter(read(a_run, "packets").column("event").to_pylist())
    drops = read(a_run, "drops").to_pylist()
    assert Counter(row["reason"] for row in drops) == run.drops
    assert packets["dropped"] == run.counts["dropped"]
    assert packets["arrived"] + packets["acked"] == run.counts["delivered"]
    sent_segments = packets["sent"] + packets["resent"]
    assert sent_segments < run.counts["sent"] < 2 * sent_segments + 1
    phases = set(tcp.column("phase").to_pylist())
    assert phases == {"slow-start", "avoidance", "recovery", "loss"}
    assert max(tcp.column("timeouts").to_pylist()) >= 1


def test_intervals_end_correctly_and_respect_link_rate(a_run):
    load = read(a_run, "load")
    assert load.schema.metadata[b"optcp.interval_ps"] == b"50000000000"
    rows = [row for row in load.to_pylist() if row["port"] == "R2->R3"]
    times = np.array([row["time_ps"] for row in rows])
    assert np.array_equal(times, np.arange(1, 201) * 50_000_000_000)
    carried = np.array([row["bytes"] for row in rows])
    # 10 Mb/s for 50 ms; one more packet of 1500 B may end in an interval.
    assert carried.max() <= 62_500 + 1500
    down = (times > 4.0e12 + 1e9) & (times <= 7.0e12)
    assert carried[down].sum() == 0
    queue = read(a_run, "queue")
    assert max(queue.column("max_packets").to_pylist()) <= 30
    means = queue.column("mean_packets").to_pylist()
    assert all(math.isfinite(mean) and 0 <= mean <= 30 for mean in means)


def test_a_study_says_what_was_run(a_run):
    done, run = StudyResult.open(a_run), the_run(a_run)
    assert run.counts["sent"] == sum(run.counts[name] for name in ("delivered", "dropped", "in_flight"))
    assert len(run.records_sha256) == len(run.metrics_sha256) == len(run.scenario_sha256) == 64
    (path,) = (a_run / "cells").iterdir()
    cell = json.loads(path.read_text())
    assert cell["scenario"]["failures"] == [{"at_ps": 4 * 10**12, "link": "R2-R3", "repair_ps": 7 * 10**12}]
    assert (cell["cell"], cell["scenario_sha256"]) == ({}, run.scenario_sha256)
    goodput = {}
    for row in read(a_run, "goodput").to_pylist():
        goodput[row["group"]] = goodput.get(row["group"], 0) + row["bytes"] * 8 / 10
    metric = done.metrics["goodput_bps"]
    assert {group: metric.at(group=group).values[0] for group in metric.axes[-1].values} == pytest.approx(goodput)


def test_a_finished_run_is_not_made_again(a_run, command):
    before = {path: path.stat().st_mtime_ns for path in a_run.rglob("*") if path.is_file()}
    done = command("run", "single-failure", "--digest", "--out", a_run)
    assert "1 run, 1 finished before and reused" in done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_sweep_is_one_study_and_digests_do_not_depend_on_jobs(command, tmp_path):
    text = tmp_path / "sweep.toml"
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    text.write_text(source + '\n[sweep]\n"parameters.switch_delay" = ["0 ms", "10 ms", "20 ms"]\n')
    found = []
    for name, options in (
        ("a", ["--jobs", 1]),
        ("b", ["--jobs", 2]),
        ("c", ["--jobs", 2, "--no-fork"]),
        ("d", ["--engine", "reference"]),
    ):
        command("run", text, "--runs", 2, "--digest", "--out", name, *options)
        done = StudyResult.open(tmp_path / name)
        assert done.axes[0].values == ("0 ms", "10 ms", "20 ms")
        found.append([(run.seed, run.records_sha256, run.metrics_sha256) for _, runs in done for run in runs])
    assert found[0] == found[1] == found[2] == found[3]
    assert len(set(found[0])) == 6


def test_checksums_are_those_of_other_tools(a_run):
    (manifest,) = (a_run / "parts").glob("*.json")
    files = json.loads(manifest.read_text())["files"]
    assert set(COLUMNS) <= set(files)
    for table, about in files.items():
        path = a_run / table / f"{manifest.stem}.parquet"
        done = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == about["sha256"]


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="their file systems have text for names")
def test_a_scenario_whose_path_is_no_text(command, tmp_path):
    odd = tmp_path / os.fsdecode(b"odd\xff")
    odd.mkdir()
    (odd / os.fsdecode(b"w\xfe.toml")).write_text(
        'stop = "1 s"\ntopology = {file = "net.gml", rate = "1 Gbps", queue = "9 packets", delay = "1 ms"}\n'
        'flows = [{group = "f", path = ["A", "B"], tcp = "cubic"}]\n'
    )
    (odd / "net.gml").write_text('graph [ node [ id 0 label "A" ] node [ id 1 label "B" ] edge [ source 0 target 1 ] ]')
    scenario = os.fsdecode(b"odd\xff/w\xfe.toml")
    message = command("validate", scenario, status=2).stderr
    assert "odd\N{REPLACEMENT CHARACTER}/w\N{REPLACEMENT CHARACTER}.toml:" in message
    assert 'write `congestion = "cubic"`' in message
    command("run", scenario, "--set", "flows.0.tcp=rfc", "--runs", "2", "--out", "out")
    assert StudyResult.open(tmp_path / "out").seeds == (1, 2)


def test_scenarios_are_listed_with_titles(command):
    listed = command("list", "scenarios").stdout
    assert re.search(
        r"^  single-failure +One link fails, is protected, repaired and reverted to$", listed, re.MULTILINE
    )
    assert "optcp run single-failure" in command("--help").stdout


def test_titles_paths_and_values_are_not_parsed_as_markup(command, tmp_path):
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    (tmp_path / "odd.toml").write_text(re.sub(r"(?m)^title = .*", 'title = "[/x] $x_{ :smile:"', source))
    done = command("run", "odd.toml", "--out", "o[/a]:smile:")
    assert "1 run stored in o[/a]:smile:\n" in done.stdout
    command("trace", "o[/a]:smile:", "--kind", "queue", "--out", "queue.svg")
    assert "[/x] $x_{ :smile:" in (tmp_path / "queue.svg").read_text()
