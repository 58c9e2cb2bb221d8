"""run, trace and export with the compiled simulator, and what other people's tools make of the files."""

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

COLUMNS = {
    "goodput": {"time_ps": pa.uint64(), "group": pa.string(), "bytes": pa.uint64()},
    "load": {"time_ps": pa.uint64(), "port": pa.string(), "bytes": pa.uint64()},
    "queue": {
        "time_ps": pa.uint64(),
        "port": pa.string(),
        "mean_packets": pa.float64(),
        "max_packets": pa.uint32(),
    },
    "drops": {
        "time_ps": pa.uint64(),
        "port": pa.string(),
        "group": pa.string(),
        "ack": pa.bool_(),
        "reason": pa.string(),
    },
    "tcp": {
        "time_ps": pa.uint64(),
        "flow": pa.string(),
        "cause": pa.string(),
        "cwnd_bytes": pa.float64(),
        "ssthresh_bytes": pa.float64(),
        "flight_segments": pa.uint32(),
        "phase": pa.string(),
        "timeouts": pa.uint64(),
    },
    "packets": {
        "time_ps": pa.uint64(),
        "event": pa.string(),
        "flow": pa.string(),
        "ack": pa.bool_(),
        "seq": pa.uint32(),
        "port": pa.string(),
        "bytes": pa.uint32(),
        "reason": pa.string(),
        "sack": pa.string(),
    },
    "scalars": {
        "cell": pa.string(),
        "seed": pa.uint64(),
        "scalar": pa.string(),
        "of": pa.string(),
        "unit": pa.string(),
        "value": pa.float64(),
    },
}


def read(run, name):
    return pyarrow.parquet.read_table(run / f"{name}.parquet")


def meta_of(run):
    return json.loads((run / "meta.json").read_text())


def test_a_run_has_one_file_an_observation_and_nothing_else(a_run):
    names = sorted(path.name for path in a_run.iterdir() if path.name != "plots")
    assert names == sorted(["meta.json", *(f"{name}.parquet" for name in COLUMNS)])
    assert sorted(path.name for path in a_run.parent.iterdir()) == ["seed-1"]


@pytest.mark.parametrize("name", COLUMNS)
def test_pyarrow_reads_names_and_types(a_run, name):
    table = read(a_run, name)
    assert {field.name: field.type for field in table.schema} == COLUMNS[name]
    assert not any(field.nullable for field in table.schema)
    assert table.schema.metadata[b"optcp.kind"] == name.encode()
    assert table.num_rows > 0


def test_observations_agree_with_the_counts_and_with_each_other(a_run):
    meta, tcp = meta_of(a_run), read(a_run, "tcp")
    packets = Counter(read(a_run, "packets").column("event").to_pylist())
    drops = read(a_run, "drops").to_pylist()
    assert Counter(row["reason"] for row in drops) == meta["drops"]
    assert packets["dropped"] == meta["counts"]["dropped"]
    assert packets["arrived"] + packets["acked"] == meta["counts"]["delivered"]
    sent_segments = packets["sent"] + packets["resent"]
    assert sent_segments < meta["counts"]["sent"] < 2 * sent_segments + 1
    phases = set(tcp.column("phase").to_pylist())
    assert phases == {"slow-start", "avoidance", "recovery", "loss"}
    assert max(tcp.column("timeouts").to_pylist()) >= 1


def test_intervals_end_where_they_should_and_hold_what_the_link_carries(a_run):
    load = read(a_run, "load")
    assert load.schema.metadata[b"optcp.interval_ps"] == b"50000000000"
    rows = [row for row in load.to_pylist() if row["port"] == "R2->R3"]
    times = np.array([row["time_ps"] for row in rows])
    assert np.array_equal(times, np.arange(1, 201) * 50_000_000_000)
    carried = np.array([row["bytes"] for row in rows])
    # 10 Mbit/s for 50 ms; a packet of 1500 B more may end in an interval.
    assert carried.max() <= 62_500 + 1500
    down = (times > 4.0e12 + 1e9) & (times <= 7.0e12)
    assert carried[down].sum() == 0
    queue = read(a_run, "queue")
    assert max(queue.column("max_packets").to_pylist()) <= 30
    means = queue.column("mean_packets").to_pylist()
    assert all(math.isfinite(mean) and 0 <= mean <= 30 for mean in means)


def test_meta_says_what_was_run(a_run):
    meta = meta_of(a_run)
    assert meta["counts"]["sent"] == sum(meta["counts"][name] for name in ("delivered", "dropped", "in_flight"))
    assert len(meta["records_sha256"]) == len(meta["metrics_sha256"]) == len(meta["scenario_sha256"]) == 64
    assert meta["scenario"]["failures"] == [{"at_ps": 4 * 10**12, "link": "R2-R3", "repair_ps": 7 * 10**12}]
    assert (meta["seed"], meta["kernel"], meta["cell"], meta["set"]) == (1, "fast", {}, [])
    goodput = {}
    for row in read(a_run, "goodput").to_pylist():
        goodput[row["group"]] = goodput.get(row["group"], 0) + row["bytes"] * 8 / 10
    assert meta["goodput_bps"] == pytest.approx(goodput)


def test_a_finished_run_is_not_made_again(a_run, command):
    before = (a_run / "meta.json").stat().st_mtime_ns
    done = command("run", "single-failure", "--out", a_run.parent)
    assert "1 runs, 1 finished before and reused" in done.stderr
    assert (a_run / "meta.json").stat().st_mtime_ns == before


def test_a_sweep_writes_a_directory_a_cell_and_digests_do_not_depend_on_jobs(command, tmp_path):
    text = tmp_path / "sweep.toml"
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    text.write_text(source + '\n[sweep]\n"parameters.switch_delay" = ["0 ms", "10 ms", "20 ms"]\n')
    found = []
    for name, options in (
        ("a", ["--jobs", 1]),
        ("b", ["--jobs", 2]),
        ("c", ["--jobs", 2, "--no-fork"]),
        ("d", ["--kernel", "reference"]),
    ):
        command("run", text, "--runs", 2, "--digest", "--out", name, *options)
        metas = [meta_of(path) for path in sorted((tmp_path / name).iterdir())]
        assert [meta["cell"]["parameters.switch_delay"] for meta in metas[::2]] == ["0 ms", "10 ms", "20 ms"]
        found.append([(meta["seed"], meta["records_sha256"], meta["metrics_sha256"]) for meta in metas])
    assert found[0] == found[1] == found[2] == found[3]
    assert len(set(found[0])) == 6


def test_checksums_are_those_of_other_tools(a_run):
    for name, checksum in meta_of(a_run)["files"].items():
        done = subprocess.run(["sha256sum", a_run / name], capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == checksum


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
    assert len(list(tmp_path.glob("out/seed-*"))) == 2


def test_scenarios_are_listed_with_titles(command):
    listed = command("list", "scenarios").stdout
    assert re.search(
        r"^  single-failure +One link fails, is protected, repaired and reverted to$", listed, re.MULTILINE
    )
    assert "optcp run single-failure" in command("--help").stdout


def test_titles_paths_and_values_are_no_markup(command, tmp_path):
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    (tmp_path / "odd.toml").write_text(re.sub(r"(?m)^title = .*", 'title = "[/x] $x_{ :smile:"', source))
    done = command("run", "odd.toml", "--out", "o[/a]:smile:")
    assert done.stdout.endswith("1 runs in o[/a]:smile:\n")
    command("trace", "o[/a]:smile:", "--kind", "queue", "--out", "queue.svg")
    assert "[/x] $x_{ :smile:" in (tmp_path / "queue.svg").read_text()
